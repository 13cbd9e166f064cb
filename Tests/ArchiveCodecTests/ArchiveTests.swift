import ArchiveCodec
import TestSupport
import XCTest

final class ArchiveTests: XCTestCase {
  func testRecordsInManyChunksComeBackOneByOneAndTogether() throws {
    let archives = try TestArchives()
    let count: UInt64 = 5000
    let bytes = try archives.bytes { builder in
      // Written in another order than that of the identifiers.
      for record in (1...count).reversed() {
        try builder.append(record: record * 3) { encoder in
          encoder.encode(String(repeating: "x", count: Int(record % 97)), forKey: "text")
          encoder.encode(record, forKey: "number")
        }
      }
    }
    XCTAssertGreaterThan(bytes.count, 16 * 16384)
    let archive = try archives.verified(bytes)
    XCTAssertEqual(try archive.recordIdentifiers().count, Int(count))
    XCTAssertEqual(try archive.recordIdentifiers(), (1...count).map { $0 * 3 })
    for record in stride(from: 1, through: count, by: 7) {
      let decoder = try XCTUnwrap(try archive.record(record * 3))
      XCTAssertEqual(try decoder.decode(UInt64.self, forKey: "number"), record)
      XCTAssertNil(try archive.record(record * 3 + 1))
    }
    XCTAssertNil(try archive.record(0))
    XCTAssertNil(try archive.record(.max))
    XCTAssertEqual(try archive.readAll().map(\.identifier), (1...count).reversed().map { $0 * 3 })
  }

  func testAnArchiveWithoutRecordsComesBack() throws {
    let archives = try TestArchives()
    let archive = try archives.verified(try archives.bytes { _ in })
    XCTAssertNil(try archive.record(1))
  }

  func testARecordOfAlmostTheLargestSizeComesBack() throws {
    let archives = try TestArchives()
    let text = String(repeating: "x", count: ArchiveLimits.standard.recordByteCount - 100)
    let bytes = try archives.bytes { try $0.append(record: 1) { $0.encode(text, forKey: "t") } }
    XCTAssertEqual(
      try archives.verified(bytes).record(1)?.decode(String.self, forKey: "t"), text)
  }

  func testContentsThatEndAtAChunkBoundaryComeBack() throws {
    let archives = try TestArchives()
    var sizes: Set<Int> = []
    for padding in 16_200..<16_330 {
      let text = String(repeating: "x", count: padding)
      let bytes = try archives.bytes { try $0.append(record: 1) { $0.encode(text, forKey: "t") } }
      XCTAssertEqual(
        try archives.verified(bytes).record(1)?.decode(String.self, forKey: "t"), text)
      sizes.insert(bytes.count)
    }
    XCTAssertEqual(sizes.count, 130)
  }

  func testAnEmptyStorageIsNilAndNoError() throws {
    let archives = try TestArchives()
    XCTAssertNil(
      try Archive.open(MemoryStorage(), key: archives.key, context: archives.context))
  }

  func testTheGenerationGrowsAndNamesItsPredecessor() throws {
    let archives = try TestArchives()
    let storage = MemoryStorage()
    let records = try RecordBuilder().finish()
    let first = try Archive.write(
      records, to: storage, key: archives.key, context: archives.context)
    XCTAssertEqual(first.version.generation, 1)
    let second = try Archive.write(
      records, to: storage, key: archives.key, context: archives.context,
      replacing: first.version, schema: 7)
    XCTAssertEqual(second.version.generation, 2)
    XCTAssertEqual(Array(try XCTUnwrap(storage.bytes)[80..<112]), first.version.mac)
    let archive = try archives.verified(try XCTUnwrap(storage.bytes))
    XCTAssertEqual(archive.version, second.version)
    XCTAssertEqual(archive.schema, 7)
    let last = ArchiveVersion(generation: .max, mac: first.version.mac)
    XCTAssertEqual(
      archiveError {
        _ = try Archive.write(
          records, to: storage, key: archives.key, context: archives.context, replacing: last)
      }, ArchiveError(.limitExceeded, subject: "generation"))
    XCTAssertEqual(try archives.verified(try XCTUnwrap(storage.bytes)).version, second.version)
  }

