import ArchiveCodec
import Foundation
import TestSupport
import XCTest

/// The file that carries the lock of an archive.
final class FileLockTests: JournalTestCase {
  func testAnErrorOfTheLockFileNamesTheLockFile() throws {
    for kind in ["directory", "link", "FIFO"] {
      let directory = try TemporaryDirectory()
      let storage = FileStorage(path: directory.child("a.rka"))
      try write(try writer(storage), [1: "one"])
      let lock = directory.child(".a.rka.lock")
      switch kind {
      case "directory":
        try FileManager.default.createDirectory(atPath: lock, withIntermediateDirectories: false)
      case "link":
        try FileManager.default.createSymbolicLink(
          atPath: lock, withDestinationPath: "elsewhere")
      default: XCTAssertEqual(mkfifo(lock, 0o600), 0)
      }
      let error = archiveError { _ = try self.writer(storage) }
      XCTAssertEqual(error?.code, .notAFile, kind)
      // "The path does not name a regular file. Move away what is there."
      XCTAssertEqual(error?.location, lock, kind)
    }
  }

  func testALockDoesNotTouchAnotherFileThatHasItsName() throws {
    let directory = try TemporaryDirectory()
    let storage = FileStorage(path: directory.child("a.rka"))
    try write(try writer(storage), [1: "one"])
    try directory.write(Array("somebody's thesis".utf8), to: "thesis")
    try FileManager.default.linkItem(
      atPath: directory.child("thesis"), toPath: directory.child(".a.rka.lock"))
    _ = try? storage.lock()
    XCTAssertEqual(try directory.bytes(of: "thesis"), Array("somebody's thesis".utf8))
  }

  func testAFullDiskLeavesTheLockToWhoeverWantsToFreeSpace() throws {
    let directory = try TemporaryDirectory()
    let storage = FileStorage(path: directory.child("a.rka"))
    try write(try writer(storage), [1: "one"])
    // As good as a full disk: no file can grow.
    let limit = ProcessLimit(fileByteCount: 0)
    let result = Result { try storage.lock() }
    _ = consume limit
    XCTAssertNoThrow(try result.get())
    _ = consume result
    XCTAssertEqual(try directory.names(), ["a.rka"])
  }

  func testWhatALockFileSaysCannotSteerATerminal() throws {
    let directory = try TemporaryDirectory()
    let storage = FileStorage(path: directory.child("a.rka"))
    let holder = try storage.lock()
    let hostile = "\u{1B}[2J\n\u{202E}evil\u{2028}next line"
    let file = try FileHandle(forWritingTo: URL(filePath: directory.child(".a.rka.lock")))
    try file.write(contentsOf: Data(hostile.utf8))
    let error = archiveError { _ = try storage.lock() }
    let text = try XCTUnwrap(error).description
    for scalar in ["\u{1B}", "\n", "\u{202E}", "\u{2028}"] as [Unicode.Scalar] {
      XCTAssertFalse(
        text.unicodeScalars.contains(scalar), "U+\(String(scalar.value, radix: 16))")
    }
    _ = consume holder
  }

  func testAReaderThatMayNotAskForTheLockReadsAsIfThereWereNone() throws {
    let (bytes, ends, states) = try history()
    let directory = try TemporaryDirectory()
    XCTAssertEqual(chmod(directory.path, 0o755), 0)
    try directory.write(Array(bytes[..<(ends[3] - 1)]), to: "a.rka")
    XCTAssertEqual(chmod(directory.child("a.rka"), 0o644), 0)
    try directory.write([], to: ".a.rka.lock")
    XCTAssertEqual(chmod(directory.child(".a.rka.lock"), 0), 0)
    let archives = try archives.get()
    let storage = FileStorage(path: directory.child("a.rka"))
    let user = OrdinaryUser()
    let recovered = Result {
      try Archive.open(
        storage, key: archives.key, context: archives.context, recovery: .recover)
    }
    let strict = Result {
      try Archive.open(storage, key: archives.key, context: archives.context)
    }
    _ = consume user
    XCTAssertEqual(try texts(try XCTUnwrap(try recovered.get())), states[2])
    XCTAssertEqual(archiveError { _ = try strict.get() }?.code, .truncated)
  }
}
