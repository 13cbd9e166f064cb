import ArchiveCodec
import Foundation
import Synchronization
import TestSupport
import XCTest

final class FileStorageTests: XCTestCase {
  private func write(_ text: String, to storage: FileStorage) throws(ArchiveError) {
    try storage.replace { sink throws(ArchiveError) in try sink.write(Array(text.utf8)) }
  }

  private func read(_ storage: FileStorage) throws -> String? {
    guard let file = try storage.open() else { return nil }
    return String(decoding: try file.read(at: 0, count: file.byteCount), as: UTF8.self)
  }

  private func mode(_ path: String) throws -> UInt32 {
    var status = stat()
    XCTAssertEqual(lstat(path, &status), 0)
    return UInt32(status.st_mode) & 0o7777
  }

  func testANewFileIsReadableByItsOwnerAloneAndSoAreItsDirectories() throws {
    let directory = try TemporaryDirectory()
    let old = umask(0)
    defer { umask(old) }
    let storage = FileStorage(path: directory.child("a/b/state.rka"))
    try write("one", to: storage)
    XCTAssertEqual(try mode(storage.path), 0o600)
    XCTAssertEqual(try mode(directory.child("a/b")), 0o700)
    XCTAssertEqual(try mode(directory.child("a")), 0o700)
    XCTAssertEqual(try read(storage), "one")
  }

  func testAFileWithAnotherModeIsReplacedByOneForItsOwner() throws {
    let directory = try TemporaryDirectory()
    let storage = FileStorage(path: directory.child("state.rka"))
    try directory.write([1], to: "state.rka")
    chmod(storage.path, 0o666)
    try write("two", to: storage)
    XCTAssertEqual(try mode(storage.path), 0o600)
    XCTAssertEqual(try directory.names(), ["state.rka"])
  }

  func testAStorageThatIsNotDurableKeepsReplacesAndRemovesAllTheSame() throws {
    let directory = try TemporaryDirectory()
    let storage = FileStorage(path: directory.child("state.rka"), isDurable: false)
    for text in ["old", "new"] {
      try write(text, to: storage)
      XCTAssertEqual(try read(storage), text)
      XCTAssertEqual(try mode(storage.path), 0o600)
    }
    XCTAssertEqual(try directory.names(), ["state.rka"])
    try storage.remove()
    XCTAssertNil(try storage.open())
  }

  func testNothingStoredIsNil() throws {
    let directory = try TemporaryDirectory()
    XCTAssertNil(try FileStorage(path: directory.child("none")).open())
    XCTAssertNil(try FileStorage(path: directory.child("no/such/directory")).open())
    XCTAssertNoThrow(try FileStorage(path: directory.child("none")).remove())
  }

  func testAWriteThatFailsLeavesTheOldFileAndNoOther() throws {
    let directory = try TemporaryDirectory()
    let storage = FileStorage(path: directory.child("state.rka"))
    try write("old", to: storage)
    let failure = archiveError {
      try storage.replace { sink throws(ArchiveError) in
        try sink.write([1, 2, 3])
        throw ArchiveError(.inputOutput)
      }
    }
    XCTAssertEqual(failure, ArchiveError(.inputOutput, location: storage.path))
    XCTAssertEqual(try read(storage), "old")
    XCTAssertEqual(try directory.names(), ["state.rka"])
  }

  func testASinkThatIsKeptWritesNowhere() throws {
    let directory = try TemporaryDirectory()
    let storage = FileStorage(path: directory.child("state.rka"))
    var kept: (any ArchiveSink)?
    try storage.replace { sink in kept = sink }
    XCTAssertEqual(try storage.open()?.byteCount, 0)
    XCTAssertEqual(
      archiveError { try kept?.write([1, 2, 3]) }, ArchiveError(.inputOutput, systemError: EBADF))
  }

  func testAnythingButAFileInItsPlaceIsRefusedAndStays() throws {
    let directory = try TemporaryDirectory()
    let target = FileStorage(path: directory.child("target"))
    try write("target", to: target)
    mkdir(directory.child("directory"), 0o700)
    mkfifo(directory.child("fifo"), 0o600)
    symlink(target.path, directory.child("link"))
    symlink(directory.child("nowhere"), directory.child("dangling"))
    let before = try directory.names()
    for name in ["directory", "fifo", "link", "dangling"] {
      let storage = FileStorage(path: directory.child(name))
      XCTAssertEqual(archiveError(name) { _ = try storage.open() }?.code, .notAFile, name)
      XCTAssertEqual(
        archiveError(name) { try write("x", to: storage) }?.code, .notAFile, name)
      XCTAssertEqual(archiveError(name) { try storage.remove() }?.code, .notAFile, name)
    }
    XCTAssertEqual(try directory.names(), before)
    XCTAssertEqual(try read(target), "target")
    XCTAssertEqual(
      archiveError { _ = try FileStorage(path: "/dev/null").open() },
      ArchiveError(.notAFile, location: "/dev/null"))
    XCTAssertEqual(
      archiveError { _ = try FileStorage(path: target.path + "/below").open() }?.code,
      .notAFile)
  }

