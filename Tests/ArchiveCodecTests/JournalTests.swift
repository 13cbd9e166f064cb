import ArchiveCodec
import Synchronization
import TestSupport
import XCTest

final class JournalTests: JournalTestCase {
  func testChangesAndRemovalsAreOverlaidInOrder() throws {
    let (bytes, _, states) = try history()
    XCTAssertEqual(
      states,
      [
        [1: "one", 2: "two", 3: "three"], [1: "one", 2: "two changed", 3: "three"],
        [2: "two changed", 3: "three", 4: "four"],
        [1: "one again", 2: "two again", 3: "three", 4: "four"],
      ])
    let archive = try open(bytes)
    try archive.verifyAll()
    XCTAssertEqual(try texts(archive), states.last)
    XCTAssertEqual(archive.version.generation, 4)
  }

  func testNewKeysInAChangeAreFoundAgain() throws {
    let storage = MemoryStorage()
    do {
      let writer = try writer(storage)
      try write(writer, [1: "one"])
      for number in 0..<20 {
        let builder = writer.builder()
        try builder.append(record: 2) { $0.encode(number, forKey: "new \(number)") }
        try writer.append(builder.finish())
      }
    }
    let writer = try writer(storage)
    XCTAssertEqual(try writer.archive?.record(2)?.decode(Int.self, forKey: "new 19"), 19)
    try writer.compact()
    XCTAssertEqual(try writer.archive?.record(2)?.decode(Int.self, forKey: "new 19"), 19)
    try open(try XCTUnwrap(storage.bytes)).verifyAll()
  }

  func testAChangeCostsFewBytesAndOneSync() throws {
    let storage = FaultyStorage()
    let writer = try writer(storage)
    let builder = writer.builder()
    for record in 1...1000 as ClosedRange<UInt64> {
      try builder.append(record: record) { $0.encode("text \(record)", forKey: "text") }
    }
    try writer.append(builder.finish())
    let before = try XCTUnwrap(storage.bytes).count
    let syncs = storage.syncCount
    try write(writer, [500: String(repeating: "x", count: 190)])
    XCTAssertLessThanOrEqual(try XCTUnwrap(storage.bytes).count - before, 400)
    XCTAssertEqual(storage.syncCount, syncs + 1)
  }

  func testTheFileIsRewrittenWhenTheJournalHasOutgrownIt() throws {
    let storage = MemoryStorage()
    let writer = try writer(storage)
    try write(writer, [1: "kept"])
    var largest = 0
    for number in 0..<200 {
      try write(writer, [2: String(repeating: "x", count: 2000) + "\(number)"])
      largest = max(largest, try XCTUnwrap(storage.bytes).count)
    }
    XCTAssertGreaterThan(largest, 1 << 16)
    XCTAssertLessThan(largest, 1 << 16 + 1 << 13)
    let archive = try open(try XCTUnwrap(storage.bytes))
    XCTAssertEqual(archive.version.generation, try XCTUnwrap(writer.archive).version.generation)
    XCTAssertGreaterThan(archive.version.generation, 200)
    XCTAssertEqual(try texts(archive)[1], "kept")
    XCTAssertTrue(try XCTUnwrap(try texts(archive)[2]).hasSuffix("199"))
  }

  func testRewritingKeepsOnlyWhatIsGiven() throws {
    let storage = MemoryStorage()
    let writer = try writer(storage)
    try write(writer, [1: "one", 2: "two"])
    for isContinued in [true, false] {
      let builder = isContinued ? writer.builder() : RecordBuilder()
      try builder.append(record: 3) { encoder in
        encoder.encode("three", forKey: "text")
        encoder.encode(1, forKey: "another key \(isContinued)")
      }
      try writer.rewrite(builder.finish())
      XCTAssertEqual(try texts(try XCTUnwrap(writer.archive)), [3: "three"])
      try open(try XCTUnwrap(storage.bytes)).verifyAll()
    }
  }

  func testRecordsThatWereBuiltBeforeNewKeysAreRefused() throws {
    let writer = try writer(MemoryStorage())
    try write(writer, [1: "one"])
    let late = writer.builder()
    try late.append(record: 2) { $0.encode(1, forKey: "late") }
    let early = writer.builder()
    try early.append(record: 3) { $0.encode(1, forKey: "early") }
    try writer.append(early.finish())
    XCTAssertEqual(
      archiveError { try writer.append(late.finish()) }, ArchiveError(.outdated, location: "memory")
    )
    XCTAssertEqual(
      archiveError { try writer.rewrite(late.finish()) },
      ArchiveError(.outdated, location: "memory"))
    XCTAssertEqual(try writer.archive?.recordIdentifiers(), [1, 3])
  }

