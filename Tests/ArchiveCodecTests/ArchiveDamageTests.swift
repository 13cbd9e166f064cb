import ArchiveCodec
import ArchiveForge
import TestSupport
import XCTest

/// Archives that were changed, and those of others.
final class ArchiveDamageTests: XCTestCase {
  func testEverySingleBitFlipIsRefused() throws {
    let archives = try TestArchives()
    let bytes = try archives.small()
    for position in bytes.indices {
      for bit in 0..<8 {
        var changed = bytes
        changed[position] ^= 1 << bit
        let error = archiveError("byte \(position) bit \(bit)") {
          _ = try archives.verified(changed)
        }
        XCTAssertNotNil(error, "byte \(position) bit \(bit)")
        XCTAssertNotEqual(
          error, ArchiveError(.malformed), "byte \(position) bit \(bit): was parsed")
      }
    }
  }

  func testEveryTruncationIsRefusedAsSuch() throws {
    let archives = try TestArchives()
    let bytes = try archives.small()
    for count in bytes.indices {
      XCTAssertEqual(
        archiveError("\(count) bytes") { _ = try archives.verified(Array(bytes[..<count])) },
        ArchiveError(.truncated, offset: count, location: "memory"), "\(count) bytes")
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
        archiveError { _ = try archives.verified(Array(bytes[..<count])) },
        ArchiveError(.truncated, offset: count, location: "memory")
      )
    }
  }

  func testBytesAfterTheEndAreRefused() throws {
    let archives = try TestArchives()
    let bytes = try archives.small()
    for tail in [[UInt8](repeating: 0, count: 64), Array(bytes.suffix(64)), bytes] {
      XCTAssertEqual(
        archiveError { _ = try archives.verified(bytes + tail) },
        ArchiveError(.damaged, offset: 516, subject: "commit", location: "memory"))
    }
    // Too few to tell from the beginning of a change that was torn.
    XCTAssertEqual(
      archiveError { _ = try archives.verified(bytes + [0]) },
      ArchiveError(.truncated, offset: 517, location: "memory"))
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
    XCTAssertEqual(
      archiveError { _ = try archives.verified(swapped) },
      ArchiveError(.damaged, offset: 320, subject: "chunk 0"))
    let removed = Array(bytes[..<first] + bytes[(first + frame)...])
    XCTAssertEqual(
      archiveError { _ = try archives.verified(removed) },
      ArchiveError(.damaged, offset: 288, subject: "commit", location: "memory"))
    let doubled = Array(bytes[..<(first + frame)] + bytes[first...])
    XCTAssertEqual(
      archiveError { _ = try archives.verified(doubled) },
      ArchiveError(.damaged, offset: 288, subject: "commit", location: "memory"))
  }

  func testTheBodyOfAnotherArchiveUnderTheSameKeyIsRefused() throws {
    let archives = try TestArchives()
    let one = try archives.small()
    let other = try archives.small()
    XCTAssertEqual(one.count, other.count)
    XCTAssertEqual(
      archiveError { _ = try archives.verified(Array(one[..<288] + other[288...])) },
      ArchiveError(.damaged, offset: 288, subject: "commit", location: "memory"))
  }

  func testAWrongKeyAndAWrongContextAreToldApart() throws {
    let archives = try TestArchives()
    let storage = MemoryStorage(try archives.small())
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
    let checksum = Derivation.derive("RKA1 checksum", Array(changed[..<288]))
    changed.replaceSubrange(32..<40, with: checksum[..<8])
    return changed
  }

  func testAHeaderThatWasMadeToFitIsRefusedForWhatItSays() throws {
    let archives = try TestArchives()
    let bytes = try archives.small()
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
    let one = try archives.small()
    let other = try archives.small()
    XCTAssertEqual(
      archiveError {
        _ = try archives.verified(
          header(one, replacing: 128..<256, with: Array(other[128..<256])))
      }, ArchiveError(.wrongKey, location: "memory"))
  }

  func testAnUnknownSlotTypeIsSkipped() throws {
    let archives = try TestArchives()
    let bytes = try archives.small()
    XCTAssertEqual(
      archiveError {
        _ = try archives.verified(header(bytes, replacing: 128..<129, with: [9]))
      }, ArchiveError(.wrongKey, subject: "it takes no key", location: "memory"))
  }
}
