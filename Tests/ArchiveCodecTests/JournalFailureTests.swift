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
    XCTAssertEqual(
      archiveError { try write(writer, [2: "two"]) }, ArchiveError(.storageFull, location: "faulty")
    )
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
      XCTAssertEqual(
        archiveError { try writer.compact() }?.code, call == .publish ? .notDurable : .inputOutput)
      fails.withLock { $0 = false }
      if call == .publish {
        XCTAssertEqual(
          try XCTUnwrap(writer.archive).version, try open(try XCTUnwrap(storage.bytes)).version)
        XCTAssertEqual(
          archiveError { try write(writer, [2: "two"]) },
          ArchiveError(.poisoned, location: "faulty"))
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
    XCTAssertEqual(
      archiveError { try write(writer, [2: "two"]) },
      ArchiveError(.inputOutput, systemError: EIO, location: "faulty"))
    XCTAssertEqual(
      archiveError { try write(writer, [3: "three"]) },
      ArchiveError(.poisoned, systemError: EIO, location: "faulty"))
    try writer.compact()
    try write(writer, [4: "four"])
    XCTAssertEqual(
      try texts(try open(try XCTUnwrap(storage.durableBytes))), [1: "one", 4: "four"])
  }

  func testAChangeWhoseSyncFailedIsFoundByNoReaderAndFollowedByNoFork() throws {
    // What a reader finds while the sync is under way.
    let seen = Mutex<[UInt8]?>(nil)
    let fails = Mutex(false)
    let storages = Mutex<[FaultyStorage]>([])
    let storage = FaultyStorage { call, _ in
      guard call == .sync, fails.withLock({ $0 }) else { return nil }
      seen.withLock { $0 = storages.withLock { $0.first?.bytes } }
      return ArchiveError(.inputOutput, systemError: 5)
    }
    storages.withLock { $0.append(storage) }
    let writer = try writer(storage)
    try write(writer, [1: "one"])
    let before = storage.bytes
    fails.withLock { $0 = true }
    XCTAssertEqual(
      archiveError { try write(writer, [2: "two"]) },
      ArchiveError(.inputOutput, systemError: 5, location: "faulty"))
    fails.withLock { $0 = false }

    XCTAssertEqual(storage.bytes, before)
    XCTAssertEqual(try texts(try XCTUnwrap(writer.archive)), [1: "one"])
    let reader = try open(try XCTUnwrap(seen.withLock { $0 }))
    XCTAssertEqual(try texts(reader), [1: "one", 2: "two"])
    try writer.compact()
    try write(writer, [3: "three"])
    let after = try open(try XCTUnwrap(storage.durableBytes))
    XCTAssertEqual(try texts(after), [1: "one", 3: "three"])
    XCTAssertEqual(after.verdict(against: reader.version), .ok)
    XCTAssertEqual(after.verdict(against: try open(try XCTUnwrap(before)).version), .ok)
    storages.withLock { $0 = [] }
  }

  func testAChangeThatCanNeitherBeSyncedNorTakenBackIsPartOfTheArchive() throws {
    let fails = Mutex(false)
    let storage = FaultyStorage { call, _ in
      [.sync, .truncate].contains(call) && fails.withLock { $0 }
        ? ArchiveError(.inputOutput, systemError: 5) : nil
    }
    let writer = try writer(storage)
    try write(writer, [1: "one"])
    fails.withLock { $0 = true }
    XCTAssertEqual(
      archiveError { try write(writer, [2: "two"]) },
      ArchiveError(.notDurable, systemError: 5, location: "faulty"))
    fails.withLock { $0 = false }
    let reader = try open(try XCTUnwrap(storage.bytes))
    XCTAssertEqual(try texts(reader), [1: "one", 2: "two"])
    XCTAssertEqual(try XCTUnwrap(writer.archive).version, reader.version)
    XCTAssertEqual(
      archiveError { try write(writer, [3: "three"]) },
      ArchiveError(.poisoned, systemError: EIO, location: "faulty"))
    try writer.compact()
    let after = try open(try XCTUnwrap(storage.durableBytes))
    XCTAssertEqual(try texts(after), [1: "one", 2: "two"])
    XCTAssertEqual(after.verdict(against: reader.version), .ok)
  }

  func testAChangeIsAcknowledgedAlsoIfTheRewriteAfterItFails() throws {
    let fails = Mutex(false)
    let replaceCount = Mutex(0)
    let storage = FaultyStorage { call, _ in
      guard call == .replace else { return nil }
      replaceCount.withLock { $0 += 1 }
      return fails.withLock { $0 } ? ArchiveError(.storageFull) : nil
    }
    let writer = try writer(storage)
    try write(writer, [1: "one"])
    fails.withLock { $0 = true }
    let large = String(repeating: "long ", count: 14_000)
    try write(writer, [2: large])
    XCTAssertEqual(
      writer.compactionFailure, ArchiveError(.storageFull, location: "faulty"))
    XCTAssertEqual(
      try texts(try open(try XCTUnwrap(storage.durableBytes))), [1: "one", 2: large])
    // It is not tried again with every change.
    for _ in 0..<5 { try write(writer, [3: "three"]) }
    XCTAssertEqual(replaceCount.withLock { $0 }, 2)
    try write(writer, [2: large])
    XCTAssertEqual(replaceCount.withLock { $0 }, 3)
    XCTAssertNotNil(writer.compactionFailure)
    fails.withLock { $0 = false }
    try write(writer, [2: large])
    XCTAssertEqual(replaceCount.withLock { $0 }, 4)
    XCTAssertNil(writer.compactionFailure)
    XCTAssertEqual(
      try texts(try open(try XCTUnwrap(storage.durableBytes))),
      [1: "one", 2: large, 3: "three"])
  }

  func testAFileThatIsWrittenButNotForGoodIsTheArchive() throws {
    let archives = try archives.get()
    let fails = Mutex(true)
    let storage = FaultyStorage { call, _ in
      call == .publish && fails.withLock { $0 } ? ArchiveError(.inputOutput, systemError: 5) : nil
    }
    let writer = try writer(storage)
    XCTAssertEqual(
      archiveError { try write(writer, [1: "one"]) },
      ArchiveError(.notDurable, systemError: 5, location: "faulty"))
    XCTAssertEqual(try texts(try XCTUnwrap(writer.archive)), [1: "one"])
    XCTAssertEqual(try texts(try open(try XCTUnwrap(storage.bytes))), [1: "one"])
    XCTAssertEqual(
      archiveError { try writer.addSlot(.key(try ArchiveKey())) },
      ArchiveError(.poisoned, systemError: EIO, location: "faulty"))
    fails.withLock { $0 = false }
    try writer.compact()
    try write(writer, [2: "two"])
    XCTAssertEqual(
      try texts(try open(try XCTUnwrap(storage.durableBytes))), [1: "one", 2: "two"])

    fails.withLock { $0 = true }
    XCTAssertEqual(
      archiveError {
        _ = try Archive.write(
          RecordBuilder().finish(), to: storage, key: archives.key, context: archives.context)
      }, ArchiveError(.notDurable, systemError: EIO))
    XCTAssertEqual(try texts(try open(try XCTUnwrap(storage.bytes))), [:])
  }
}
