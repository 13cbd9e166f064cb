import ArchiveCodec

/// Records that are authentic, but have a form that no value has.
enum ValueVectors {
  private typealias Bytes = HostileContent

  static func all() throws -> [NewVector] {
    try tags() + names() + numbers() + lengths() + texts() + keys() + depths()
  }

  private static func vector(
    _ name: String, _ comment: String, record: [UInt8],
    expecting code: ArchiveError.Code? = .malformed
  ) throws -> NewVector {
    NewVector(
      name: "value-\(name)", comment: comment,
      archive: VectorSealing.bytes(
        sealing: [HostileContent { $0.records = [(1, record)] }.commit()]),
      verify: code?.description)
  }

  private static func vector(
    _ name: String, _ comment: String, _ value: [UInt8],
    expecting code: ArchiveError.Code? = .malformed
  ) throws -> NewVector {
    try vector(name, comment, record: Bytes.map(value), expecting: code)
  }

  private static func tags() throws -> [NewVector] {
    [
      try vector("tag-b0", "A tag that earlier drafts used.", [0xB0]),
      try vector("tag-b1", "A tag that earlier drafts used.", [0xB1, 1]),
      try vector("tag-b4", "The first tag without meaning.", [0xB4]),
      try vector("tag-ff", "The last tag without meaning.", [0xFF]),
      try vector("not-a-map", "A record that is an array.", record: [0x81, 3, 0]),
      try vector("nothing", "A record without a value.", record: []),
      try vector("trailing-byte", "A byte after the map.", record: Bytes.map([1]) + [0]),
      try vector("truncated", "The last byte is missing.", record: Bytes.map([1]).dropLast()),
    ]
  }

  private static func names() throws -> [NewVector] {
    let a = Bytes.inlineKey(Array("A".utf8))
    return [
      try vector(
        "extension", "An extension that can be skipped.", [0xB2, 5, 3, 7], expecting: nil),
      try vector(
        "extension-critical", "An extension that is needed.", [0xB2, 3, 3, 7],
        expecting: .unsupportedFeature),
      try vector("extension-past", "An extension that ends after its map.", [0xB2, 5, 5, 7]),
      try vector("name", "A name that has no symbol.", [0xB3] + a, expecting: nil),
      try vector(
        "name-inline", "A name that has a symbol, written out.",
        [0xB3] + Bytes.inlineKey(Array("a".utf8))),
      try vector("name-unknown", "A name whose symbol is not there.", [0xB3] + Bytes.symbolKey(2)),
    ]
  }

  private static func numbers() throws -> [NewVector] {
    [
      try vector("integer-long", "63 in the long form.", [0xA3] + Bytes.varint(63)),
      try vector("negative-long", "−16 in the long form.", [0xA4] + Bytes.varint(15)),
      try vector("negative-overflow", "−2^63 − 1.", [0xA4] + Bytes.varint(1 << 63)),
      try vector("varint-2", "64 in two bytes.", [0xA3] + Bytes.varint(64, byteCount: 2)),
      try vector("varint-8", "64 in eight bytes.", [0xA3] + Bytes.varint(64, byteCount: 8)),
      try vector("varint-9", "64 in nine bytes.", [0xA3] + Bytes.varint(64, byteCount: 9)),
      try vector("varint-truncated", "A varint that ends early.", [0xA3, 0x00, 1, 2]),
      try vector("packed-wide", "1 as packed integers of two bytes.", [0xAE, 2, 5, 1, 0]),
      try vector(
        "packed-unsigned", "1 as packed unsigned integers.", [0xAE, 5, 17, 1, 0, 0, 0, 0, 0, 0, 0]),
      try vector("packed-empty-wide", "No packed integers, of eight bytes.", [0xAE, 4, 1]),
      try vector("packed-type-0", "Packed numbers of type 0.", [0xAE, 0, 1]),
      try vector("packed-type-8", "Packed numbers of type 8.", [0xAE, 8, 1]),
      try vector("packed-part", "Three bytes of packed integers of two.", [0xAE, 2, 7, 0, 1, 0]),
      try vector("double-short", "A double of seven bytes.", [0xA6, 0, 0, 0, 0, 0, 0, 0]),
      try vector("uuid-short", "A uuid of 15 bytes.", [0xA8] + [UInt8](repeating: 0, count: 15)),
    ]
  }

  private static func lengths() throws -> [NewVector] {
    [
      try vector("string-past", "A string that ends after the record.", [0x52, 0x61]),
      try vector("string-huge", "A string of 2^64 − 1 bytes.", [0xAA] + Bytes.varint(.max)),
      try vector("bytes-huge", "2^63 bytes.", [0xAB] + Bytes.varint(1 << 63)),
      try vector("array-long", "One element in the long form.", [0xAC, 3, 3, 0]),
      try vector("map-long", "No entries in the long form.", [0xAD, 1, 1]),
      try vector("array-more", "Two elements where one is counted.", [0x81, 5, 0, 0]),
      try vector("array-fewer", "One element where two are counted.", [0x82, 5, 0x51, 0x61]),
      try vector("array-count", "Two elements in one byte.", [0x82, 3, 0]),
      try vector("array-past", "An array that ends after its map.", [0x81, 9, 0]),
      try vector("array-inside", "A string that ends after its array.", [0x81, 5, 0x52, 0x61]),
      try vector(
        "array-count-huge", "2^62 elements in one byte.", [0xAC] + Bytes.varint(1 << 62) + [3, 0]),
      try vector("map-count", "Two entries in three bytes.", [0x92, 7, 1, 0, 1]),
      try vector(
        "packed-huge", "2^62 bytes of packed numbers.", [0xAE, 1] + Bytes.varint(1 << 62)),
    ]
  }

