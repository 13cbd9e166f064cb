import ArchiveCodec
import TestSupport
import XCTest

final class ArchiveTests: XCTestCase {
  private func smallArchive(_ archives: TestArchives) throws -> [UInt8] {
    try archives.bytes { builder in
      try builder.append(record: 1) { encoder in
        encoder.encode("text in progress", forKey: "text")
        encoder.encode(17, forKey: "cursor")
      }
      try builder.append(record: 2) { $0.encodeReference(to: 1, forKey: "parent") }
    }
  }

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

  func testEverySingleBitFlipIsRefused() throws {
    let archives = try TestArchives()
    let bytes = try smallArchive(archives)
    for position in bytes.indices {
      for bit in 0..<8 {
        var changed = bytes
        changed[position] ^= 1 << bit
        let error = archiveError("byte \(position) bit \(bit)") {
          _ = try archives.verified(changed)
        }
        XCTAssertNotNil(error, "byte \(position) bit \(bit)")
        XCTAssertNotEqual(error?.code, .malformed, "byte \(position) bit \(bit): was parsed")
      }
    }
  }

  func testEveryTruncationIsRefusedAsSuch() throws {
    let archives = try TestArchives()
    let bytes = try smallArchive(archives)
    for count in bytes.indices {
      XCTAssertEqual(
        archiveError("\(count) bytes") { _ = try archives.verified(Array(bytes[..<count])) }?.code,
        .truncated, "\(count) bytes")
    }
  }

  func testEveryTruncationOfALargerArchiveIsRefused() throws {
    let archives = try TestArchives()
    let bytes = try archives.bytes { builder in
      try builder.append(record: 1) {
        $0.encode(String(repeating: "x", count: 40_000), forKey: "text")
      }
    }
    for count in stride(from: 0, to: bytes.count, by: 41) {
      XCTAssertEqual(
        archiveError { _ = try archives.verified(Array(bytes[..<count])) }?.code, .truncated)
    }
  }

  func testBytesAfterTheEndAreRefused() throws {
    let archives = try TestArchives()
    let bytes = try smallArchive(archives)
    for tail in [[UInt8](repeating: 0, count: 64), Array(bytes.suffix(64)), bytes] {
      XCTAssertEqual(
        archiveError { _ = try archives.verified(bytes + tail) }?.code, .damaged)
    }
    // Too few to tell from the beginning of a change that was torn.
    XCTAssertEqual(archiveError { _ = try archives.verified(bytes + [0]) }?.code, .truncated)
  }

  func testChunksInAnotherOrderAreRefused() throws {
    let archives = try TestArchives()
    let bytes = try archives.bytes { builder in
      try builder.append(record: 1) {
        $0.encode(String(repeating: "x", count: 60_000), forKey: "text")
      }
    }
    let frame = 4 + 16384 + 16
    let first = 288 + 32
    var swapped = bytes
    swapped.replaceSubrange(first..<first + frame, with: bytes[first + frame..<first + 2 * frame])
    swapped.replaceSubrange(first + frame..<first + 2 * frame, with: bytes[first..<first + frame])
    XCTAssertEqual(archiveError { _ = try archives.verified(swapped) }?.code, .damaged)
    let removed = Array(bytes[..<first] + bytes[(first + frame)...])
    XCTAssertEqual(archiveError { _ = try archives.verified(removed) }?.code, .damaged)
    let doubled = Array(bytes[..<(first + frame)] + bytes[first...])
    XCTAssertEqual(archiveError { _ = try archives.verified(doubled) }?.code, .damaged)
  }

  func testTheBodyOfAnotherArchiveUnderTheSameKeyIsRefused() throws {
    let archives = try TestArchives()
    let one = try smallArchive(archives)
    let other = try smallArchive(archives)
    XCTAssertEqual(one.count, other.count)
    XCTAssertEqual(
      archiveError { _ = try archives.verified(Array(one[..<288] + other[288...])) }?.code,
      .damaged)
  }

  func testAWrongKeyAndAWrongContextAreToldApart() throws {
    let archives = try TestArchives()
    let storage = MemoryStorage(try smallArchive(archives))
    XCTAssertEqual(
      archiveError {
        _ = try Archive.open(storage, key: try ArchiveKey(), context: archives.context)
      }, ArchiveError(.wrongKey, location: "memory"))
    XCTAssertEqual(
      archiveError {
        _ = try Archive.open(
          storage, key: archives.key, context: ArchiveContext(["org.example.test", "other"]))
      }, ArchiveError(.wrongContext, location: "memory"))
  }

