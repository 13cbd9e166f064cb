/// A key, name or symbol: it equals another one exactly if the UTF-8 does.
///
/// Strings are equal also in other spellings of the same characters. The version of
/// Unicode decides which spellings are the same, so two readers could disagree, and
/// comparing takes time that an input can choose.
struct ByteName: Hashable, Sendable {
  let text: String

  init(_ text: String) {
    self.text = text
  }

  static func == (left: ByteName, right: ByteName) -> Bool {
    left.text.hasSameBytes(as: right.text)
  }

  func hash(into hasher: inout Hasher) {
    unsafe text.utf8.span.bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
  }
}

extension String {
  /// Whether both texts have the same UTF-8.
  @inline(__always)
  func hasSameBytes(as other: String) -> Bool {
    hasSameRepresentation(as: other)
      || utf8.count == other.utf8.count && hasEqualBytes(as: other)
  }

  /// Whether short texts or literals are the same; false proves nothing.
  ///
  /// Without it, records took twice as long to build (benchmark: encode and
  /// seal keyed records).
  @inline(__always)
  func hasSameRepresentation(as other: String) -> Bool {
    Self.hasRepresentation && representation == other.representation
  }

  /// The bits of the string itself: the text if it is short, else its address.
  ///
  /// Zeros where strings have another size, see ``hasRepresentation``.
  @inline(__always)
  var representation: (UInt64, UInt64) {
    guard Self.hasRepresentation else { return (0, 0) }
    return unsafe unsafeBitCast(self, to: (UInt64, UInt64).self)
  }

  /// Whether strings can be told apart by their bits.
  @inline(__always)
  static var hasRepresentation: Bool {
    MemoryLayout<String>.size == MemoryLayout<(UInt64, UInt64)>.size
  }

  @inline(never)
  private func hasEqualBytes(as other: String) -> Bool {
    utf8.span.isEqual(to: other.utf8.span)
  }
}

extension String {
  /// Whether the bytes of another text stand somewhere in this one.
  ///
  /// To search for the characters of a short text takes twenty times as long.
  ///
  /// - Complexity: O(*n* · *m*) in the bytes of both, so for a short text that is no input.
  package func containsBytes(of other: String) -> Bool {
    var rest = utf8[...]
    while rest.count >= other.utf8.count {
      if rest.starts(with: other.utf8) { return true }
      rest = rest.dropFirst()
    }
    return false
  }
}

/// A text of at most fifteen bytes, in the two words that its string consists of.
///
/// Having the string write these words to memory and loading them from there as other
/// words makes the processor wait (benchmark: encode and seal keyed records).
struct ShortText {
  /// The bytes of the text, with other bytes behind them.
  let words: (UInt64, UInt64)
  let byteCount: Int

  /// The bit that tells texts inside the string from texts at an address.
  private static let bit: UInt64 = 1 << 61
  private static let longest = "0123456789abcde"

  /// Nil if the text lies at an address, or where strings are made in another way.
  @inline(__always)
  init?(_ text: String) {
    // The compiler computes the answer.
    guard Self.longest.representation == (0x3736_3534_3332_3130, 0xef65_6463_6261_3938) else {
      return nil
    }
    let words = text.representation
    guard words.1 & Self.bit != 0 else { return nil }
    self.words = words
    byteCount = Int(truncatingIfNeeded: words.1 >> 56 & 15)
  }
}

extension Span<UInt8> {
  @inline(__always)
  func isEqual(to other: Span<UInt8>) -> Bool {
    count == other.count && firstDifference(from: other) == count
  }

  /// Whether these bytes come before others.
  func precedes(_ other: Span<UInt8>) -> Bool {
    let place = firstDifference(from: other)
    guard place < count, place < other.count else { return count < other.count }
    return self[place] < other[place]
  }

  /// The first place where the bytes differ, or where one of them ends.
  private func firstDifference(from other: Span<UInt8>) -> Int {
    let shared = Swift.min(count, other.count)
    var place = 0
    while shared - place >= 8 {
      let difference = littleEndian(place..<place + 8) ^ other.littleEndian(place..<place + 8)
      if difference != 0 { return place + difference.trailingZeroBitCount / 8 }
      place += 8
    }
    while place < shared, self[place] == other[place] { place += 1 }
    return place
  }
}