  func testTheIdentifier0IsRefusedBeforeAnythingIsEncoded() throws {
    let expected = ArchiveError(.malformed, subject: "record 0: identifiers begin at 1")
    let archives = try TestArchives()
    let storage = MemoryStorage()
    let writer = try ArchiveWriter.open(storage, key: archives.key, context: archives.context)
    for builder in [RecordBuilder(), writer.builder()] {
      try builder.append(record: 1) { $0.encode("one", forKey: "text") }
      XCTAssertEqual(
        archiveError {
          try builder.append(record: 0) { _ in XCTFail("A record 0 was encoded.") }
        }, expected)
      try builder.append(record: 2) { $0.encode("two", forKey: "text") }
      let written = try archives.verified(try archives.bytes(sealing: builder.finish()))
      XCTAssertEqual(try written.recordIdentifiers(), [1, 2])
    }
    XCTAssertEqual(
      archiveError {
        _ = try Archive.write(to: storage, key: archives.key, context: archives.context) {
          try $0.append(record: 0) { _ in }
        }
      }, expected)
    XCTAssertNil(storage.bytes)
  }

  func testASystemErrorSaysWhatItMeansForAStoredFile() {
    for (number, code) in [
      (EACCES, .permissionDenied), (EROFS, .permissionDenied), (ENOSPC, .storageFull),
      (EDQUOT, .storageFull), (EISDIR, .notAFile), (ELOOP, .notAFile), (EIO, .inputOutput),
      (0, .inputOutput),
    ] as [(Int32, ArchiveError.Code)] {
      XCTAssertEqual(ArchiveError(systemError: number), ArchiveError(code, systemError: number))
    }
  }

  func testTheSameRecordsAreNeverSealedTheSameWayTwice() throws {
    let archives = try TestArchives()
    XCTAssertNotEqual(try archives.small(), try archives.small())
  }

  func testAStuckRandomSourceStillGivesEveryWriteAKeyOfItsOwn() throws {
    let archives = try TestArchives()
    let stuck = RandomSource { bytes, count in
      bytes.initializeMemory(as: UInt8.self, repeating: 7, count: count)
    }
    func body(_ moment: UInt8) throws -> [UInt8] {
      let storage = MemoryStorage()
      let builder = RecordBuilder()
      try builder.append(record: 1) { $0.encode("the same", forKey: "text") }
      _ = try Archive.write(
        try builder.finish(), to: storage, slots: [.key(archives.key)], context: archives.context,
        replacing: nil, schema: 0, random: stuck, moment: Archive.Moment(witness: [moment]))
      return Array(try XCTUnwrap(storage.bytes)[288...])
    }
    XCTAssertEqual(try body(1), try body(1))
    let (one, other) = (try body(1), try body(2))
    // The salts differ, and with them the key and every byte that follows.
    XCTAssertNotEqual(one[16..<32], other[16..<32])
    XCTAssertNotEqual(one[36...], other[36...])
  }

  func testPlaintextIsNotInTheFile() throws {
    let archives = try TestArchives()
    let bytes = try archives.small()
    for word in ["text", "progress", "cursor", "parent", "org.example.test"] {
      XCTAssertNil(bytes.firstRange(of: Array(word.utf8)), word)
    }
  }

  func testAnOpenArchiveStaysReadableWhileItIsReplaced() throws {
    let archives = try TestArchives()
    let directory = try TemporaryDirectory()
    let storage = FileStorage(path: directory.child("a.rka"))
    func write(_ text: String) throws {
      let builder = RecordBuilder()
      try builder.append(record: 1) { $0.encode(text, forKey: "text") }
      _ = try Archive.write(
        try builder.finish(), to: storage, key: archives.key, context: archives.context)
    }
    try write("old")
    let old = try XCTUnwrap(
      try Archive.open(storage, key: archives.key, context: archives.context))
    try write("new")
    XCTAssertEqual(try old.record(1)?.decode(String.self, forKey: "text"), "old")
  }

  func testErrorsSayWhatToDoAndHowTheyAreTold() {
    let error = ArchiveError(
      .typeMismatch, offset: 12, path: ["window", "size"], subject: "found string, expected integer"
    )
    XCTAssertEqual(
      error.description,
      "The stored value has another type. Decode it as the type it was encoded as."
        + " (typeMismatch: found string, expected integer, at window.size, byte 12)")
    XCTAssertEqual(
      ArchiveError(.wrongKey).description,
      "The key does not open this archive. Use the key that it was written with,"
        + " or move away the archive if it belongs to another app.")
    XCTAssertEqual(
      ArchiveError(.notAFile, systemError: 21, location: "/a/main.rka").description,
      "The path does not name a regular file. Move away what is there."
        + " (notAFile: system error 21, in /a/main.rka)")
    XCTAssertEqual(
      ArchiveError(.keyNotFound, path: ["a\u{1B}[31m\nb"]).description.suffix(24),
      "(keyNotFound: at a�[31m�b)".suffix(24))
    XCTAssertEqual(
      ArchiveError(.damaged, offset: 12).finding,
      "The archive was changed or damaged after it was written (damaged: byte 12).")
    let long = ArchiveError(.malformed, path: [String(repeating: "x", count: 5000)])
    XCTAssertLessThan(long.description.count, 400)
  }
}
