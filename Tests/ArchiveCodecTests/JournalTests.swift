import ArchiveCodec
import Synchronization
import TestSupport
import XCTest

final class JournalTests: XCTestCase {
  private let archives = Result { try TestArchives() }

  private func writer(_ storage: any ArchiveStorage) throws -> ArchiveWriter {
    let archives = try archives.get()
    return try ArchiveWriter.open(storage, key: archives.key, context: archives.context)
  }

  private func open(
    _ bytes: [UInt8], _ recovery: ArchiveRecovery = .strict
  ) throws -> Archive {
    let archives = try archives.get()
    let archive = try Archive.open(
      MemoryStorage(bytes), key: archives.key, context: archives.context, recovery: recovery)
    guard let archive else { throw Nothing() }
    return archive
  }

  private struct Nothing: Error {}

  private func write(
    _ writer: ArchiveWriter, _ texts: [UInt64: String], removing removed: [UInt64] = []
  ) throws {
    let builder = writer.builder()
    for (record, text) in texts.sorted(by: { $0.key < $1.key }) {
      try builder.append(record: record) { $0.encode(text, forKey: "text") }
    }
    try writer.append(builder.finish(), removing: removed)
  }

  private func texts(_ archive: Archive) throws -> [UInt64: String] {
    var texts: [UInt64: String] = [:]
    for record in try archive.readAll() {
      let decoder = try record.content.get()
      texts[record.identifier] = try decoder.decode(forKey: "text")
    }
    for (record, text) in texts {
      XCTAssertEqual(try archive.record(record)?.decode(String.self, forKey: "text"), text)
    }
    XCTAssertEqual(try archive.recordIdentifiers(), texts.keys.sorted())
    return texts
  }

  /// A file with a snapshot and three changes, and the state after each.
  private func history() throws -> (bytes: [UInt8], ends: [Int], states: [[UInt64: String]]) {
    let storage = MemoryStorage()
    let writer = try writer(storage)
    var ends: [Int] = []
    var states: [[UInt64: String]] = []
    func note() throws {
      ends.append(try XCTUnwrap(storage.bytes).count)
      states.append(try texts(try XCTUnwrap(writer.archive)))
    }
    try write(writer, [1: "one", 2: "two", 3: "three"])
    try note()
    try write(writer, [2: "two changed"])
    try note()
    try write(writer, [4: "four"], removing: [1])
    try note()
    try write(writer, [1: "one again", 2: "two again"], removing: [9])
    try note()
    return (try XCTUnwrap(storage.bytes), ends, states)
  }

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

  func testEveryBitFlipIsRefusedOrLeavesAnOlderState() throws {
    let (bytes, ends, states) = try history()
    for position in bytes.indices {
      for bit in 0..<8 {
        var changed = bytes
        changed[position] ^= 1 << bit
        XCTAssertNotNil(
          archiveError("byte \(position) bit \(bit)") { try open(changed).verifyAll() })
        guard let archive = try? open(changed, .recover) else { continue }
        guard (try? archive.verifyAll()) != nil else {
          XCTAssertLessThan(position, ends[0])
          continue
        }
        // The commits before the one that was hit.
        let intact = try XCTUnwrap(ends.firstIndex { position < $0 })
        XCTAssertEqual(try texts(archive), states[intact - 1])
        XCTAssertNotNil(archive.dropped)
      }
    }
  }

  func testEveryTruncationIsRefusedOrLeavesTheLastWholeChange() throws {
    let (bytes, ends, states) = try history()
    for count in bytes.indices {
      let cut = Array(bytes[..<count])
      let whole = ends.lastIndex { $0 <= count }
      if let whole, ends[whole] == count {
        XCTAssertEqual(try open(cut).version.generation, UInt64(whole) + 1)
      } else {
        XCTAssertEqual(archiveError { _ = try open(cut) }?.code, .truncated, "\(count) bytes")
      }
      if let whole {
        let archive = try open(cut, .recover)
        XCTAssertEqual(try texts(archive), states[whole])
        XCTAssertEqual(archive.dropped?.code, ends[whole] == count ? nil : .truncated)
      } else {
        XCTAssertEqual(archiveError { _ = try open(cut, .recover) }?.code, .truncated)
      }
    }
  }

  func testChangesThatAreRemovedSwappedOrRepeatedAreRefused() throws {
    let (bytes, ends, states) = try history()
    let parts = zip([0] + ends, ends).map { Array(bytes[$0..<$1]) }
    for (order, intact) in [
      ([0, 2, 3], 0), ([0, 1, 3], 1), ([0, 2, 1, 3], 0), ([0, 1, 1, 2], 1), ([0, 3, 2, 1], 0),
      ([0, 1, 2, 3, 3], 3), ([0, 0, 1], 0),
    ] {
      let mixed = order.flatMap { parts[$0] }
      XCTAssertNotNil(archiveError("\(order)") { _ = try open(mixed) })
      XCTAssertEqual(try texts(try open(mixed, .recover)), states[intact], "\(order)")
    }
  }

