/// Prints the entries of any report.
enum ReportTree {
  /// Lines deeper than this are not indented further, but numbered: the indentation of
  /// a long chain would grow with the square of its length.
  private static let deepestIndentation = 24

  /// A headline, and all entries with their paths.
  ///
  /// - Complexity: O(*n*) in the number of entries.
  static func list<Outcome>(_ headline: String, _ entries: [ReportEntry<Outcome>]) -> String {
    ([headline] + entries.map { "  \($0.description)" }).joined(separator: "\n")
  }

  /// A headline, and all entries, each indented below its parent, which must come
  /// before.
  ///
  /// An entry whose parent is not the last one above it in the list stands at the
  /// margin, with its path.
  ///
  /// - Complexity: O(*n*) in the number of entries, for a tree.
  static func text<Outcome>(_ headline: String, _ entries: [ReportEntry<Outcome>]) -> String {
    var above: [RestorationPath] = []
    let tree = entries.map { entry in
      guard entry.path.count > 0 else { return entry.description }
      let parent = entry.path.parent ?? RestorationPath()
      while let last = above.last, last.count >= entry.path.count || last != parent {
        above.removeLast()
      }
      let isBelow = above.last == parent
      let name = isBelow ? RestorationPath([entry.path.identifier ?? ""]) : entry.path
      let depth = above.count
      above.append(entry.path)
      let margin = String(repeating: "  ", count: min(depth, deepestIndentation))
      let level = depth > deepestIndentation ? "[\(depth)] " : ""
      return entry.description(as: "\(level)\(name.phrase) (\(entry.className))", margin: margin)
    }
    return ([headline] + tree).joined(separator: "\n")
  }
}
