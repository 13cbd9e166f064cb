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
    for _ in 0..<3_000 {
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
      archiveError { try writer.append(records) }?.code, .limitExceeded)
    XCTAssertEqual(storage.bytes, bytes)
  }
}