  func testContextsDifferInEveryFieldAndInTheirBoundaries() throws {
    let contexts = [[], [""], ["a"], ["a", ""], ["a", "b"], ["ab"], ["b", "a"]]
    let key = try ArchiveKey()
    for (place, fields) in contexts.enumerated() {
      let storage = MemoryStorage()
      _ = try Archive.write(
        try RecordBuilder().finish(), to: storage, key: key, context: ArchiveContext(fields))
      for (otherPlace, other) in contexts.enumerated() {
        let opened = try? Archive.open(storage, key: key, context: ArchiveContext(other))
        XCTAssertEqual(opened != nil, place == otherPlace, "\(fields) as \(other)")
      }
    }
  }

  /// Puts bytes into the header and makes its checksum fit again.
  private func header(_ bytes: [UInt8], replacing range: Range<Int>, with new: [UInt8]) -> [UInt8] {
    var changed = bytes
    changed.replaceSubrange(range, with: new)
    changed.replaceSubrange(32..<40, with: [UInt8](repeating: 0, count: 8))
    let checksum = KeyDerivation.checksum.hash(Array(changed[..<288]))[..<8]
    changed.replaceSubrange(32..<40, with: checksum)
    return changed
  }

  func testAHeaderThatWasMadeToFitIsRefusedForWhatItSays() throws {
    let archives = try TestArchives()
    let bytes = try smallArchive(archives)
    func code(_ range: Range<Int>, _ new: [UInt8]) -> ArchiveError.Code? {
      archiveError("\(range) \(new)") {
        _ = try archives.verified(header(bytes, replacing: range, with: new))
      }?.code
    }
    for version in [0, 2, 255] as [UInt8] {
      XCTAssertEqual(code(8..<9, [version]), .unsupportedVersion)
    }
    for bit in 0..<32 {
      let word = UInt32(1) << bit
      let little = (0..<4).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) }
      XCTAssertEqual(code(12..<16, little), .unsupportedFeature, "required feature \(bit)")
    }
    for suite in [0, 2, 255] as [UInt8] {
      XCTAssertEqual(code(24..<25, [suite]), .unsupportedFeature)
    }
    for size in [0, 11, 21, 255] as [UInt8] {
      XCTAssertEqual(code(25..<26, [size]), .unsupportedFeature)
    }
    for count in [0, 9, 255] as [UInt8] { XCTAssertEqual(code(26..<27, [count]), .damaged) }
    for length in [0, 127, 287, 289, 65535] {
      XCTAssertEqual(code(10..<12, [UInt8(length & 255), UInt8(length >> 8)]), .damaged)
    }
    // Everything else that is no part of a key is under the header MAC.
    for position in Array(9..<10) + Array(16..<24) + Array(56..<112) + Array(156..<164)
      + Array(244..<252)
    {
      XCTAssertEqual(code(position..<position + 1, [bytes[position] ^ 1]), .damaged, "\(position)")
    }
    let zeros = Array(27..<32) + Array(112..<128) + Array(130..<132) + Array(252..<256)
    for position in zeros {
      XCTAssertEqual(code(position..<position + 1, [1]), .unsupportedFeature, "\(position)")
    }
    // What the slots depend on fits no key any more.
    for position in 40..<56 {
      XCTAssertEqual(code(position..<position + 1, [bytes[position] ^ 1]), .wrongKey, "\(position)")
    }
  }

  func testASlotOfAnotherArchiveIsRefused() throws {
    let archives = try TestArchives()
    let one = try smallArchive(archives)
    let other = try smallArchive(archives)
    XCTAssertEqual(
      archiveError {
        _ = try archives.verified(
          header(one, replacing: 128..<256, with: Array(other[128..<256])))
      }?.code, .wrongKey)
  }

  func testAnUnknownSlotTypeIsSkipped() throws {
    let archives = try TestArchives()
    let bytes = try smallArchive(archives)
    XCTAssertEqual(
      archiveError {
        _ = try archives.verified(header(bytes, replacing: 128..<129, with: [9]))
      }?.code, .wrongKey)
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
      }?.code, .limitExceeded)
    XCTAssertEqual(try archives.verified(try XCTUnwrap(storage.bytes)).version, second.version)
  }

  func testTheSameRecordsAreNeverSealedTheSameWayTwice() throws {
    let archives = try TestArchives()
    XCTAssertNotEqual(try smallArchive(archives), try smallArchive(archives))
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
        try builder.finish(), to: storage, key: archives.key, context: archives.context,
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
    let bytes = try smallArchive(archives)
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
    let long = ArchiveError(.malformed, path: [String(repeating: "x", count: 5000)])
    XCTAssertLessThan(long.description.count, 400)
  }
}
