import ArchiveCodec
import XCTest

/// A snapshot and three changes, and where each commit ends.
struct VectorJournal {
  let bytes: [UInt8]
  let ends: [Int]

  /// With another seed, the last two changes become those of a sibling: the
  /// same records, but other salts and keys.
  init(forkSeed: UInt64 = 3) throws {
    let storage = MemoryStorage()
    var ends: [Int] = []
    func change(
      seed: UInt64, removing removed: [UInt64] = [], _ body: (RecordBuilder) throws -> Void
    ) throws {
      let writer = try VectorSealing.writer(storage, seed: seed)
      let builder = writer.builder()
      try body(builder)
      try writer.append(builder.finish(), removing: removed)
      ends.append(try XCTUnwrap(storage.bytes).count)
    }
    try change(seed: 1) { builder in
      for (record, text) in [(1, "one"), (2, "two"), (3, "three")] as [(UInt64, String)] {
        try builder.append(record: record) { $0.encode(text, forKey: "text") }
      }
    }
    try change(seed: 2) { builder in
      try builder.append(record: 2) { $0.encode("two changed", forKey: "text") }
    }
    try change(seed: forkSeed, removing: [1, 9]) { builder in
      try builder.append(record: 4) { encoder in
        encoder.encode("four", forKey: "text")
        encoder.encode(true, forKey: "a name that is new")
      }
    }
    try change(seed: forkSeed + 1) { builder in
      try builder.append(record: 1) { $0.encode("one again", forKey: "text") }
      try builder.append(record: 2) { $0.encode(2, forKey: "another") }
    }
    bytes = try XCTUnwrap(storage.bytes)
    self.ends = ends
  }

  /// The bytes of a commit; 0 is the snapshot.
  func commit(_ number: Int) -> ArraySlice<UInt8> {
    bytes[(number == 0 ? VectorHeader.byteCount : ends[number - 1])..<ends[number]]
  }

  var header: ArraySlice<UInt8> { bytes[..<VectorHeader.byteCount] }
}