  private static func texts() throws -> [NewVector] {
    func text(_ name: String, _ comment: String, _ bytes: [UInt8]) throws -> NewVector {
      try vector("utf8-\(name)", comment, [0x50 + UInt8(bytes.count)] + bytes)
    }
    return [
      try vector(
        "string-long", "47 bytes in the long form.",
        [0xAA] + Bytes.varint(47) + [UInt8](repeating: 0x78, count: 47)),
      try text("continuation", "A continuation byte alone.", [0x80]),
      try text("overlong", "A slash in two bytes.", [0xC0, 0xAF]),
      try text("surrogate", "A surrogate.", [0xED, 0xA0, 0x80]),
      try text("too-large", "Above U+10FFFF.", [0xF4, 0x90, 0x80, 0x80]),
      try text("truncated", "Two bytes of three.", [0xE2, 0x82]),
      try vector("utf8-url", "A URL that is not UTF-8.", [0xA9, 3, 0xFF]),
      try vector(
        "utf8-key", "A key that is not UTF-8.",
        record: Bytes.entries([Bytes.inlineKey([0xFF]) + [0]])),
    ]
  }

  private static func keys() throws -> [NewVector] {
    let (a, b) = (Bytes.symbolKey(0), Bytes.symbolKey(1))
    func inline(_ name: String) -> [UInt8] { Bytes.inlineKey(Array(name.utf8)) }
    func keys(_ name: String, _ comment: String, _ first: [UInt8], _ second: [UInt8]) throws
      -> NewVector
    {
      try vector(
        "keys-\(name)", comment, record: Bytes.entries([first + [1], second + [2]]))
    }
    return [
      try keys("symbols-order", "Symbols that descend.", b, a),
      try keys("symbol-twice", "A symbol twice.", a, a),
      try keys("inline-first", "A symbol after another key.", inline("c"), a),
      try keys("inline-order", "Inline keys that descend.", inline("d"), inline("c")),
      try keys("inline-twice", "An inline key twice.", inline("c"), inline("c")),
      try keys("symbol-and-inline", "A name as a symbol and inline.", a, inline("a")),
      try vector(
        "keys-normalization", "An inline key in two normalizations, which are two keys.",
        record: Bytes.entries([inline("e\u{301}") + [1], inline("\u{e9}") + [2]]), expecting: nil),
      try vector(
        "keys-normalization-inside", "The same in a dictionary.",
        Bytes.entries([inline("e\u{301}") + [1], inline("\u{e9}") + [2]]), expecting: nil),
      try vector(
        "keys-normalization-ascii", "The letter K and the Kelvin sign, which are two keys.",
        Bytes.entries([inline("A") + [1], inline("K") + [2], inline("\u{212a}") + [3]]),
        expecting: nil),
      try vector(
        "keys-not-ascii", "Keys that differ, which is allowed.",
        Bytes.entries([inline("e") + [1], inline("\u{e8}") + [2], inline("\u{e9}") + [3]]),
        expecting: nil),
      try vector(
        "key-symbol-unknown", "A symbol that is not in the table.",
        record: Bytes.entries([Bytes.symbolKey(2) + [0]])),
      try vector(
        "key-symbol-huge", "The symbol 2^63 − 1.",
        record: Bytes.entries([Bytes.symbolKey(1 << 63 - 1) + [0]])),
      try vector(
        "key-1024", "An inline key of 1024 bytes, which is allowed.", record: long(1024),
        expecting: nil),
      try vector(
        "key-1025", "An inline key of 1025 bytes.", record: long(1025), expecting: .limitExceeded),
    ]
  }

  private static func long(_ count: Int) -> [UInt8] {
    Bytes.entries([Bytes.inlineKey([UInt8](repeating: 0x78, count: count)) + [0]])
  }

  private static func depths() throws -> [NewVector] {
    /// A record of so many containers, one in the other.
    func nested(_ depth: Int) -> [UInt8] {
      var value: [UInt8] = [0]
      for _ in 1..<depth { value = [0x81] + Bytes.varint(UInt64(value.count)) + value }
      return Bytes.map(value)
    }
    return [
      try vector("depth-128", "The deepest that is allowed.", record: nested(128), expecting: nil),
      try vector("depth-129", "One deeper.", record: nested(129), expecting: .limitExceeded),
      try vector("depth-5000", "Far deeper.", record: nested(5000), expecting: .limitExceeded),
    ]
  }
}