  func testARecordCannotBeChangedAndRemovedAtOnce() throws {
    let writer = try writer(MemoryStorage())
    try write(writer, [1: "one"])
    XCTAssertEqual(
      archiveError { try write(writer, [1: "changed"], removing: [1]) },
      ArchiveError(.malformed, subject: "record 1 is not unique", location: "memory"))
    XCTAssertEqual(
      archiveError { try write(writer, [:], removing: [0]) },
      ArchiveError(.malformed, subject: "record 0 is not unique", location: "memory"))
    XCTAssertEqual(try texts(try XCTUnwrap(writer.archive)), [1: "one"])
  }

  func testThereIsOneWriterAtATime() throws {
    let directory = try TemporaryDirectory()
    for storage in [
      MemoryStorage(), FileStorage(path: directory.child("a.rka")),
    ] as [any ArchiveStorage] {
      do {
        let first = try writer(storage)
        XCTAssertEqual(archiveError { _ = try writer(storage) }?.code, .locked)
        try write(first, [1: "one"])
      }
      let second = try writer(storage)
      XCTAssertEqual(try texts(try XCTUnwrap(second.archive)), [1: "one"])
    }
  }

  func testAChildProcessCannotAppend() throws {
    let archives = try archives.get()
    let writer = try ArchiveWriter(
      MemoryStorage(), with: .key(archives.key), context: archives.context,
      process: SystemCall.processIdentifier + 1)
    XCTAssertEqual(archiveError { try write(writer, [1: "one"]) }, ArchiveError(.forked))
  }

  func testFilesAreAppendedToAndReadBack() throws {
    let directory = try TemporaryDirectory()
    let storage = FileStorage(path: directory.child("a.rka"))
    for number in 1...5 as ClosedRange<UInt64> {
      let writer = try writer(storage)
      try write(writer, [number: "\(number)"])
      XCTAssertEqual(try texts(try XCTUnwrap(writer.archive)).count, Int(number))
    }
    XCTAssertEqual(try open(try directory.bytes(of: "a.rka")).version.generation, 5)
    XCTAssertEqual(try directory.names(), ["a.rka"])
  }

  func testAFileWithManyChangesIsRewrittenAndOneWithTooManyIsRefused() throws {
    let archives = try archives.get()
    let limits = ArchiveLimits(symbolCount: 100, commitCount: 10)
    func open(_ bytes: [UInt8]?, _ limits: ArchiveLimits) throws -> Archive? {
      try Archive.open(
        MemoryStorage(bytes), key: archives.key, context: archives.context, limits: limits)
    }
    let storage = MemoryStorage()
    let bounded = try ArchiveWriter.open(
      storage, key: archives.key, context: archives.context, limits: limits)
    var largest = 0
    for number in 0..<30 {
      let before = storage.bytes?.count ?? 0
      try write(bounded, [1: "\(number)"])
      largest = max(largest, try XCTUnwrap(storage.bytes).count - before)
      XCTAssertNotNil(try open(storage.bytes, limits))
    }
    // 30 changes in one file would be 30 times as much.
    XCTAssertLessThan(try XCTUnwrap(storage.bytes).count, largest * 6)

    // Somebody else wrote on with other limits.
    let many = MemoryStorage()
    let writer = try writer(many)
    for number in 0..<10 { try write(writer, [1: "\(number)"]) }
    XCTAssertNotNil(try open(many.bytes, limits))
    let ten = many.bytes
    try write(writer, [1: "one more"])
    for bytes in [many.bytes, many.bytes.map { $0 + [1] }] {
      XCTAssertEqual(
        archiveError { _ = try open(bytes, limits) },
        ArchiveError(.limitExceeded, subject: "changes of an archive", location: "memory"))
    }
    // What cannot be rewritten takes no more changes than can be read.
    let full = FaultyStorage(ten) { call, _ in call == .replace ? ArchiveError(.storageFull) : nil }
    let last = try ArchiveWriter.open(
      full, key: archives.key, context: archives.context, limits: limits)
    XCTAssertEqual(
      archiveError { try self.write(last, [1: "x"]) },
      ArchiveError(.limitExceeded, subject: "changes of an archive; rewrite it", location: "faulty")
    )
    XCTAssertEqual(full.bytes, ten)
  }

