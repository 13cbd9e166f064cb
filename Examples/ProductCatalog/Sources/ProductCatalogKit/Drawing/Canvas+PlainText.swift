extension Canvas {
  /// The characters without their styles, and without the spaces at the end of each row.
  package var plainText: String {
    (0..<size.rows).map { plainText(row: $0) }.joined(separator: "\n")
  }

  private func plainText(row: Int) -> String {
    let text = String(self.row(row).compactMap(\.character))
    guard let last = text.lastIndex(where: { $0 != " " }) else { return "" }
    return String(text[...last])
  }
}
