/// The restoration identifiers from a root to a node.
///
/// Printed with `/` between them; a `/` or `\` inside an identifier is printed
/// with a `\` before it. A node without identifier shows as `∅`.
public struct RestorationPath: Hashable, Sendable {
  /// Paths share their beginnings, so a tree's paths take linear memory.
  private let last: Component?

  /// The number of identifiers.
  public var count: Int { last?.depth ?? 0 }

  /// The path of nothing, above all roots.
  public init() {
    last = nil
  }

  /// Creates a path from identifiers, the root's first.
  ///
  /// - Parameter components: The identifiers.
  public init(_ components: [String]) {
    self = components.reduce(RestorationPath()) { $0.appending($1) }
  }

  private init(_ last: Component?) {
    self.last = last
  }

  /// The path of a node below this one.
  ///
  /// - Parameters:
  ///   - identifier: The node's own identifier.
  ///   - siblingIndex: How many elder siblings have the same identifier.
  /// - Returns: The longer path.
  public func appending(_ identifier: String, siblingIndex: Int = 0) -> RestorationPath {
    RestorationPath(Component(identifier, siblingIndex, below: last))
  }

  /// The node's own identifier; nil for the empty path.
  public var identifier: String? { last?.identifier }

  /// How many elder siblings have the same identifier.
  ///
  /// More than 0 only in a ``RestorableStack`` and a ``RestorableSplit``, which
  /// tell equal children apart. It is a part of the path, but not of its text.
  public var siblingIndex: Int { last?.siblingIndex ?? 0 }

  /// The path without its last identifier; nil for the empty path.
  public var parent: RestorationPath? {
    last.map { RestorationPath($0.parent) }
  }

  /// The identifiers, the root's first.
  ///
  /// - Complexity: O(*n*) in their number.
  public var components: [String] { fromRoot(\.identifier) }

  var siblingIndices: [Int] { fromRoot(\.siblingIndex) }

  private func fromRoot<Value>(_ value: (Component) -> Value) -> [Value] {
    var values: [Value] = []
    var next = last
    while let component = next {
      values.append(value(component))
      next = component.parent
    }
    return values.reversed()
  }

  /// Compares the identifiers and sibling indices.
  ///
  /// - Complexity: O(*n*) in their number, less where paths share a beginning.
  public static func == (left: RestorationPath, right: RestorationPath) -> Bool {
    guard left.count == right.count else { return false }
    var pair = (left.last, right.last)
    while let first = pair.0, let second = pair.1, first !== second {
      guard first.identifier == second.identifier, first.siblingIndex == second.siblingIndex
      else { return false }
      pair = (first.parent, second.parent)
    }
    return true
  }

  /// Hashes the identifiers.
  ///
  /// - Complexity: O(*n*) in their number.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(components)
  }
}

extension RestorationPath: CustomStringConvertible {
  /// The identifiers with `/` between them.
  public var description: String {
    components.map { identifier in
      identifier.isEmpty
        ? "∅"
        : identifier.reduce(into: "") { text, character in
          if character == "/" || character == "\\" { text += "\\" }
          text.append(character)
        }
    }.joined(separator: "/")
  }
}

/// One identifier and those above it.
///
/// Sendable although `parent` is a variable: it is written only in `deinit`,
/// in a component that nobody else refers to any more.
private final class Component: @unchecked Sendable {
  let identifier: String
  let siblingIndex: Int
  let depth: Int
  private(set) var parent: Component?

  init(_ identifier: String, _ siblingIndex: Int, below parent: Component?) {
    self.identifier = identifier
    self.siblingIndex = siblingIndex
    self.parent = parent
    depth = (parent?.depth ?? 0) + 1
  }

  /// Releases a long chain one by one, which would overflow the stack otherwise.
  deinit {
    var next = parent
    parent = nil
    while isKnownUniquelyReferenced(&next) {
      let above = next?.parent
      next?.parent = nil
      next = above
    }
  }
}
