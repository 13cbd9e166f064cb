/// Text that becomes a key of a Dictionary or an element of a Set.
///
/// Swift hashes a String in a normalized form, for which it sorts the combining marks
/// that follow each other: *n* of them take O(*n*²). So a key of 1 KiB took as long as
/// a megabyte of other text, and a long string for ever. More marks in a row than a
/// stream-safe text has (UAX #15) are in no text that a person wrote.
enum CombiningMarks {
  static let longestRun = 30

  static func error(at offset: Int? = nil) -> ArchiveError {
    ArchiveError(.limitExceeded, offset: offset, subject: "combining marks in a row")
  }

  static func areTooMany(in text: Range<Int>, of bytes: Span<UInt8>) -> Bool {
    !bytes.isASCII(text) && areTooMany(in: bytes.text(text))
  }

  static func areTooMany(in text: String) -> Bool {
    guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return false }
    var run = 0
    for scalar in text.unicodeScalars {
      run = scalar.properties.canonicalCombiningClass == .notReordered ? 0 : run + 1
      if run > longestRun { return true }
    }
    return false
  }
}

extension ValueReader {
  /// The error for a map with keys that Swift cannot tell apart.
  var equalKeys: ArchiveError { mismatch("map of keys that are different in Swift") }
}
