/// The name that tells an element apart from all others below the same one.
struct SiblingName: Hashable, Sendable {
  var kind = ElementKind.node
  var identifier = ""
  /// The number of the elements of this kind and identifier before it.
  var index = 0
}
