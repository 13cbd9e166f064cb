/// The kind and the path that tell an element of a state apart from all others.
struct ElementID: Hashable, Sendable {
  let kind: ElementKind
  /// Empty for the application.
  let path: RestorationPath

  static let application = ElementID(kind: .application, path: RestorationPath())
}
