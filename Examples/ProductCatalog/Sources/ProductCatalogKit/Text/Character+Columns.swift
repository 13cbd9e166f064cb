extension Character {
  /// The number of terminal columns the character takes: one or two.
  package var columns: Int {
    unicodeScalars.contains(where: \.isWide) ? 2 : 1
  }

  /// What to draw for the character: a stand-in where the terminal would obey or hide it.
  var drawn: Character {
    if self == " " || isNewline || self == "\t" { return " " }
    guard let first = unicodeScalars.first else { return " " }
    switch first.properties.generalCategory {
    case .control, .format, .surrogate, .unassigned: return "\u{FFFD}"
    case .nonspacingMark, .enclosingMark: return Character("◌" + String(self))
    default: return self
    }
  }
}

extension StringProtocol {
  package var columns: Int {
    reduce(0) { $0 + $1.columns }
  }

  /// The text, or as much of it as fits with an ellipsis at its end.
  func fitting(columns limit: Int) -> String {
    guard columns > limit else { return String(self) }
    guard limit > 0 else { return "" }
    var kept = ""
    var used = 0
    for character in self {
      guard used + character.columns < limit else { break }
      kept.append(character)
      used += character.columns
    }
    return kept + "…"
  }
}

extension Unicode.Scalar {
  private static let emojiSelector: Unicode.Scalar = "\u{FE0F}"

  private static let wideRanges: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97C,
    0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
    0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x20000...0x3FFFD,
  ]

  fileprivate var isWide: Bool {
    guard value >= 0x1100 else { return false }
    return properties.isEmojiPresentation || self == Self.emojiSelector
      || Self.wideRanges.contains { $0.contains(value) }
  }
}
