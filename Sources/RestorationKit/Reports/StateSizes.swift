/// How large the records of a state are, by element.
///
/// Names of keys, the structure of the tree, and what sealing adds are not counted.
public struct StateSizes: Hashable, Codable, Sendable {
  /// The size of one element.
  public struct Element: Hashable, Codable, Sendable {
    /// The kind of the element; the application comes first.
    public let kind: ElementKind

    /// Where the element is; empty for the application.
    public let path: RestorationPath

    /// The name of its class.
    public let className: String

    /// The size of its record in bytes.
    ///
    /// For the application it is the size of the values that it writes, and of those that
    /// are written for a scene.
    public let ownByteCount: Int

    /// The same with all below it; for the application, the size of the whole state.
    public let byteCount: Int
  }

  /// The application, then each element followed by what is below it, the largest first.
  ///
  /// Empty if nothing was saved.
  public let elements: [Element]

  init(_ elements: [Element] = []) {
    self.elements = elements
  }

  /// The size of the whole state in bytes.
  public var byteCount: Int { elements.first?.byteCount ?? 0 }

  /// All elements, the largest with all below it first.
  ///
  /// - Complexity: O(*n* log *n*) in their number.
  public var largest: [Element] {
    // Equal ones stay in their order.
    elements.enumerated()
      .sorted { ($1.element.byteCount, $0.offset) < ($0.element.byteCount, $1.offset) }
      .map(\.element)
  }
}

extension StateSizes {
  /// A line for each element, the largest first: its bytes with all below it, its own,
  /// and its path.
  public var table: String {
    lines(largest) { "\($0.path.count == 0 ? "" : "\($0.path.phrase) ")(\($0.className))" }
  }

  /// The same, each element indented below the one above it.
  public var tree: String {
    lines(elements) { element in
      let margin = min(max(0, element.path.count - 1), Self.deepestIndentation)
      return String(repeating: "  ", count: margin)
        + "\(element.path.identifier.map { "\($0) " } ?? "")(\(element.className))"
    }
  }

  private static let deepestIndentation = 24

  private func lines(_ elements: [Element], _ name: (Element) -> String) -> String {
    let width = max("\(byteCount)".count, "bytes".count)
    func column(_ text: String) -> String {
      String(repeating: " ", count: max(0, width - text.count)) + text
    }
    return
      (["\(column("bytes"))  \(column("own"))"]
      + elements.map {
        "\(column("\($0.byteCount)"))  \(column("\($0.ownByteCount)"))  \(name($0))"
      })
      .joined(separator: "\n")
  }
}

extension StateSizes: CustomStringConvertible {
  /// The tree.
  public var description: String { tree }
}

extension StateSizes.Element {
  /// A few words for a list.
  var phrase: String { "\(path.phrase) \(byteCount)" }
}
