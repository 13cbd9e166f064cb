import ArchiveCodec
import Foundation
import Synchronization
import TestSupport
import XCTest

/// What an open writer does when somebody else has touched its file or lock.
final class WriterOwnershipTests: JournalTestCase {
  private typealias Change = (name: String, make: (ArchiveWriter) throws -> Void)

  /// Every way to change an archive.
  private func changes() throws -> [Change] {
    let key = try ArchiveKey()
    return [
      ("append", { try self.write($0, [2: "two"]) }),
      ("remove", { try $0.append(RecordBuilder.none(for: $0), removing: [1]) }),
      ("rewrite", { try $0.rewrite(RecordBuilder().finish()) }),
      ("compact", { try $0.compact() }),
      ("check", { try $0.checkIsCurrent() }),
      ("add", { try $0.addSlot(.key(key)) }),
      ("rotate", { try $0.rotate(slots: [.key(key)]) }),
    ]
  }

  private func bytes(of storage: any ArchiveStorage) throws -> [UInt8]? {
    guard let file = try storage.open() else { return nil }
    return try file.read(at: 0, count: file.byteCount)
  }

  /// Each change must throw `outdated` and leave what somebody else has made.
  private func assertRefused(
    because reason: String = "the file was replaced or removed",
    after interference: (any ArchiveStorage) throws -> Void, line: UInt = #line
  ) throws {
    for change in try changes() {
      let directory = try TemporaryDirectory()
      let storages: [any ArchiveStorage] = [
        MemoryStorage(), FileStorage(path: directory.child("a.rka")),
      ]
      for storage in storages {
        let writer = try writer(storage)
        try write(writer, [1: "one"])
        try write(writer, [1: "one changed"])
        try interference(storage)
        let before = try bytes(of: storage)
        let error = archiveError(change.name) { try change.make(writer) }
        XCTAssertEqual(
          error, ArchiveError(.outdated, subject: reason, location: storage.location), change.name,
          line: line)
        XCTAssertEqual(try bytes(of: storage), before, change.name, line: line)
      }
    }
  }

  func testNoChangeTouchesAFileThatSomebodyHasPutInPlace() throws {
    let archives = try archives.get()
    let other = try archives.bytes {
      try $0.append(record: 9) { $0.encode("other", forKey: "text") }
    }
    try assertRefused { storage in
      try storage.replace { sink throws(ArchiveError) in try sink.write(other) }
    }
  }

  func testNoChangeTouchesTheSameBytesInAnotherFile() throws {
    try assertRefused { storage in
      let same = try XCTUnwrap(try self.bytes(of: storage))
      try storage.replace { sink throws(ArchiveError) in try sink.write(same) }
    }
  }

  func testNoChangeIsAcknowledgedOnceTheFileIsRemoved() throws {
    try assertRefused { try $0.remove() }
  }

  func testNoChangeIsAcknowledgedOnceTheFileIsMovedAway() throws {
    try assertRefused { storage in
      guard storage is FileStorage else { return try storage.remove() }
      XCTAssertEqual(rename(storage.location, storage.location + ".moved"), 0)
    }
  }

  func testNoChangeTouchesAFileThatHasGrownOrShrunk() throws {
    try assertRefused(because: "the file has another size") { storage in
      let file = try XCTUnwrap(try storage.openForAppending())
      try file.write([1, 2, 3], at: file.byteCount)
    }
    try assertRefused(because: "the file has another size") { storage in
      let file = try XCTUnwrap(try storage.openForAppending())
      try file.truncate(to: file.byteCount - 1)
    }
  }

  func testTheFirstFileDoesNotReplaceOneThatSomebodyHasPutThereMeanwhile() throws {
    let archives = try archives.get()
    let other = try archives.small()
    for change in try changes() where change.name != "add" {
      let storage = MemoryStorage()
      let writer = try writer(storage)
      storage.bytes = other
      XCTAssertEqual(
        archiveError(change.name) { try change.make(writer) },
        ArchiveError(.outdated, subject: "a file was put in place", location: "memory"), change.name
      )
      XCTAssertEqual(storage.bytes, other, change.name)
    }
  }

  func testOfTwoWritersOnlyTheOneWhoseLockIsInPlaceChangesTheFile() throws {
    let directory = try TemporaryDirectory()
    let storage = FileStorage(path: directory.child("a.rka"))
    let first = try writer(storage)
    try write(first, [1: "one"])
    try FileManager.default.removeItem(atPath: directory.child(".a.rka.lock"))
    let second = try writer(storage)
    try write(second, [2: "two"])
    for change in try changes() {
      XCTAssertEqual(
        archiveError(change.name) { try change.make(first) }?.code, .outdated, change.name)
    }
    try write(second, [3: "three"])
    let stored = try open(try XCTUnwrap(try bytes(of: storage)))
    XCTAssertEqual(try texts(stored), [1: "one", 2: "two", 3: "three"])
  }