  func testGarbageAfterTheEndIsRefusedOrLeftOut() throws {
    let (bytes, ends, states) = try history()
    var lyingTrailer = Array(bytes[(ends[2] - 64)..<ends[2]])
    lyingTrailer.replaceSubrange(
      16..<24, with: (0..<8).map { UInt8(truncatingIfNeeded: (ends[3] - 288 + 64) >> ($0 * 8)) })
    let tails: [[UInt8]] = [
      [0], [UInt8](repeating: 0, count: 64), [UInt8](repeating: 7, count: 4096),
      Array(bytes.suffix(64)), lyingTrailer, Array(bytes.prefix(288)),
    ]
    for tail in tails {
      XCTAssertNotNil(archiveError { _ = try open(bytes + tail) })
      let archive = try open(bytes + tail, .recover)
      XCTAssertEqual(try texts(archive), states.last)
      XCTAssertNotNil(archive.dropped)
    }
  }

  func testASiblingOfAChangeIsRefused() throws {
    let (bytes, ends, states) = try history()
    let archives = try archives.get()
    func fork(_ text: String) throws -> [UInt8] {
      let storage = MemoryStorage(Array(bytes[..<ends[1]]))
      let writer = try ArchiveWriter.open(
        storage, key: archives.key, context: archives.context)
      try write(writer, [5: text])
      try write(writer, [6: text])
      return Array(try XCTUnwrap(storage.bytes)[ends[1]...])
    }
    let (one, other) = (try fork("a"), try fork("b"))
    XCTAssertEqual(one.count, other.count)
    let half = one.count / 2
    let spliced = Array(bytes[..<ends[1]] + one[..<half] + other[half...])
    XCTAssertNotNil(archiveError { _ = try open(spliced) })
    XCTAssertEqual(try texts(try open(spliced, .recover))[5], "a")
    XCTAssertNil(try texts(try open(spliced, .recover))[6])
    XCTAssertEqual(try texts(try open(Array(bytes[..<ends[1]]))), states[1])
  }

  func testATornEndIsCutOffBeforeTheNextChange() throws {
    let (bytes, ends, states) = try history()
    for count in [ends[3] - 1, ends[2] + 1, ends[2] + 100] {
      let storage = MemoryStorage(Array(bytes[..<count]))
      do {
        let writer = try writer(storage)
        XCTAssertEqual(writer.archive?.dropped?.code, .truncated)
        try write(writer, [7: "seven"])
        XCTAssertNil(writer.archive?.dropped)
      }
      let archive = try open(try XCTUnwrap(storage.bytes))
      XCTAssertEqual(try texts(archive), states[2].merging([7: "seven"]) { $1 })
    }
  }

  func testAReaderChangesNothing() throws {
    let (bytes, ends, _) = try history()
    let storage = MemoryStorage(Array(bytes[..<(ends[3] - 5)]))
    let archives = try archives.get()
    _ = try Archive.open(
      storage, key: archives.key, context: archives.context, recovery: .recover)
    XCTAssertEqual(storage.bytes?.count, ends[3] - 5)
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
    XCTAssertEqual(archiveError { try writer.append(late.finish()) }?.code, .outdated)
    XCTAssertEqual(archiveError { try writer.rewrite(late.finish()) }?.code, .outdated)
    XCTAssertEqual(try writer.archive?.recordIdentifiers(), [1, 3])
  }

  func testARecordCannotBeChangedAndRemovedAtOnce() throws {
    let writer = try writer(MemoryStorage())
    try write(writer, [1: "one"])
    XCTAssertEqual(
      archiveError { try write(writer, [1: "changed"], removing: [1]) }?.code, .malformed)
    XCTAssertEqual(archiveError { try write(writer, [:], removing: [0]) }?.code, .malformed)
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
    XCTAssertEqual(archiveError { try write(writer, [1: "one"]) }?.code, .forked)
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
    XCTAssertEqual(try directory.names(), [".a.rka.lock", "a.rka"])
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

  func testAStreamedArchiveIsTheSameAsOneThatWasBuiltWhole() throws {
    let archives = try archives.get()
    let storage = MemoryStorage()
    let summary = try Archive.write(
      to: storage, key: archives.key, context: archives.context, schema: 3
    ) { records in
      for record in (1...20_000 as ClosedRange<UInt64>).reversed() {
        try records.append(record: record) { $0.encode("text \(record)", forKey: "text") }
      }
    }
    XCTAssertEqual(summary.recordCount, 20_000)
    let archive = try archives.verified(try XCTUnwrap(storage.bytes))
    XCTAssertEqual(archive.schema, 3)
    XCTAssertEqual(try archive.recordIdentifiers().count, 20_000)
    XCTAssertEqual(try archive.record(77)?.decode(String.self, forKey: "text"), "text 77")
  }

  func testAStreamThatThrowsLeavesTheOldArchive() throws {
    struct Failure: Error {}
    let archives = try archives.get()
    let storage = MemoryStorage([1, 2, 3])
    XCTAssertThrowsError(
      try Archive.write(to: storage, key: archives.key, context: archives.context) { _ in
        throw Failure()
      }
    ) { XCTAssertTrue($0 is Failure) }
    XCTAssertEqual(storage.bytes, [1, 2, 3])
  }
}
