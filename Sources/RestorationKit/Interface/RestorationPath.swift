/// The restoration identifiers from a root to a node.
///
/// Printed with `/` between them; a `/` or `\` inside an identifier is printed
/// with a `\` before it. A node without identifier shows as `∅`.
public struct RestorationPath: Hashable, Sendable {
  fileprivate var last: PathComponent?

  /// The number of identifiers.
  public var count: Int { last?.depth ?? 0 }

  /// The path of nothing, above all roots.
  public init() {}

  /// Creates a path from identifiers, the root's first.
  ///
  /// - Parameter components: The identifiers.
  public init(_ components: [String]) {
    self = components.reduce(RestorationPath()) { $0.appending($1) }
  }

  private init(last: PathComponent?) { self.last = last }

  /// The path of a node below this one.
  ///
  /// - Parameters:
  ///   - identifier: The node's own identifier.
  ///   - siblingIndex: How many elder siblings have the same identifier.
  /// - Returns: The longer path.
  public func appending(_ identifier: String, siblingIndex: Int = 0) -> RestorationPath {
    RestorationPath(last: PathComponent(identifier, siblingIndex, below: self))
  }

  /// The node's own identifier; nil for the empty path.
  public var identifier: String? { last?.identifier }

  /// How many elder siblings have the same identifier.
  ///
  /// More than 0 only in a ``RestorableStack`` and a ``RestorableSplit``, which tell
  /// equal children apart. The index is a part of the path, but not of its text.
  public var siblingIndex: Int { last?.siblingIndex ?? 0 }

  /// The path without its last identifier; nil for the empty path.
  public var parent: RestorationPath? { last?.above }

  /// The identifiers, the root's first.
  ///
  /// - Complexity: O(*n*) in their number.
  public var components: [String] { lowest().map(\.identifier) }

  /// The last components, the highest first; all without a count.
  private func lowest(_ count: Int = .max) -> [PathComponent] {
    guard let last else { return [] }
    return sequence(first: last, next: \.above.last).prefix(count).reversed()
  }

  /// Compares the identifiers and sibling indices.
  ///
  /// - Complexity: O(*n*) in their number.
  public static func == (left: RestorationPath, right: RestorationPath) -> Bool {
    left.lowest().elementsEqual(right.lowest()) {
      $0.identifier == $1.identifier && $0.siblingIndex == $1.siblingIndex
    }
  }

  /// Hashes the identifiers.
  ///
  /// - Complexity: O(*n*) in their number.
  public func hash(into hasher: inout Hasher) { hasher.combine(components) }
}

extension RestorationPath: CustomStringConvertible {
  /// The identifiers with `/` between them.
  public var description: String { text(ofLast: count) }

  private func text(ofLast count: Int) -> String {
    lowest(count).map { component in
      component.identifier.isEmpty
        ? "∅"
        : component.identifier.map { $0 == "/" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined()
    }.joined(separator: "/")
  }

  /// The path in a line of a report: the last identifiers of a long path, after the
  /// number of identifiers before them.
  ///
  /// Without the cut the lines of a long chain would need a square of space.
  ///
  /// - Complexity: O(1) in the number of identifiers.
  var phrase: String {
    let before = count - Self.longestPhrase
    guard before > 0 else { return description }
    return "…(\(before))/" + text(ofLast: Self.longestPhrase)
  }

  private static let longestPhrase = 24
}

/// One identifier and a link to the identifiers above.
///
/// Paths share their beginnings, so a tree's paths take linear memory. Sendable
/// although `above` is a variable: it is written only in `deinit`, in a component that
/// nobody else refers to any more.
private final class PathComponent: @unchecked Sendable {
  let identifier: String
  let siblingIndex: Int
  let depth: Int
  private(set) var above: RestorationPath

  init(_ identifier: String, _ siblingIndex: Int, below above: RestorationPath) {
    (self.identifier, self.siblingIndex, self.above) = (identifier, siblingIndex, above)
    depth = above.count + 1
  }

  /// Releases a long chain one by one, since recursive releases would overflow the stack.
  deinit {
    var next = above.last.take()
    while isKnownUniquelyReferenced(&next) { next = next?.above.last.take() }
  }
}
