import ArchiveCodec
import Foundation
import Synchronization
import TestSupport
import XCTest

/// Removing many archives that were set aside.
final class SetAsideRemovalTests: XCTestCase {
  private func write(_ text: String, to storage: FileStorage) throws(ArchiveError) {
    try storage.replace { sink throws(ArchiveError) in try sink.write(Array(text.utf8)) }
  }

  private func setAside(_ count: Int, in storage: FileStorage) throws {
    for number in 0..<count {
      try write("\(number)", to: storage)
      let date = Date(timeIntervalSince1970: 1_795_224_548 + TimeInterval(number))
      XCTAssertNotNil(try storage.setAside(.crashed, at: date))
    }
  }

  func testManyGoWithOneSync() throws {
    for count in [1, 2, 50] {
      let directory = try TemporaryDirectory()
      let path = directory.child("state.rka")
      try setAside(count, in: FileStorage(path: path, isDurable: false))
      let syncCount = Mutex(0)
      let storage = FileStorage(path: path) { _ in
        syncCount.withLock { $0 += 1 }
        return 0
      }
      try storage.removeSetAside(try storage.setAsideArchives())
      XCTAssertEqual(syncCount.withLock { $0 }, 1)
      XCTAssertEqual(try directory.names(), [])
    }
  }

  #if os(Linux)
  func testTheDirectoryIsOpenedAsOftenForManyAsForOne() throws {
    let counts = try [1, 2, 50].map { count in
      let directory = try TemporaryDirectory()
      let storage = FileStorage(path: directory.child("state.rka"), isDurable: false)
      try setAside(count, in: storage)
      let archives = try storage.setAsideArchives()
      let openings = try Openings(of: directory.path)
      try storage.removeSetAside(archives)
      return try openings.count()
    }
    XCTAssertEqual(counts, [1, 1, 1])
  }
  #endif

  func testOneThatCannotBeRemovedStaysListedAndTheOthersGo() throws {
    let directory = try TemporaryDirectory()
    let storage = FileStorage(path: directory.child("state.rka"))
    try setAside(4, in: storage)
    let archives = try storage.setAsideArchives()
    // Others have put a folder in the place of the second one.
    let folder = archives[1].storage.location
    XCTAssertEqual(unlink(folder), 0)
    XCTAssertEqual(mkdir(folder, 0o700), 0)
    let foreign = archives.map {
      SetAsideArchive(
        identifier: $0.identifier, reason: $0.reason, date: $0.date, storage: MemoryStorage([1]))
    }
    XCTAssertEqual(
      archiveError { try storage.removeSetAside([foreign[0], foreign[1], foreign[3]]) },
      ArchiveError(.notAFile, location: folder))
    XCTAssertEqual(
      try storage.setAsideArchives().map(\.storage.location), [archives[2].storage.location])
    XCTAssertEqual(rmdir(folder), 0)
    try storage.removeSetAside(archives)
    XCTAssertEqual(try directory.names(), [])
    // Nor is it an error that all are gone, with their directory.
    try storage.removeSetAside(archives)
    XCTAssertEqual(rmdir(directory.path), 0)
    try storage.removeSetAside(archives)
  }

  func testADirectoryThatCannotBeSyncedIsSaidWhenAllAreGone() throws {
    let directory = try TemporaryDirectory()
    let path = directory.child("state.rka")
    try setAside(3, in: FileStorage(path: path, isDurable: false))
    let storage = FileStorage(path: path) { _ in
      errno = EIO
      return -1
    }
    XCTAssertEqual(
      archiveError { try storage.removeSetAside(try storage.setAsideArchives()) },
      ArchiveError(.notDurable, systemError: EIO, location: path))
    XCTAssertEqual(try directory.names(), [])
  }

  func testWhatKilledWritersHaveLeftOfThemGoesWithThemAndNoOther() throws {
    let directory = try TemporaryDirectory()
    let storage = FileStorage(path: directory.child("state.rka"))
    try setAside(2, in: storage)
    let archives = try storage.setAsideArchives()
    let names = archives.map { "state.rka.\($0.identifier)" }
    for name in names { try directory.write([1], to: ".\(name).abc.tmp") }
    try storage.removeSetAside([archives[0]])
    XCTAssertEqual(try directory.names(), [".\(names[1]).abc.tmp", names[1]])
  }

