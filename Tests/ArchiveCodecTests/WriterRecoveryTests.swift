import ArchiveCodec
import Foundation
import Synchronization
import TestSupport
import XCTest

/// How a writer goes on after a failure.
final class WriterRecoveryTests: JournalTestCase {
  func testWhatIsAcknowledgedAfterAFailedSyncAndARewriteSurvivesAPowerCut() throws {
    let storage = DroppingStorage()
    let writer = try writer(storage)
    try write(writer, [1: "one"])
    let builder = writer.builder()
    try builder.append(record: 2) { $0.encode("two", forKey: "text") }
    try writer.append(builder.finish())
    storage.failsNextSync = true
    XCTAssertEqual(
      archiveError { try write(writer, [3: "not acknowledged"]) },
      ArchiveError(.inputOutput, systemError: EIO, location: "dropping"))
    XCTAssertEqual(
      archiveError { try write(writer, [3: "x"]) },
      ArchiveError(.poisoned, systemError: EIO, location: "dropping"))
    try writer.compact()
    try write(writer, [3: "acknowledged as durable"])
    XCTAssertEqual(
      try texts(try open(storage.bytesAfterPowerCut)),
      [1: "one", 2: "two", 3: "acknowledged as durable"])
  }

  func testARewriteThatFailedOnceIsTriedAgainBeforeTheFileTakesNoMoreChanges() throws {
    let archives = try archives.get()
    let fails = Mutex(false)
    let replaceCount = Mutex(0)
    let storage = FaultyStorage { call, _ in
      guard call == .replace else { return nil }
      replaceCount.withLock { $0 += 1 }
      return fails.withLock { $0 } ? ArchiveError(.storageFull) : nil
    }
    let writer = try ArchiveWriter(
      storage, with: .key(archives.key), context: archives.context,
      limits: ArchiveLimits(symbolCount: 1 << 16, commitCount: 16))
    try write(writer, [1: String(repeating: "large snapshot ", count: 40_000)])
    fails.withLock { $0 = true }
    while writer.compactionFailure == nil { try write(writer, [2: "small"]) }
    fails.withLock { $0 = false }
    for change in 0..<40 {
      XCTAssertNoThrow(try write(writer, [2: "small \(change)"]), "\(change)")
    }
    XCTAssertGreaterThan(replaceCount.withLock { $0 }, 2)
  }

  func testACompactionThatIsNotDurableLeavesAWriterThatTakesChanges() throws {
    let fails = Mutex(false)
    let storage = FaultyStorage { call, _ in
      call == .publish && fails.withLock { $0 } ? ArchiveError(.inputOutput, systemError: 5) : nil
    }
    let writer = try writer(storage)
    try write(writer, [1: "one"])
    fails.withLock { $0 = true }
    try write(writer, [2: String(repeating: "long ", count: 14_000)])
    fails.withLock { $0 = false }
    XCTAssertEqual(
      writer.compactionFailure, ArchiveError(.notDurable, systemError: EIO, location: "faulty"))
    // "The change is stored all the same, and the journal grows until a later
    // rewrite succeeds."
    XCTAssertNoThrow(try write(writer, [3: "three"]))
  }

  func testAfterAFailedWriteAStrictReaderOpensTheArchiveAsBeforeAlsoWhenTheWriterIsGone() throws {
    let fails = Mutex(false)
    let storage = FaultyStorage { call, _ in
      [.write, .truncate].contains(call) && fails.withLock { $0 }
        ? ArchiveError(.inputOutput) : nil
    }
    do {
      let writer = try writer(storage)
      try write(writer, [1: "one"])
      fails.withLock { $0 = true }
      XCTAssertNotNil(archiveError { try write(writer, [2: "two"]) })
      fails.withLock { $0 = false }
    }
    let archives = try archives.get()
    XCTAssertNoThrow(
      try Archive.open(storage, key: archives.key, context: archives.context))
  }

