import ArchiveCodec

/// Headers, slots, keys and contexts that must be refused.
enum HeaderVectors {
  static func all() throws -> [NewVector] {
    try identity() + fields() + slots() + keys()
  }

  private static func vector(
    _ name: String, _ comment: String, _ expect: ArchiveError.Code, _ archive: [UInt8]
  ) -> NewVector {
    NewVector(name: name, comment: comment, archive: archive, expect: "\(expect)")
  }

  private static func identity() throws -> [NewVector] {
    let small = try VectorSealing.small()
    func truncated(_ count: Int) -> NewVector {
      vector(
        "header-truncated-\(count)", "The first \(count) bytes.", .truncated,
        Array(small[..<count]))
    }
    return [
      truncated(0), truncated(7), truncated(11), truncated(127), truncated(128), truncated(287),
      vector("header-magic", "The magic begins otherwise.", .notAnArchive, small.flipping(0)),
      vector(
        "header-magic-text-mode", "CR LF became LF.", .notAnArchive,
        Array(small[..<4] + small[5...])
      ),
      vector(
        "header-magic-byte-order-mark", "A byte order mark before it.", .notAnArchive,
        [0xEF, 0xBB, 0xBF] + small),
      vector(
        "header-checksum", "One bit of the checksum is changed.", .damaged, small.flipping(32)),
      vector(
        "header-damaged", "One bit of the file salt is changed; the checksum tells.", .damaged,
        small.flipping(56)),
    ]
  }

  private static func fields() throws -> [NewVector] {
    let small = try VectorSealing.small()
    func field(
      _ name: String, _ comment: String, _ expect: ArchiveError.Code, _ offset: Int, _ new: UInt8...
    ) -> NewVector {
      vector(
        "header-\(name)", comment, expect,
        VectorHeader.replacing(offset..<offset + new.count, of: small, with: new))
    }
    return [
      field("major-version-0", "Major version 0.", .unsupportedVersion, 8, 0),
      field("major-version-2", "Major version 2.", .unsupportedVersion, 8, 2),
      field("minor-version", "Another minor version, not authentic.", .damaged, 9, 1),
      field("length-short", "Says 287 bytes.", .damaged, 10, 31, 1),
      field("length-long", "Says 416 bytes, as with two slots.", .damaged, 10, 160, 1),
      field("required-feature", "The lowest required feature.", .unsupportedFeature, 12, 1),
      field("required-feature-high", "The highest one.", .unsupportedFeature, 15, 0x80),
      field("writer-feature", "A feature for writers, not authentic.", .damaged, 16, 1),
      field("optional-feature", "An optional feature, not authentic.", .damaged, 20, 1),
      field("suite-0", "Suite 0.", .unsupportedFeature, 24, 0),
      field("suite-2", "Suite 2.", .unsupportedFeature, 24, 2),
      field("chunk-size-11", "Chunks of 2 KiB.", .unsupportedFeature, 25, 11),
      field("chunk-size-21", "Chunks of 2 MiB.", .unsupportedFeature, 25, 21),
      field("chunk-size-other", "Chunks of 4 KiB, a size not written.", .damaged, 25, 12),
      field("slots-0", "No slots.", .damaged, 26, 0),
      field("slots-9", "Nine slots.", .damaged, 26, 9),
      field("zeros-after-slots", "Byte 27 is not zero.", .unsupportedFeature, 27, 1),
      field("zeros-before-slots", "Byte 127 is not zero.", .unsupportedFeature, 127, 1),
      field("archive-identifier", "Another archive identifier.", .wrongKey, 40, small[40] ^ 1),
      field("file-salt", "Another file salt.", .damaged, 56, small[56] ^ 1),
      field("base-generation", "Another base generation.", .damaged, 72, 1),
      field("predecessor", "Another predecessor MAC.", .damaged, 80, 1),
      field("mac", "One bit of the MAC is changed.", .damaged, 256, small[256] ^ 1),
    ]
  }

  private static func slots() throws -> [NewVector] {
    let small = try VectorSealing.small()
    let other = try VectorSealing.small(seed: 9)
    func flip(
      _ name: String, _ comment: String, _ expect: ArchiveError.Code, _ offset: Int
    ) -> NewVector {
      vector(
        "slot-\(name)", comment, expect, VectorHeader.flipping(128 + offset, of: small))
    }
    return [
      vector(
        "slot-type", "The only slot has an unknown type.", .wrongKey,
        VectorHeader.replacing(128..<129, of: small, with: [9])),
      flip("parameters", "A raw key with lanes.", .unsupportedFeature, 1),
      flip("zeros", "Byte 2 of the slot is not zero.", .unsupportedFeature, 2),
      flip("zeros-end", "The last byte of the slot is not zero.", .unsupportedFeature, 127),
      flip("salt", "Another salt.", .wrongKey, 12),
      flip("key-reference", "Another key reference; the header MAC tells.", .damaged, 28),
      flip(
        "commitment", "Another commitment; the key check covers it.", .wrongKey, 36),
      flip("wrapped-key", "One bit of the wrapped data key is changed.", .damaged, 68),
      flip("wrapped-key-tag", "One bit of its tag is changed.", .damaged, 115),
      flip("key-check", "Another key check; the header MAC tells.", .damaged, 116),
      vector(
        "slot-of-another-archive", "The slot of another archive of the same key.", .wrongKey,
        VectorHeader.replacing(128..<256, of: small, with: Array(other[128..<256]))),
    ]
  }

  private static func keys() throws -> [NewVector] {
    let small = try VectorSealing.small()
    func context(_ name: String, _ comment: String, _ fields: [String]) -> NewVector {
      NewVector(
        name: "context-\(name)", comment: comment, archive: small, expect: "wrongContext",
        context: fields)
    }
    return [
      NewVector(
        name: "key-wrong", comment: "The key differs in one bit.", archive: small,
        expect: "wrongKey", secret: .key(VectorSealing.keyBytes.flipping(31, bit: 7))),
      NewVector(
        name: "key-and-context-wrong", comment: "Both are wrong.", archive: small,
        expect: "wrongKey", secret: .key([UInt8](repeating: 0, count: 32)), context: ["x"]),
      context("other", "Another field.", ["org.example.vectors", "other"]),
      context("order", "The fields in another order.", ["main", "org.example.vectors"]),
      context("boundary", "The same text in other fields.", ["org.example.vectorsm", "ain"]),
      context("joined", "One field less.", ["org.example.vectorsmain"]),
      context("longer", "One more field, which is empty.", VectorSealing.contextFields + [""]),
      context("none", "No fields.", []),
    ]
  }
}
