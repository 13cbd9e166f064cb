/// How a cell looks.
package struct Style: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  package static let bold = Style(rawValue: 1 << 0)
  package static let dim = Style(rawValue: 1 << 1)
  package static let underline = Style(rawValue: 1 << 2)
  package static let reverse = Style(rawValue: 1 << 3)
  package static let accent = Style(rawValue: 1 << 4)
  package static let warning = Style(rawValue: 1 << 5)
}

/// A piece of a line in one style.
struct Span: Hashable, Sendable {
  var text: String
  var style: Style = []
}

typealias StyledLine = [Span]