  /// Who is killed after each change, before the file is rewritten, leaves a file that is full.
  func testAFileThatIsFullIsRewrittenByTheNextChange() throws {
    let archives = try archives.get()
    let limits = ArchiveLimits(symbolCount: 100, commitCount: 10)
    let full = MemoryStorage()
    let unbounded = try writer(full)
    for number in 0..<10 { try write(unbounded, [UInt64(number) + 1: "\(number)"]) }
    let texts = try texts(try open(try XCTUnwrap(full.bytes)))

    // No room for another file, then room.
    let hasRoom = Atomic(false)
    let storage = FaultyStorage(full.bytes) { call, _ in
      call == .replace && !hasRoom.load(ordering: .relaxed) ? ArchiveError(.storageFull) : nil
    }
    let next = try ArchiveWriter.open(
      storage, key: archives.key, context: archives.context, limits: limits)
    XCTAssertEqual(archiveError { try self.write(next, [1: "x"]) }?.code, .limitExceeded)
    XCTAssertEqual(next.compactionFailure?.code, .storageFull)
    XCTAssertEqual(storage.bytes, full.bytes)
    hasRoom.store(true, ordering: .relaxed)
    try write(next, [1: "x"])
    XCTAssertNil(next.compactionFailure)
    let stored = try Archive.open(
      MemoryStorage(storage.bytes), key: archives.key, context: archives.context, limits: limits)
    XCTAssertEqual(
      try self.texts(try XCTUnwrap(stored)), texts.merging([1: "x"]) { _, new in new })
    XCTAssertEqual(stored?.version, next.version)
  }

  func testAFileThatIsFullAndNotRewrittenForGoodTakesNoChange() throws {
    let archives = try archives.get()
    let limits = ArchiveLimits(symbolCount: 100, commitCount: 10)
    let full = MemoryStorage()
    let unbounded = try writer(full)
    for number in 0..<10 { try write(unbounded, [UInt64(number) + 1: "\(number)"]) }
    let storage = FaultyStorage(full.bytes) { call, _ in
      call == .publish ? ArchiveError(.inputOutput) : nil
    }
    let next = try ArchiveWriter.open(
      storage, key: archives.key, context: archives.context, limits: limits)
    XCTAssertEqual(archiveError { try self.write(next, [1: "x"]) }?.code, .poisoned)
    XCTAssertEqual(
      try texts(try open(try XCTUnwrap(storage.bytes))),
      try texts(try open(try XCTUnwrap(full.bytes))))
  }

  func testAKeptVersionTellsRollbackAndFork() throws {
    let (bytes, ends, _) = try history()
    let versions = try ends.map { try open(Array(bytes[..<$0])).version }
    let newest = try open(bytes)
    for version in versions { XCTAssertEqual(newest.verdict(against: version), .ok) }
    let older = try open(Array(bytes[..<ends[1]]))
    XCTAssertEqual(older.verdict(against: versions[3]), .rollback)

    let storage = MemoryStorage(Array(bytes[..<ends[1]]))
    let writer = try writer(storage)
    try write(writer, [5: "elsewhere"])
    let fork = try XCTUnwrap(writer.archive)
    XCTAssertEqual(fork.verdict(against: versions[1]), .ok)
    XCTAssertEqual(fork.verdict(against: versions[2]), .fork)
    try write(writer, [5: "further"])
    try write(writer, [5: "on"])
    XCTAssertEqual(try XCTUnwrap(writer.archive).verdict(against: versions[3]), .fork)

    let before = try XCTUnwrap(writer.archive).version
    try writer.compact()
    let compacted = try XCTUnwrap(writer.archive)
    XCTAssertEqual(compacted.verdict(against: before), .ok)
    let impostor = ArchiveVersion(generation: before.generation, mac: versions[0].mac)
    XCTAssertEqual(compacted.verdict(against: impostor), .fork)
    XCTAssertEqual(newest.verdict(against: compacted.version), .rollback)
  }

  func testAnArchiveShowsThatItComesFromAVersionUntilItWasWrittenAnewTwice() throws {
    let (bytes, ends, _) = try history()
    let versions = try ends.map { try open(Array(bytes[..<$0])).version }
    let newest = try open(bytes)
    for version in versions { XCTAssertTrue(newest.comes(from: version)) }
    XCTAssertFalse(try open(Array(bytes[..<ends[1]])).comes(from: newest.version))
    let writer = try writer(MemoryStorage(bytes))
    for count in 1...2 {
      try writer.compact()
      try write(writer, [5: "further"])
      let archive = try XCTUnwrap(writer.archive)
      XCTAssertEqual(archive.comes(from: newest.version), count == 1)
      XCTAssertEqual(archive.verdict(against: newest.version), .ok)
      XCTAssertFalse(archive.comes(from: versions[0]))
    }
  }
}
