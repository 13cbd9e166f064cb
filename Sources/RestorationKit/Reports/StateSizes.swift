/// How large the records of a state are, by element.
///
/// The sizes do not count names of keys, the structure of the tree, and the
/// bytes that sealing adds.
public struct StateSizes: Hashable, Codable, Sendable {
  /// The size of one element.
  public struct Element: Hashable, Codable, Sendable {
    /// The kind of the element; the application comes first.
    public let kind: ElementKind

    /// Where the element is; empty for the application.
    public let path: RestorationPath

    /// The name of the element's class.
    public let className: String

    /// The size of the element's record in bytes.
    ///
    /// The application's size covers the values that it writes, and the values that are
    /// written for a scene.
    public let ownByteCount: Int

    /// The size in bytes with all below the element; for the application, of the whole state.
    public let byteCount: Int
  }

  /// The application, then each element followed by the elements below it, the largest first.
  ///
  /// Empty if nothing was saved.
  public let elements: [Element]

  init(_ elements: [Element] = []) {
    self.elements = elements
  }

  /// The size of the whole state in bytes.
  public var byteCount: Int { elements.first?.byteCount ?? 0 }

  /// All elements; those that are largest with everything below them come first.
  ///
  /// - Complexity: O(*n* log *n*) in their number.
  public var largest: [Element] {
    // Elements of equal size stay in their order.
    elements.enumerated()
      .sorted { ($1.element.byteCount, $0.offset) < ($0.element.byteCount, $1.offset) }
      .map(\.element)
  }
}

extension StateSizes {
  /// A line for each element, the largest first: its bytes with all below it, its own
  /// bytes, and its path.
  public var table: String {
    lines(largest) { "\($0.path.count == 0 ? "" : "\($0.path.phrase) ")(\($0.className))" }
  }

  /// A line for each element, indented below the line of its parent.
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