  func testAFailedCutWhoseSizeCannotBeAskedTakesNoMoreChangesUntilTheFileIsRewritten() throws {
    for failing in [FaultyStorage.Call.write, .sync] {
      let fails = Mutex(false)
      let hasFailed = Mutex(false)
      let storage = FaultyStorage { call, _ in
        guard fails.withLock({ $0 }) else { return nil }
        if call == failing { hasFailed.withLock { $0 = true } }
        // Before that the size is known.
        let isCutOrAsked = call == .truncate || call == .askForSize
        guard call == failing || isCutOrAsked && hasFailed.withLock({ $0 }) else { return nil }
        return ArchiveError(.inputOutput, systemError: 5)
      }
      let writer = try writer(storage)
      try write(writer, [1: "one"])
      fails.withLock { $0 = true }
      XCTAssertEqual(
        archiveError { try write(writer, [2: "two"]) },
        ArchiveError(
          failing == .write ? .inputOutput : .notDurable, systemError: 5, location: "faulty"))
      fails.withLock { $0 = false }
      let known: [UInt64: String] = failing == .write ? [1: "one"] : [1: "one", 2: "two"]
      XCTAssertEqual(try texts(try XCTUnwrap(writer.archive)), known)
      XCTAssertEqual(
        archiveError { try write(writer, [3: "three"]) },
        ArchiveError(
          .poisoned, systemError: failing == .write ? nil : EIO, location: "faulty"))
      try writer.compact()
      try write(writer, [3: "three"])
      XCTAssertEqual(
        try texts(try open(try XCTUnwrap(storage.durableBytes))), known.merging([3: "three"]) { $1 }
      )
    }
  }

  func testWhatCouldNotBeCutOffGoesWithTheWriterAlsoIfItsSizeWasNotKnown() throws {
    let fails = Mutex(false)
    let hasFailed = Mutex(false)
    let storage = FaultyStorage { call, _ in
      guard fails.withLock({ $0 }) else { return nil }
      if call == .write { hasFailed.withLock { $0 = true } }
      return hasFailed.withLock { $0 } ? ArchiveError(.inputOutput) : nil
    }
    var before: [UInt8]?
    do {
      let writer = try writer(storage)
      try write(writer, [1: "one"])
      before = storage.bytes
      fails.withLock { $0 = true }
      XCTAssertNotNil(archiveError { try write(writer, [2: "two"]) })
      fails.withLock { $0 = false }
      XCTAssertNotEqual(storage.bytes, before)
    }
    XCTAssertEqual(storage.bytes, before)
  }

  func testAChangeIsNotAcknowledgedIfTheFileWasTakenAwayWhileItWasWritten() throws {
    let storages = Mutex<[MemoryStorage]>([])
    let storage = MemoryStorage()
    let archives = try archives.get()
    let other = try archives.small()
    let hooked = SyncHookStorage(storage) { storages.withLock { $0.first?.bytes = other } }
    let writer = try writer(hooked)
    try write(writer, [1: "one"])
    storages.withLock { $0 = [storage] }
    XCTAssertEqual(
      archiveError { try write(writer, [2: "two"]) },
      ArchiveError(.outdated, subject: "the file was replaced or removed", location: "memory"))
    XCTAssertEqual(storage.bytes, other)
  }

  func testAFileThatCouldNotBeOpenedAfterARewriteIsOpenedWithTheNextChange() throws {
    let storage = UnopenableStorage()
    let writer = try writer(storage)
    try write(writer, [1: "old"])
    storage.isOpenable = false
    let builder = RecordBuilder()
    try builder.append(record: 1) { $0.encode("new", forKey: "text") }
    let summary = try writer.rewrite(builder.finish())
    XCTAssertEqual(archiveError { try write(writer, [2: "two"]) }?.systemError, EMFILE)
    let slots = writer.slots
    storage.isOpenable = true
    try writer.checkIsCurrent()
    XCTAssertEqual(writer.archive?.version, summary.version)
    XCTAssertEqual(writer.slots, slots, "those of the file that is in place")
    try write(writer, [2: "two"])
    XCTAssertEqual(try texts(try XCTUnwrap(writer.archive)), [1: "new", 2: "two"])

    // Somebody else may have put another one there meanwhile.
    storage.isOpenable = false
    try writer.compact()
    let archives = try archives.get()
    let other = try archives.small()
    try storage.replace { sink throws(ArchiveError) in try sink.write(other) }
    storage.isOpenable = true
    XCTAssertEqual(
      archiveError { try write(writer, [3: "three"]) },
      ArchiveError(.outdated, subject: "the file was replaced or removed", location: "unopenable"))
    let file = try XCTUnwrap(try storage.open())
    XCTAssertEqual(try file.read(at: 0, count: file.byteCount), other)
  }

