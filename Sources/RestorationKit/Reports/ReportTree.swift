/// Prints the entries of a report as a tree.
enum ReportTree {
  struct Line {
    let path: RestorationPath
    let text: String
    let details: [String]
  }

  /// Deeper lines are not indented further, but numbered: a long chain would
  /// need a square of space.
  private static let deepestIndentation = 24

  /// Joins a headline, lines, of which parents come before what is below them, and
  /// what belongs to none of them.
  ///
  /// A line whose parent is not the one above it in the tree stands at the
  /// margin, with its whole path.
  ///
  /// - Complexity: O(*n*) in the number of lines, for a tree.
  static func text(_ headline: String, _ lines: [Line], _ others: [String] = []) -> String {
    var above: [RestorationPath] = []
    let tree = lines.flatMap { line in
      let parent = line.path.parent ?? RestorationPath()
      while let last = above.last, last.count >= line.path.count || last != parent {
        above.removeLast()
      }
      let isBelow = above.last == parent
      let name = isBelow ? RestorationPath([line.path.identifier ?? ""]) : line.path
      let depth = above.count
      above.append(line.path)
      let margin = String(repeating: "  ", count: min(depth, deepestIndentation))
      let level = depth > deepestIndentation ? "[\(depth)] " : ""
      return ["\(margin)\(level)\(name) \(line.text)"]
        + line.details.map { "\(margin)    \($0)" }
    }
    return ([headline] + tree + others).joined(separator: "\n")
  }
}