  func testNothingIsRemovedThatIsNotNamedAsIfItWasSetAside() throws {
    let directory = try TemporaryDirectory()
    let storage = FileStorage(path: directory.child("state.rka"))
    try setAside(1, in: storage)
    try directory.write([1], to: "state.rka.other")
    let before = try directory.names()
    let foreign = SetAsideArchive(
      identifier: "other", reason: nil, date: Date(), storage: MemoryStorage([1]))
    XCTAssertEqual(
      archiveError { try storage.removeSetAside(try storage.setAsideArchives() + [foreign]) },
      ArchiveError(.notAFile, location: storage.location))
    XCTAssertEqual(try directory.names(), before)
  }

  func testAStorageThatKnowsOnlyTheirOwnRemovalTriesAllAndSaysTheFirstThatIsStillThere() throws {
    struct Stubborn: StorageWithoutBatches {
      let storage = MemoryStorage([1])
      let error: ArchiveError

      func remove() throws(ArchiveError) { throw error }
    }
    let codes: [ArchiveError.Code] = [.notDurable, .permissionDenied, .inputOutput]
    let (first, last) = (MemoryStorage([1]), MemoryStorage([1]))
    let storages: [any ArchiveStorage] =
      [first] + codes.map { Stubborn(error: ArchiveError($0)) } + [last]
    let archives = storages.enumerated().map { number, storage in
      SetAsideArchive(identifier: "\(number)", reason: .crashed, date: Date(), storage: storage)
    }
    let owner = FaultyStorage()
    XCTAssertEqual(
      archiveError { try owner.removeSetAside(archives) }, ArchiveError(.permissionDenied))
    XCTAssertEqual([first.bytes, last.bytes], [nil, nil])
  }
}

/// A storage of an app that was written when there was nothing to remove many at once.
private protocol StorageWithoutBatches: ArchiveStorage {
  var storage: MemoryStorage { get }
}

extension StorageWithoutBatches {
  var location: String { storage.location }

  func open() throws(ArchiveError) -> (any ArchiveFile)? { try storage.open() }

  func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)? {
    try storage.openForAppending()
  }

  func replace(_ body: (any ArchiveSink) throws(ArchiveError) -> Void) throws(ArchiveError) {
    try storage.replace(body)
  }

  func lock() throws(ArchiveError) -> any ArchiveLock { try storage.lock() }

  func isLocked() throws(ArchiveError) -> Bool { try storage.isLocked() }

  func setAside() throws(ArchiveError) -> String? { try storage.setAside() }
}

#if os(Linux)
/// How often a directory is opened, also to be listed.
private struct Openings: ~Copyable {
  private let descriptor: CInt

  init(of path: String) throws {
    descriptor = inotify_init1(CInt(IN_NONBLOCK))
    // With the closings, so that no opening looks like the one before it and is left out.
    guard inotify_add_watch(descriptor, path, UInt32(IN_OPEN | IN_CLOSE_NOWRITE)) >= 0 else {
      throw ArchiveError(systemError: errno)
    }
  }

  deinit {
    close(descriptor)
  }

  func count() throws -> Int {
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let byteCount = read(descriptor, &bytes, bytes.count)
    guard byteCount > 0 else { return 0 }
    func number(at offset: Int) -> UInt32 {
      (0..<4).reduce(0) { $0 | UInt32(bytes[offset + $1]) << (8 * UInt32($1)) }
    }
    var (offset, count) = (0, 0)
    while offset < byteCount {
      // The watch, what happened, a number, and the length of a name, which a directory has not.
      let (mask, length) = (number(at: offset + 4), number(at: offset + 12))
      if mask & UInt32(IN_OPEN) != 0, length == 0 { count += 1 }
      offset += 16 + Int(length)
    }
    return count
  }
}
#endif