  func testNamesThatAreTooManyAreRefusedBeforeTheChangeIsWritten() throws {
    let archives = try archives.get()
    let storage = MemoryStorage()
    let first = RecordBuilder()
    try first.append(record: 1) { _ in }
    try ArchiveWriter.open(storage, key: archives.key, context: archives.context)
      .append(first.finish())
    let writer = try ArchiveWriter.open(
      storage, key: archives.key, context: archives.context, limits: ArchiveLimits(symbolCount: 2))
    let before = storage.bytes
    let many = RecordBuilder()
    try many.append(record: 2) { encoder in
      for name in ["a", "b", "c"] { encoder.encode(1, forKey: name) }
    }
    XCTAssertEqual(archiveError { try writer.append(many.finish()) }?.code, .limitExceeded)
    XCTAssertEqual(storage.bytes, before)
  }

  /// The change must not go to the file that the rewrite has replaced.
  func testAChangeAfterARewriteThatMadeRoomForItGoesToTheNewFile() throws {
    let archives = try archives.get()
    let storage = UnopenableStorage()
    let before = try writer(storage)
    for number in 0..<16 { try write(before, [1: "\(number)"]) }
    _ = consume before
    let writer = try ArchiveWriter.open(
      storage, key: archives.key, context: archives.context,
      limits: ArchiveLimits(symbolCount: 1 << 16, commitCount: 16))
    storage.isOpenable = false
    XCTAssertEqual(archiveError { try write(writer, [2: "two"]) }?.systemError, EMFILE)
    storage.isOpenable = true
    try write(writer, [3: "three"])
    XCTAssertEqual(try texts(try XCTUnwrap(writer.archive)), [1: "15", 3: "three"])
  }
}

/// A storage whose file cannot be opened at times, as without free descriptors.
private final class UnopenableStorage: ArchiveStorage {
  private let memory = MemoryStorage()
  private let openable = Mutex(true)

  var isOpenable: Bool {
    get { openable.withLock { $0 } }
    set { openable.withLock { $0 = newValue } }
  }

  let location = "unopenable"

  func open() throws(ArchiveError) -> (any ArchiveFile)? { try memory.open() }
  func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)? {
    guard isOpenable else { throw ArchiveError(.inputOutput, systemError: EMFILE) }
    return try memory.openForAppending()
  }
  func replace(_ body: (any ArchiveSink) throws(ArchiveError) -> Void) throws(ArchiveError) {
    try memory.replace(body)
  }
  func lock() throws(ArchiveError) -> any ArchiveLock { try memory.lock() }
  func isLocked() throws(ArchiveError) -> Bool { try memory.isLocked() }
  func remove() throws(ArchiveError) { try memory.remove() }
}

/// A disk that drops the pages of a sync that failed and then calls them clean,
/// as Linux does: they can be read until the power goes, and no later sync
/// writes them.
private final class DroppingStorage: ArchiveStorage {
  fileprivate struct State {
    var bytes: [UInt8]?
    /// What is on the disk, and which bytes are still to be written.
    var disk: [UInt8] = []
    var dirty: Range<Int> = 0..<0
    var failsNextSync = false
    var fileNumber = 0
    var isLocked = false
  }

  fileprivate let state = Mutex(State())
  let location = "dropping"

  var failsNextSync: Bool {
    get { state.withLock { $0.failsNextSync } }
    set { state.withLock { $0.failsNextSync = newValue } }
  }

  var bytesAfterPowerCut: [UInt8] { state.withLock { $0.disk } }

  func open() throws(ArchiveError) -> (any ArchiveFile)? { try openForAppending() }