  func testADirectoryBehindALinkIsAsGoodAsADirectory() throws {
    let directory = try TemporaryDirectory()
    mkdir(directory.child("real"), 0o700)
    symlink(directory.child("real"), directory.child("link"))
    let storage = FileStorage(path: directory.child("link/state.rka"))
    try write("one", to: storage)
    XCTAssertEqual(try read(FileStorage(path: directory.child("real/state.rka"))), "one")
  }

  func testADanglingLinkAmongTheFoldersIsNamedAndStays() throws {
    let directory = try TemporaryDirectory()
    let link = directory.child("dangling")
    symlink(directory.child("nowhere"), link)
    for path in ["dangling/state.rka", "dangling/below/state.rka"] {
      let storage = FileStorage(path: directory.child(path))
      let expected = ArchiveError(.notAFile, subject: "a link that leads nowhere", location: link)
      XCTAssertEqual(archiveError { try write("x", to: storage) }, expected)
      XCTAssertEqual(archiveError { _ = try storage.lock() }, expected)
      XCTAssertEqual(
        "\(expected)",
        "The path does not name a regular file. Move away what is there. (notAFile: a link that"
          + " leads nowhere, in \(link))")
      XCTAssertNil(try storage.open())
    }
    XCTAssertEqual(try directory.names(), ["dangling"])
  }

  func testAFullDiskIsReportedAndTheOldFileStays() throws {
    let directory = try TemporaryDirectory()
    let disk = try SmallDisk(over: directory.path)
    let storage = FileStorage(path: directory.child("state.rka"))
    try write("old", to: storage)
    let failure = archiveError {
      try storage.replace { sink throws(ArchiveError) in
        for _ in 0..<100 { try sink.write([UInt8](repeating: 0, count: 4096)) }
      }
    }
    XCTAssertEqual(
      failure, ArchiveError(.storageFull, systemError: ENOSPC, location: storage.path))
    XCTAssertEqual(try read(storage), "old")
    XCTAssertEqual(try directory.names(), ["state.rka"])
    _ = consume disk
  }

  func testADirectoryThatCannotBeSyncedIsNoFailureWhereThereIsNoSuchCall() throws {
    for number in [EINVAL, ENOTSUP, ENOSYS] {
      let directory = try TemporaryDirectory()
      let storage = FileStorage(path: directory.child("state.rka")) { _ in
        errno = number
        return -1
      }
      try write("old", to: storage)
      try write("new", to: storage)
      XCTAssertEqual(try read(storage), "new")
      try storage.remove()
      XCTAssertNil(try storage.open())
    }
  }

  func testAFailedSyncOfTheDirectorySaysThatTheChangeIsThere() throws {
    let directory = try TemporaryDirectory()
    let storage = FileStorage(path: directory.child("state.rka")) { _ in
      errno = EIO
      return -1
    }
    let failure = ArchiveError(.notDurable, systemError: EIO, location: storage.path)
    XCTAssertEqual(archiveError { try write("new", to: storage) }, failure)
    XCTAssertEqual(try read(storage), "new")
    XCTAssertEqual(unlink(storage.path), 0)
    XCTAssertEqual(archiveError { try write("newer", to: storage) }, failure)
    XCTAssertEqual(archiveError { try storage.remove() }, failure)
    XCTAssertNil(try storage.open())
  }

  func testADirectoryThatCannotBeOpenedFailsBeforeAnythingChanges() throws {
    let directory = try TemporaryDirectory()
    let storage = FileStorage(path: directory.child("state.rka"))
    try write("old", to: storage)
    // It may be written, but not opened to be synced.
    chmod(directory.path, 0o333)
    chown(directory.path, OrdinaryUser.identifier, OrdinaryUser.identifier)
    chown(storage.path, OrdinaryUser.identifier, OrdinaryUser.identifier)
    defer { chmod(directory.path, 0o755) }
    let user = OrdinaryUser()
    let replaced = archiveError { try write("new", to: storage) }
    let removed = archiveError { try storage.remove() }
    let left = Result { try read(storage) }
    _ = consume user
    XCTAssertEqual(
      replaced, ArchiveError(.permissionDenied, systemError: EACCES, location: storage.location))
    XCTAssertEqual(
      removed, ArchiveError(.permissionDenied, systemError: EACCES, location: storage.location))
    XCTAssertEqual(try left.get(), "old")
    chmod(directory.path, 0o755)
    XCTAssertEqual(try directory.names(), ["state.rka"])
  }

