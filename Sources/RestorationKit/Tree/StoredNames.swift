/// The names of all elements of a stored tree, by their places.
///
/// The paths of a tree refer to it and say of which element they are. So a path
/// takes no memory, and whoever keeps one keeps the names of the tree (benchmark:
/// restore nodes).
final class StoredNames: Sendable {
  private let names: [SiblingCheck.Name]
  private let depths: [Int32]

  /// - Parameter names: Each after the one above it.
  init(_ names: [SiblingCheck.Name]) {
    self.names = names
    var depths: [Int32] = []
    for name in names { depths.append((name.parent.map { depths[$0] } ?? 0) + 1) }
    self.depths = depths
  }

  subscript(place: Int) -> SiblingCheck.Name { names[place] }

  /// How many names the path of an element has.
  func depth(of place: Int) -> Int { Int(depths[place]) }
}