  func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)? {
    state.withLock { state in
      state.bytes.map { File(storage: self, number: state.fileNumber, byteCount: $0.count) }
    }
  }

  func replace(_ body: (any ArchiveSink) throws(ArchiveError) -> Void) throws(ArchiveError) {
    let sink = MemorySink()
    try body(sink)
    state.withLock { state in
      state.bytes = sink.bytes
      state.disk = sink.bytes
      state.dirty = sink.bytes.count..<sink.bytes.count
      state.fileNumber += 1
    }
  }

  func lock() throws(ArchiveError) -> any ArchiveLock { Lock() }
  func isLocked() throws(ArchiveError) -> Bool { false }
  func remove() throws(ArchiveError) {}

  private final class Lock: ArchiveLock {
    func isHeld() throws(ArchiveError) -> Bool { true }
  }

  private struct File: AppendableArchiveFile {
    let storage: DroppingStorage
    let number: Int
    let byteCount: Int

    func read(at offset: Int, count: Int) throws(ArchiveError) -> [UInt8] {
      let bytes = storage.state.withLock { $0.bytes } ?? []
      guard offset + count <= bytes.count else { throw ArchiveError(.truncated) }
      return Array(bytes[offset..<offset + count])
    }

    func storedByteCount() throws(ArchiveError) -> Int? {
      storage.state.withLock { $0.fileNumber == number ? $0.bytes?.count : nil }
    }

    func write(_ bytes: [UInt8], at offset: Int) throws(ArchiveError) {
      storage.state.withLock { state in
        state.bytes = Array((state.bytes ?? []).prefix(offset)) + bytes
        let end = offset + bytes.count
        state.dirty =
          state.dirty.isEmpty ? offset..<end : min(state.dirty.lowerBound, offset)..<end
      }
    }

    func truncate(to byteCount: Int) throws(ArchiveError) {
      storage.state.withLock { state in
        state.bytes = Array((state.bytes ?? []).prefix(byteCount))
        state.disk = Array(state.disk.prefix(byteCount))
        state.dirty =
          min(
            state.dirty.lowerBound, byteCount)..<min(
            state.dirty.upperBound, byteCount)
      }
    }

    func synchronize() throws(ArchiveError) {
      let fails = storage.state.withLock { state in
        defer {
          state.dirty = 0..<0
          state.failsNextSync = false
        }
        let bytes = state.bytes ?? []
        // Pages that were dropped are holes on the disk.
        if state.disk.count < bytes.count {
          state.disk += [UInt8](repeating: 0, count: bytes.count - state.disk.count)
        }
        if !state.failsNextSync {
          state.disk.replaceSubrange(state.dirty, with: bytes[state.dirty])
        }
        return state.failsNextSync
      }
      if fails { throw ArchiveError(.inputOutput, systemError: 5) }
    }
  }
}

/// Calls somebody while a change is synced.
private struct SyncHookStorage: ArchiveStorage {
  let storage: MemoryStorage
  let hook: @Sendable () -> Void

  init(_ storage: MemoryStorage, onSync hook: @escaping @Sendable () -> Void) {
    self.storage = storage
    self.hook = hook
  }

  var location: String { storage.location }
  func open() throws(ArchiveError) -> (any ArchiveFile)? { try storage.open() }
  func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)? {
    try storage.openForAppending().map { File(file: $0, hook: hook) }
  }
  func replace(_ body: (any ArchiveSink) throws(ArchiveError) -> Void) throws(ArchiveError) {
    try storage.replace(body)
  }
  func lock() throws(ArchiveError) -> any ArchiveLock { try storage.lock() }
  func isLocked() throws(ArchiveError) -> Bool { try storage.isLocked() }
  func remove() throws(ArchiveError) { try storage.remove() }

  private struct File: AppendableArchiveFile {
    let file: any AppendableArchiveFile
    let hook: @Sendable () -> Void

    var byteCount: Int { file.byteCount }
    func read(at offset: Int, count: Int) throws(ArchiveError) -> [UInt8] {
      try file.read(at: offset, count: count)
    }
    func storedByteCount() throws(ArchiveError) -> Int? { try file.storedByteCount() }
    func write(_ bytes: [UInt8], at offset: Int) throws(ArchiveError) {
      try file.write(bytes, at: offset)
    }
    func truncate(to byteCount: Int) throws(ArchiveError) { try file.truncate(to: byteCount) }
    func synchronize() throws(ArchiveError) {
      hook()
      try file.synchronize()
    }
  }
}
