import Foundation

/// Colours for people.
struct Style {
  let isOn: Bool

  static var isWanted: Bool {
    let environment = ProcessInfo.processInfo.environment
    return (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
  }

  func good(_ text: String) -> String { painted(text, "32") }
  func bad(_ text: String) -> String { painted(text, "31") }
  func warning(_ text: String) -> String { painted(text, "33") }
  func strong(_ text: String) -> String { painted(text, "1") }
  func faint(_ text: String) -> String { painted(text, "2") }

  private func painted(_ text: String, _ code: String) -> String {
    isOn && !text.isEmpty ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
  }

  /// The columns that a text takes, without what paints it.
  static func width(of text: String) -> Int {
    var count = 0
    var isPainting = false
    for character in text {
      if character == "\u{1B}" { isPainting = true }
      if !isPainting { count += 1 }
      if character == "m" { isPainting = false }
    }
    return count
  }
}

extension String {
  /// The text without what would steer a terminal or end a column.
  var escaped: String {
    guard !isPlain, unicodeScalars.contains(where: \.isSteering) else { return self }
    var text = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "\t": text += "\\t"
      case "\n": text += "\\n"
      case _ where scalar.isSteering: text += "\\u{\(String(scalar.value, radix: 16))}"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}

extension String {
  /// Whether it is printable ASCII without quotation marks and backslashes, as most texts are,
  /// so that nobody need look at each character.
  var isPlain: Bool {
    utf8.allSatisfy { 0x20..<0x7F ~= $0 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
  }
}

extension Unicode.Scalar {
  /// Whether a terminal or an editor would obey it, and not show it.
  var isSteering: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}

extension Date {
  /// As ISO 8601 has it; a date that no calendar reaches as seconds since 1970.
  var text: String {
    let seconds = timeIntervalSince1970
    guard abs(seconds) < 1e11 else { return "\(seconds)" }
    return formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
  }
}
