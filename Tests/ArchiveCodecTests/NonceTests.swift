import ArchiveCodec
import ArchiveForge
import TestSupport
import XCTest

/// A key and a nonce are used for one content only, whatever happens to files
/// and to the random source.
final class NonceTests: XCTestCase {
  /// What decides on the key of a commit.
  ///
  /// It is the archive, the MAC before it, and its own header with its salt.
  /// Nonces count from 0 in each.
  private struct KeyInput: Hashable {
    let archive: [UInt8]
    let previousMAC: [UInt8]
    let header: [UInt8]
  }

  func testNoCommitOfRandomHistoriesWithAStuckRandomSourceSharesItsKeyWithAnother() throws {
    var generator = SeededGenerator()
    // Copies of one archive at all times of its life, as backups are.
    var copies = [try VectorSealing.small()]
    var commits: [KeyInput: [UInt8]] = [:]
    var repeated = 0
    for _ in 0..<LongTests.count(3_000) {
      let before = copies[Int.random(in: 0..<copies.count, using: &generator)]
      let storage = MemoryStorage(before)
      // Each process begins with the same bytes, and is given the same time.
      let writer = try VectorSealing.writer(storage, seed: 1)
      let builder = writer.builder()
      let text = "\(Int.random(in: 0..<4, using: &generator))"
      try builder.append(record: UInt64.random(in: 1...2, using: &generator)) {
        $0.encode(text, forKey: "text")
      }
      try writer.append(builder.finish())
      let after = try XCTUnwrap(storage.bytes)
      let commit = Array(after[before.count...])
      let input = KeyInput(
        archive: Array(after[40..<72]), previousMAC: Array(before.suffix(32)),
        header: Array(commit.prefix(32)))
      if let other = commits.updateValue(commit, forKey: input) {
        repeated += 1
        guard other == commit else {
          return XCTFail("Two contents under one key, seed \(generator.seed).")
        }
      }
      if copies.count < 60 {
        copies.append(after)
      } else {
        copies[Int.random(in: 0..<60, using: &generator)] = after
      }
    }
    XCTAssertGreaterThan(repeated, 10, "No change was made twice on one state.")
    XCTAssertGreaterThan(commits.count, 300)
  }

  /// The commit that a change makes of a small archive, always with the same
  /// random bytes.
  private func commit(
    on before: [UInt8], schema: UInt32?, _ texts: [UInt64: String], key: String = "text",
    removing removed: [UInt64]
  ) throws -> [UInt8] {
    let storage = MemoryStorage(before)
    let writer = try VectorSealing.writer(storage, seed: 1)
    let builder = writer.builder()
    for (record, text) in texts.sorted(by: { $0.key < $1.key }) {
      try builder.append(record: record) { $0.encode(text, forKey: key) }
    }
    try writer.append(builder.finish(), removing: removed, schema: schema)
    return Array(try XCTUnwrap(storage.bytes)[before.count...])
  }

  func testNoTwoSmallChangesHaveOneKeyUnderAStuckRandomSource() throws {
    let before = try VectorSealing.small()
    var commits: [[UInt8]: [UInt8]] = [:]
    var count = 0
    let states: [String?] = [nil, "", "a", "b", "aa"]
    for schema in [nil, 0, 1, 2, 256] as [UInt32?] {
      for key in ["text", "a new name", "anew name"] {
        for first in states {
          for second in states {
            for removed in [[], [1], [2], [3], [1, 2], [2, 1], [258]] as [[UInt64]] {
              let texts = [(1 as UInt64, first), (2, second)].filter { !removed.contains($0.0) }
              let commit = try commit(
                on: before, schema: schema,
                Dictionary(
                  uniqueKeysWithValues: texts.compactMap { id, text in
                    text.map { (id, $0) }
                  }), key: key, removing: removed)
              // What is before it is the same, so its own header decides on its key.
              let other = commits.updateValue(commit, forKey: Array(commit.prefix(32)))
              count += 1
              XCTAssertEqual(other ?? commit, commit, "two contents under one key")
            }
          }
        }
      }
    }
    // A nil schema is that of before, 0; without records the key is nowhere.
    XCTAssertGreaterThan(commits.count, count / 3)
  }

  func testARemovalWhoseBytesAreThoseOfARecordHasAKeyOfItsOwn() throws {
    let before = try VectorSealing.small()
    // The frame of a record, and the payload of a symbols frame without names.
    let bytes: [UInt8] =
      [0x01, 0x1D] + [5, 0, 0, 0, 0, 0, 0, 0] + [0x91, 0x09, 0x01, 0x52, 0x61, 0x62] + [0x01]
    let identifiers = [bytes[1..<9], bytes[9..<17]].map { bytes in
      bytes.reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
    }
    let record = try commit(on: before, schema: nil, [5: "ab"], removing: [])
    let removal = try commit(on: before, schema: nil, [:], removing: identifiers)
    XCTAssertNotEqual(record.prefix(32), removal.prefix(32))
  }

  func testTheLastGenerationTakesNoMoreChanges() throws {
    let last = ArchiveVersion(generation: .max - 1, mac: [UInt8](repeating: 7, count: 32))
    let bytes = VectorSealing.bytes(sealing: [HostileContent { _ in }.commit()]) {
      $0.replacing = last
    }
    let storage = MemoryStorage(bytes)
    let writer = try VectorSealing.writer(storage, seed: 2)
    let builder = writer.builder()
    try builder.append(record: 9) { $0.encode(1, forKey: "a") }
    let records = try builder.finish()
    XCTAssertEqual(
      archiveError { try writer.append(records) },
      ArchiveError(.limitExceeded, subject: "generation", location: "memory"))
    XCTAssertEqual(storage.bytes, bytes)
  }
}