  func testAWriterWhoseLockIsGoneDoesNotRemoveTheLockOfAnother() throws {
    let directory = try TemporaryDirectory()
    let storage = FileStorage(path: directory.child("a.rka"))
    var first: ArchiveWriter? = try writer(storage)
    XCTAssertNotNil(first)
    try FileManager.default.removeItem(atPath: directory.child(".a.rka.lock"))
    let second = try writer(storage)
    first = nil
    XCTAssertEqual(archiveError { _ = try self.writer(storage) }?.code, .locked)
    try write(second, [1: "one"])
  }

  func testTheErrorOfALockedArchiveSaysThatThisProcessHasIt() throws {
    let directory = try TemporaryDirectory()
    let storage = FileStorage(path: directory.child("a.rka"))
    let holder = try writer(storage)
    XCTAssertEqual(
      archiveError { _ = try self.writer(storage) },
      ArchiveError(.locked, subject: "this process", location: storage.path))
    _ = consume holder
  }

  func testALockLeavesNoFileBehindAndCanBeTakenAgain() throws {
    let directory = try TemporaryDirectory()
    let storage = FileStorage(path: directory.child("a.rka"))
    for _ in 0..<3 {
      XCTAssertFalse(try storage.isLocked())
      let lock = try storage.lock()
      XCTAssertTrue(try storage.isLocked())
      XCTAssertTrue(try lock.isHeld())
      XCTAssertEqual(try directory.names(), [".a.rka.lock"])
      _ = consume lock
      XCTAssertEqual(try directory.names(), [])
    }
  }

  func testALockFileThatAKilledProcessLeftLocksNothing() throws {
    let directory = try TemporaryDirectory()
    let storage = FileStorage(path: directory.child("a.rka"))
    try directory.write(Array("process 1, long gone".utf8), to: ".a.rka.lock")
    XCTAssertFalse(try storage.isLocked())
    try write(try writer(storage), [1: "one"])
    XCTAssertEqual(try directory.names(), ["a.rka"])
  }

  func testBytesAtANegativePlaceAreRefused() throws {
    let directory = try TemporaryDirectory()
    try directory.write([1, 2, 3], to: "a.rka")
    for storage in [MemoryStorage([1, 2, 3]), FileStorage(path: directory.child("a.rka"))]
      as [any ArchiveStorage]
    {
      let file = try XCTUnwrap(try storage.openForAppending())
      XCTAssertEqual(archiveError { try file.write([7], at: -1) }?.code, .inputOutput)
      XCTAssertEqual(archiveError { try file.truncate(to: -1) }?.code, .inputOutput)
      XCTAssertEqual(try bytes(of: storage), [1, 2, 3])
    }
  }

  func testAWriterTakesTheLockThatItIsGiven() throws {
    let archives = try archives.get()
    let storage = MemoryStorage()
    let lock = try storage.lock()
    do {
      let writer = try ArchiveWriter(
        storage, with: .key(archives.key), context: archives.context, lock: lock)
      try write(writer, [1: "one"])
    }
    XCTAssertTrue(try storage.isLocked())
    _ = consume lock
    XCTAssertFalse(try storage.isLocked())
  }

  func testAChangeAsksForTheLockOnceAndIsRefusedWithoutIt() throws {
    let archives = try archives.get()
    let storage = MemoryStorage()
    let lock = CountedLock()
    let writer = try ArchiveWriter(
      storage, with: .key(archives.key), context: archives.context, lock: lock)
    try write(writer, [1: "one"])
    let countBefore = lock.count
    try write(writer, [2: "two"])
    XCTAssertEqual(lock.count - countBefore, 1)

    let bytes = storage.bytes
    lock.isTaken = true
    XCTAssertEqual(
      archiveError { try write(writer, [3: "three"]) },
      ArchiveError(.outdated, subject: "the lock was removed", location: "memory"))
    XCTAssertEqual(storage.bytes, bytes)
  }
}

/// A lock that counts how often somebody asks for it.
private final class CountedLock: ArchiveLock {
  private let state = Mutex((count: 0, isTaken: false))

  var count: Int { state.withLock { $0.count } }

  /// Whether somebody else has taken it away.
  var isTaken: Bool {
    get { state.withLock { $0.isTaken } }
    set { state.withLock { $0.isTaken = newValue } }
  }

  func isHeld() throws(ArchiveError) -> Bool {
    state.withLock { state in
      state.count += 1
      return !state.isTaken
    }
  }
}

extension RecordBuilder {
  /// No records, for a change of a writer's archive.
  fileprivate static func none(for writer: ArchiveWriter) throws -> RecordBatch {
    try writer.builder().finish()
  }
}
