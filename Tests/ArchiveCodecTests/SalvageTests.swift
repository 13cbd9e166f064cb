import ArchiveCodec
import TestSupport
import XCTest

/// Reading what is left of a damaged archive.
final class SalvageTests: JournalTestCase {
  /// Records of about a kilobyte, so that each chunk has many.
  private func stored() throws -> MemoryStorage {
    let storage = MemoryStorage()
    let text = String(repeating: "x", count: 1000)
    let writer = try writer(storage)
    try write(writer, Dictionary(uniqueKeysWithValues: (1...400).map { ($0, "\($0) \(text)") }))
    try write(writer, [7: "changed", 900: "new"], removing: [8])
    return storage
  }

  private func salvage(_ archive: Archive) throws -> (
    good: Set<UInt64>, bad: [UInt64: ArchiveError], damage: ArchiveError?
  ) {
    var good: Set<UInt64> = []
    var bad: [UInt64: ArchiveError] = [:]
    let damage = try archive.salvage { record in
      switch record.content {
      case .success: XCTAssert(good.insert(record.identifier).inserted)
      case .failure(let error): bad[record.identifier] = error
      }
    }
    return (good, bad, damage)
  }

  func testAnIntactArchiveIsGivenAsForEachRecordGivesIt() throws {
    let archive = try open(try XCTUnwrap(try stored().bytes))
    var expected: [UInt64] = []
    try archive.forEachRecord { expected.append($0.identifier) }
    var found: [UInt64] = []
    XCTAssertNil(try archive.salvage { found.append($0.identifier) })
    XCTAssertEqual(found, expected)
    XCTAssertEqual(archive.extent.changeCount, 1)
    XCTAssertEqual(archive.extent.snapshotRecordCount, 400)
    XCTAssertEqual(archive.extent.byteCount, try stored().bytes?.count)
  }

  func testRecordsBehindADamagedChunkAreGivenAndThoseInItNamed() throws {
    let storage = try stored()
    var bytes = try XCTUnwrap(storage.bytes)
    let all = try salvage(open(bytes)).good
    bytes[bytes.count / 3] ^= 1
    let found = try salvage(open(bytes))
    XCTAssertEqual(found.damage?.code, .damaged)
    XCTAssertNotNil(found.damage?.offset)
    XCTAssertFalse(found.bad.isEmpty)
    XCTAssertEqual(found.good.union(found.bad.keys), all)
    XCTAssert(found.good.isDisjoint(with: found.bad.keys))
    XCTAssert(found.good.isSuperset(of: [1, 7, 400, 900]), "before, behind, and in the journal")
    XCTAssert(found.bad.values.allSatisfy { $0.code == .damaged })
  }

  func testWhatTheBodyThrowsBehindDamageIsThrown() throws {
    struct Enough: Error {}
    var bytes = try XCTUnwrap(try stored().bytes)
    bytes[bytes.count / 3] ^= 1
    XCTAssertThrowsError(
      try open(bytes).salvage { record in
        if case .failure = record.content { throw Enough() }
      }
    ) { XCTAssert($0 is Enough, "\($0)") }
  }
}
