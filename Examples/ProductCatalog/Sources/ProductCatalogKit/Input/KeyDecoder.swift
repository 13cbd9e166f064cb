/// Turns the bytes a terminal sends into keys, however the bytes are cut into pieces.
///
/// A lone escape byte may be the Escape key or the start of a sequence. Call ``finish()`` when
/// nothing has followed it for a moment.
package struct KeyDecoder: Hashable, Sendable {
  private static let escape: UInt8 = 0x1B

  private var pending: [UInt8] = []

  package init() {}

  package var isMidSequence: Bool { !pending.isEmpty }

  package mutating func decode(_ bytes: some Sequence<UInt8>) -> [Key] {
    pending += bytes
    var keys: [Key] = []
    while let (key, length) = Self.firstKey(in: pending) {
      pending.removeFirst(length)
      if let key { keys.append(key) }
    }
    return keys
  }

  /// Decodes what is pending as if nothing could follow it.
  package mutating func finish() -> [Key] {
    var keys: [Key] = []
    while pending.first == Self.escape {
      pending.removeFirst()
      keys += [.escape] + decode([])
    }
    pending = []
    return keys
  }

  /// The key the bytes start with, nil for one without a meaning here, and the bytes it takes up.
  private static func firstKey(in bytes: [UInt8]) -> (key: Key?, length: Int)? {
    switch bytes.first {
    case nil: nil
    case escape: escapeSequence(in: bytes)
    case .some(0x00..<0x20), .some(0x7F): (controlKey(bytes[0]), 1)
    case .some(let lead): typedCharacter(in: bytes, length: encodedLength(lead: lead))
    }
  }

  private static func controlKey(_ byte: UInt8) -> Key? {
    switch byte {
    case 0x09: .tab
    case 0x0A, 0x0D: .enter
    case 0x08, 0x7F: .backspace
    case 0x01...0x1A: .control(Character(Unicode.Scalar(byte + 0x60)))
    default: nil
    }
  }

  private static func encodedLength(lead: UInt8) -> Int {
    switch lead {
    case 0xC2...0xDF: 2
    case 0xE0...0xEF: 3
    case 0xF0...0xF4: 4
    default: 1
    }
  }

  private static func typedCharacter(in bytes: [UInt8], length: Int) -> (key: Key?, length: Int)? {
    let tail = bytes.dropFirst().prefix(length - 1)
    guard tail.allSatisfy({ (0x80...0xBF).contains($0) }) else { return (.text("\u{FFFD}"), 1) }
    guard tail.count == length - 1 else { return nil }
    guard let text = String(validating: bytes.prefix(length), as: UTF8.self) else {
      return (.text("\u{FFFD}"), 1)
    }
    return (.text(text), length)
  }

  private static func escapeSequence(in bytes: [UInt8]) -> (key: Key?, length: Int)? {
    guard bytes.count > 1 else { return nil }
    switch bytes[1] {
    case UInt8(ascii: "["): return controlSequence(in: bytes)
    case UInt8(ascii: "O"):
      return bytes.count > 2 ? (cursorKey(bytes[2], parameter: ""), 3) : nil
    default: return (.escape, 1)
    }
  }

  private static func controlSequence(in bytes: [UInt8]) -> (key: Key?, length: Int)? {
    let body = bytes[2...].prefix { (0x20...0x3F).contains($0) }
    guard body.endIndex < bytes.count else { return nil }
    let final = bytes[body.endIndex]
    guard (0x40...0x7E).contains(final) else { return (nil, body.endIndex) }
    let parameter = body.prefix { $0 != UInt8(ascii: ";") }
    return (
      cursorKey(final, parameter: String(decoding: parameter, as: UTF8.self)), body.endIndex + 1
    )
  }

  private static func cursorKey(_ final: UInt8, parameter: String) -> Key? {
    switch (Character(Unicode.Scalar(final)), parameter) {
    case ("A", _): .up
    case ("B", _): .down
    case ("C", _): .right
    case ("D", _): .left
    case ("H", _), ("~", "1"), ("~", "7"): .home
    case ("F", _), ("~", "4"), ("~", "8"): .end
    case ("Z", _): .backTab
    case ("~", "3"): .delete
    case ("~", "5"): .pageUp
    case ("~", "6"): .pageDown
    default: nil
    }
  }
}
