import ArchiveCodec
import Synchronization
import TestSupport
import XCTest

/// Writes and syncs that fail, and those that come later.
final class JournalFailureTests: JournalTestCase {
  func testAFailedWriteLeavesTheStateBeforeAndTheNextOneSucceeds() throws {
    let storage = FaultyStorage { call, number in
      // The first replace is calls 1 and 2, the write of the next change call 3.
      call == .write && number == 3 ? ArchiveError(.storageFull) : nil
    }
    let writer = try writer(storage)
    try write(writer, [1: "one"])
    XCTAssertEqual(archiveError { try write(writer, [2: "two"]) }?.code, .storageFull)
    XCTAssertEqual(try texts(try XCTUnwrap(writer.archive)), [1: "one"])
    XCTAssertEqual(try texts(try open(try XCTUnwrap(storage.bytes))), [1: "one"])
    try write(writer, [3: "three"])
    XCTAssertEqual(
      try texts(try open(try XCTUnwrap(storage.bytes))), [1: "one", 3: "three"])
  }

  func testAReplacementThatFailsLateAllowsNoAppendUntilItIsRepeated() throws {
    for call in [FaultyStorage.Call.replace, .publish] {
      let fails = Mutex(false)
      let storage = FaultyStorage { other, _ in
        other == call && fails.withLock { $0 } ? ArchiveError(.inputOutput) : nil
      }
      let writer = try writer(storage)
      try write(writer, [1: "one"])
      fails.withLock { $0 = true }
      XCTAssertEqual(archiveError { try writer.compact() }?.code, .inputOutput)
      fails.withLock { $0 = false }
      if call == .publish {
        XCTAssertEqual(archiveError { try write(writer, [2: "two"]) }?.code, .poisoned)
        try writer.compact()
      }
      try write(writer, [3: "three"])
      XCTAssertEqual(
        try texts(try open(try XCTUnwrap(storage.durableBytes))), [1: "one", 3: "three"])
    }
  }

  func testAFailedSyncPoisonsTheFileUntilItIsRewritten() throws {
    let storage = FaultyStorage { call, number in
      call == .sync && number == 4 ? ArchiveError(.inputOutput, systemError: 5) : nil
    }
    let writer = try writer(storage)
    try write(writer, [1: "one"])
    XCTAssertEqual(archiveError { try write(writer, [2: "two"]) }?.code, .inputOutput)
    XCTAssertEqual(archiveError { try write(writer, [3: "three"]) }?.code, .poisoned)
    XCTAssertEqual(archiveError { try writer.synchronize() }?.code, .poisoned)
    try writer.compact()
    try write(writer, [4: "four"])
    XCTAssertEqual(
      try texts(try open(try XCTUnwrap(storage.durableBytes))), [1: "one", 4: "four"])
  }

  func testALazyChangeIsSyncedWithTheNextDurableOneOrWhenAsked() throws {
    let storage = FaultyStorage()
    let writer = try writer(storage)
    try write(writer, [1: "one"])
    let durable = storage.durableBytes
    let builder = writer.builder()
    try builder.append(record: 2) { $0.encode("two", forKey: "text") }
    try writer.append(builder.finish(), durability: .lazy(maximumDelay: .seconds(3600)))
    XCTAssertEqual(storage.durableBytes, durable)
    XCTAssertEqual(try texts(try XCTUnwrap(writer.archive)).count, 2)
    try writer.synchronize()
    XCTAssertEqual(try texts(try open(try XCTUnwrap(storage.durableBytes))).count, 2)
  }

  func testALazyChangeIsSyncedByItselfAfterItsDelay() async throws {
    let storage = FaultyStorage()
    let writer = try writer(storage)
    try write(writer, [1: "one"])
    let builder = writer.builder()
    try builder.append(record: 2) { $0.encode("two", forKey: "text") }
    try writer.append(builder.finish(), durability: .lazy(maximumDelay: .milliseconds(1)))
    while storage.syncCount == 0 { await Task.yield() }
    XCTAssertEqual(storage.durableBytes, storage.bytes)
  }
}
