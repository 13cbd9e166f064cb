import ArchiveCodec
import Dispatch
import Foundation
import Synchronization
import TestSupport
import XCTest

/// Files of locks that somebody else has left behind, or that were made in an odd way.
final class LeftLockFileTests: XCTestCase {
  private let lockName = ".a.rka.lock"

  private func status(_ path: String) -> stat {
    var status = stat()
    XCTAssertEqual(lstat(path, &status), 0)
    return status
  }

  private func mode(_ path: String) -> UInt32 { UInt32(status(path).st_mode) & 0o7777 }

  /// A directory of an ordinary user, in which root can do everything.
  private func directoryOfUser() throws -> TemporaryDirectory {
    guard OrdinaryUser.isNeeded else {
      throw XCTSkip("Only root can make a file that the user may not open.")
    }
    let directory = try TemporaryDirectory()
    XCTAssertEqual(chown(directory.path, OrdinaryUser.identifier, OrdinaryUser.identifier), 0)
    return directory
  }

  private func errorOfLock(_ storage: FileStorage) -> ArchiveError? {
    do throws(ArchiveError) {
      _ = try storage.lock()
      return nil
    } catch {
      return error
    }
  }

  #if os(Linux)
  func testALockFileOfAnotherUserThatNobodyHoldsIsReplaced() throws {
    let directory = try directoryOfUser()
    try directory.write([UInt8](repeating: 7, count: 4096), to: lockName)
    XCTAssertEqual(chmod(directory.child(lockName), 0o600), 0)
    let storage = FileStorage(path: directory.child("a.rka"))
    let user = OrdinaryUser()
    let lock = Result { try storage.lock() }
    let isHeld = Result { try lock.get().isHeld() }
    let second = errorOfLock(storage)
    _ = consume user
    XCTAssertTrue(try isHeld.get())
    XCTAssertEqual(second?.code, .locked)
    XCTAssertEqual(try directory.names(), [lockName])
    XCTAssertEqual(status(directory.child(lockName)).st_uid, OrdinaryUser.identifier)
    XCTAssertEqual(mode(directory.child(lockName)), 0o600)
  }

  /// A new file gets the number of one that is gone, and may be locked at once.
  func testALockFileOfAnotherUserIsReplacedWhileOtherFilesAreLocked() throws {
    let directory = try directoryOfUser()
    let storage = FileStorage(path: directory.child("a.rka"))
    let isDone = Atomic(false)
    let others = Mutex(0)
    DispatchQueue.global().async {
      others.withLock { count in
        while !isDone.load(ordering: .relaxed) {
          count += 1
          _ = try? FileStorage(path: directory.child("b\(count).rka")).lock()
        }
      }
    }
    for _ in 0..<2000 {
      try directory.write([7], to: lockName)
      XCTAssertEqual(chmod(directory.child(lockName), 0o600), 0)
      let user = OrdinaryUser()
      let error = errorOfLock(storage)
      _ = consume user
      XCTAssertNil(error)
    }
    isDone.store(true, ordering: .relaxed)
    XCTAssertGreaterThan(others.withLock { $0 }, 0)
  }

  func testALockFileOfAnotherUserWhoIsAliveStays() throws {
    let directory = try directoryOfUser()
    let storage = FileStorage(path: directory.child("a.rka"))
    let held = try storage.lock()
    let before = status(directory.child(lockName))
    let user = OrdinaryUser()
    let error = errorOfLock(storage)
    _ = consume user
    XCTAssertEqual(
      error,
      ArchiveError(.locked, subject: "a process of another user", location: storage.location))
    XCTAssertEqual(status(directory.child(lockName)).st_ino, before.st_ino)
    XCTAssertTrue(try held.isHeld())
    XCTAssertEqual(try directory.names(), [lockName])
    _ = consume held
  }
  #endif

  func testALockFileWithAnotherNameIsReplacedAndItsRecordIsCopied() throws {
    let directory = try TemporaryDirectory()
    let record = [UInt8](repeating: 32, count: 128) + (0..<3968).map { UInt8($0 % 251) }
    try directory.write(record, to: lockName)
    XCTAssertEqual(link(directory.child(lockName), directory.child("copy")), 0)
    let storage = FileStorage(path: directory.child("a.rka"))
    let lock = try storage.lock()
    XCTAssertTrue(try lock.isHeld())
    XCTAssertEqual(errorOfLock(storage)?.code, .locked)
    XCTAssertEqual(try directory.bytes(of: "copy"), record)
    XCTAssertEqual(try directory.bytes(of: lockName)[128...], record[128...])
    XCTAssertNotEqual(
      status(directory.child(lockName)).st_ino, status(directory.child("copy")).st_ino)
    XCTAssertEqual(mode(directory.child(lockName)), 0o600)
    _ = consume lock
    XCTAssertEqual(try directory.names(), [lockName, "copy"])
  }

  /// The copy has the same lock as long as one of the two has not been locked anew.
  func testALockFileWithAnotherNameThatSomebodyHoldsStays() throws {
    let directory = try TemporaryDirectory()
    let storage = FileStorage(path: directory.child("a.rka"))
    let held = try storage.lock()
    XCTAssertEqual(link(directory.child(lockName), directory.child(".b.rka.lock")), 0)
    XCTAssertEqual(errorOfLock(storage)?.code, .locked)
    XCTAssertEqual(errorOfLock(FileStorage(path: directory.child("b.rka")))?.code, .locked)
    XCTAssertTrue(try held.isHeld())
    _ = consume held
  }

  func testTheUmaskTakesNothingAwayFromFilesAndDirectories() throws {
    for mask: mode_t in [0o177, 0o277, 0o777] {
      let directory = try TemporaryDirectory()
      if OrdinaryUser.isNeeded {
        XCTAssertEqual(chown(directory.path, OrdinaryUser.identifier, OrdinaryUser.identifier), 0)
      }
      let storage = FileStorage(path: directory.child("made/below/a.rka"))
      let user = OrdinaryUser()
      let old = umask(mask)
      let result = Result {
        let lock = try storage.lock()
        try storage.replace { sink throws(ArchiveError) in try sink.write([1, 2, 3]) }
        return lock
      }
      umask(old)
      let again = Result { try storage.lock().isHeld() }
      _ = consume user
      XCTAssertNoThrow(try result.get(), String(mask, radix: 8))
      XCTAssertThrowsError(try again.get()) {
        XCTAssertEqual(($0 as? ArchiveError)?.code, .locked, String(mask, radix: 8))
      }
      for made in ["made", "made/below"] { XCTAssertEqual(mode(directory.child(made)), 0o700) }
      XCTAssertEqual(mode(directory.child("made/below/.a.rka.lock")), 0o600)
      XCTAssertEqual(mode(directory.child("made/below/a.rka")), 0o600)
    }
  }

  func testALockFileThatAUmaskHasClosedIsOpened() throws {
    let directory = try TemporaryDirectory()
    try directory.write([], to: lockName)
    if OrdinaryUser.isNeeded {
      for path in [directory.path, directory.child(lockName)] {
        XCTAssertEqual(chown(path, OrdinaryUser.identifier, OrdinaryUser.identifier), 0)
      }
    }
    XCTAssertEqual(chmod(directory.child(lockName), 0), 0)
    let user = OrdinaryUser()
    let lock = Result { try FileStorage(path: directory.child("a.rka")).lock() }
    _ = consume user
    XCTAssertNoThrow(try lock.get())
    XCTAssertEqual(mode(directory.child(lockName)), 0o600)
  }
}
