/// The names of all elements of a stored tree, by their places.
///
/// The paths of a tree refer to this table and name their element. So a path takes no
/// memory, and a caller who keeps a path keeps the names of the whole tree (benchmark:
/// restore nodes).
package final class StoredNames: Sendable {
  private let names: [SiblingCheck.Name]
  private let depths: [Int32]

  /// - Parameter names: The names, each after that of its parent.
  init(_ names: [SiblingCheck.Name]) {
    self.names = names
    var depths: [Int32] = []
    depths.reserveCapacity(names.count)
    for name in names { depths.append((name.parent.map { depths[$0] } ?? 0) + 1) }
    self.depths = depths
  }

  subscript(place: Int) -> SiblingCheck.Name { names[place] }

  /// How many names the path of an element has.
  func depth(of place: Int) -> Int { Int(depths[place]) }
}