  func testALimitOnTheSizeOfFilesIsAnErrorAndEndsNoProcess() throws {
    let directory = try TemporaryDirectory()
    let storage = FileStorage(path: directory.child("state.rka"))
    try write("old", to: storage)
    var disposition = sigaction()
    XCTAssertEqual(sigaction(SIGXFSZ, nil, &disposition), 0)
    let limit = ProcessLimit(fileByteCount: 10_000)
    // Nothing is printed until the limit is gone: that is a file too.
    let replaced = Result {
      try storage.replace { sink throws(ArchiveError) in
        for _ in 0..<3 { try sink.write([UInt8](repeating: 7, count: 5000)) }
      }
    }
    let appended = Result {
      try storage.openForAppending()?.write([UInt8](repeating: 7, count: 20_000), at: 3)
    }
    _ = consume limit

    let failure = ArchiveError(.storageFull, systemError: EFBIG, location: storage.path)
    XCTAssertEqual(archiveError { try replaced.get() }, failure)
    XCTAssertEqual(archiveError { try appended.get() }?.systemError, EFBIG)
    XCTAssertEqual(try directory.names(), ["state.rka"])
    var mask = sigset_t()
    XCTAssertEqual(pthread_sigmask(SIG_BLOCK, nil, &mask), 0)
    XCTAssertEqual(sigismember(&mask, SIGXFSZ), 0)
    var pending = sigset_t()
    XCTAssertEqual(sigpending(&pending), 0)
    XCTAssertEqual(sigismember(&pending, SIGXFSZ), 0)
    var after = sigaction()
    XCTAssertEqual(sigaction(SIGXFSZ, nil, &after), 0)
    XCTAssertEqual(after.sa_flags, disposition.sa_flags)
  }

  func testWithoutPermissionNothingIsReadOrWritten() throws {
    let directory = try TemporaryDirectory()
    let storage = FileStorage(path: directory.child("state.rka"))
    try write("old", to: storage)
    chmod(storage.path, 0)
    chmod(directory.path, 0o555)
    defer { chmod(directory.path, 0o755) }
    let user = OrdinaryUser()
    XCTAssertEqual(
      archiveError { _ = try storage.open() },
      ArchiveError(.permissionDenied, systemError: EACCES, location: storage.location))
    XCTAssertEqual(
      archiveError { try write("new", to: storage) },
      ArchiveError(.permissionDenied, systemError: EACCES, location: storage.location))
    XCTAssertEqual(
      archiveError { try storage.remove() },
      ArchiveError(.permissionDenied, systemError: EACCES, location: storage.location))
    _ = consume user
    chmod(storage.path, 0o600)
    XCTAssertEqual(try read(storage), "old")
  }

  func testTheFirstSyncOfAFileThatWasFoundSyncsItsNameToo() throws {
    let directory = try TemporaryDirectory()
    let path = directory.child("state.rka")
    // Its writer was killed before it had synced the name.
    try write("one", to: FileStorage(path: path, isDurable: false))
    let count = Mutex(0)
    let storage = FileStorage(path: path) { _ in
      count.withLock { $0 += 1 }
      return 0
    }
    for opened in 1...2 {
      let file = try XCTUnwrap(try storage.openForAppending())
      try file.write(Array("more".utf8), at: 3)
      for _ in 0..<2 {
        try file.synchronize()
        XCTAssertEqual(count.withLock { $0 }, opened)
      }
    }
  }

  func testAFileWhoseNameCannotBeSyncedIsNotSaidToBe() throws {
    let directory = try TemporaryDirectory()
    let path = directory.child("state.rka")
    try write("one", to: FileStorage(path: path))
    let storage = FileStorage(path: path) { _ in
      errno = EIO
      return -1
    }
    let file = try XCTUnwrap(try storage.openForAppending())
    try file.write(Array("more".utf8), at: 3)
    XCTAssertEqual(
      archiveError { try file.synchronize() }, ArchiveError(.inputOutput, systemError: EIO))
  }

  func testARemovalOfNothingSyncsTheNamesAllTheSame() throws {
    let directory = try TemporaryDirectory()
    let count = Mutex(0)
    let storage = FileStorage(path: directory.child("state.rka")) { _ in
      count.withLock { $0 += 1 }
      return 0
    }
    // Who removed it may have been killed before it had synced that.
    try storage.remove()
    XCTAssertEqual(count.withLock { $0 }, 1)
    try FileStorage(path: directory.child("none/state.rka")).remove()
    XCTAssertEqual(try directory.names(), [])
  }
}
