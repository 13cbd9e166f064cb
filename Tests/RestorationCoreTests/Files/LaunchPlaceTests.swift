import ArchiveCodec
import Foundation
import RestorationKit
import XCTest

/// The record of a launch in the file of the lock.
final class LaunchPlaceTests: FileTestCase {
  private let lock = ".main.rka.lock"

  private func record(_ version: String, crashes: Int) -> LaunchRecord {
    var record = LaunchRecord()
    (record.applicationVersion, record.crashes) = (version, crashes)
    return record
  }

  func testEachPartOfAWriteLeavesTheRecordBeforeTheNewOneOrNone() throws {
    let files = try FilesOfTest()
    let place = FileStateDirectory(path: files.path)
    let (key, context) = (try ArchiveKey(), ArchiveContext(["launch"]))
    let owner = try place.storage(named: "main").lock()
    let launch = try XCTUnwrap(OpenLockFile.of(owner))
    var written: [[UInt8]] = []
    for (version, crashes) in [("1", 1), ("a longer one", 2)] {
      let record = record(version, crashes: crashes)
      try launch.write(
        try record.sealed(key, context), note: LaunchNote(.restoring).bytes(record.tag))
      written.append(try files.bytes(of: lock))
    }
    for (before, after) in [(written[0], written[1]), (written[1], written[0])] {
      for count in 128...before.count {
        try files.write(Array(after.prefix(count) + before.dropFirst(count)), to: lock)
        let bytes = try XCTUnwrap(try launch.read())
        guard let found = try LaunchRecord.open(bytes, key, context) else { continue }
        XCTAssertTrue(["1", "a longer one"].contains(found.applicationVersion), "\(count)")
        XCTAssertEqual(found.crashes, found.applicationVersion == "1" ? 1 : 2, "\(count)")
        if let note = found.note { XCTAssertEqual(note, LaunchNote(.restoring), "\(count)") }
      }
    }
    withExtendedLifetime(owner) {}
  }

  func testAnyEndOfTheFileIsReadWithoutATrap() throws {
    let files = try FilesOfTest()
    let place = FileStateDirectory(path: files.path)
    try save([1: "a"], to: file(in: place))
    alive = []
    let first = file(in: place)
    try open(first)
    let bytes = try files.bytes(of: lock)
    try first.close()
    alive = []
    for count in stride(from: 0, through: bytes.count, by: 37) {
      try files.write(Array(bytes.prefix(count)), to: lock)
      let file = file(in: place)
      let (tree, opened) = try open(file)
      XCTAssertEqual(tree?.texts, [1: "a"], "\(count)")
      XCTAssertNil(opened.markProblem, "\(count)")
      opened.mark?.endRestore()
      try file.close()
    }
  }

  func testTheHolderIsNamedAndTheRecordStaysWhoeverWantsTheLock() throws {
    let files = try FilesOfTest()
    let place = FileStateDirectory(path: files.path)
    policy.isSingleInstance = true
    let first = file(in: place)
    try save([1: "a"], to: first)
    let mark = try XCTUnwrap(try open(first).opened.mark)
    let before = try files.bytes(of: lock)
    XCTAssertThrowsError(try open(file(in: place))) { error in
      XCTAssertEqual((error as? ArchiveError)?.code, .locked)
      XCTAssertEqual((error as? ArchiveError)?.subject, "this process")
    }
    XCTAssertEqual(try files.bytes(of: lock), before)
    mark.reach(LaunchSubject(element: 1))
    mark.endRestore()
    XCTAssertNotEqual(try files.bytes(of: lock), before)
  }

  func testNothingIsWrittenToTheFileOfALockThatIsNotHeldAndNoMarkHoldsTheLock() throws {
    let files = try FilesOfTest()
    let place = FileStateDirectory(path: files.path)
    try save([1: "a"], to: file(in: place))
    alive = []
    for isClosed in [true, false] {
      /// The mark of a launch whose file is closed, or gone.
      func letGo() throws -> LaunchMark {
        let file = file(in: place)
        let mark = try XCTUnwrap(try open(file).opened.mark)
        mark.endRestore()
        if isClosed { try file.close() }
        alive = []
        return mark
      }
      let mark = try letGo()
      XCTAssertFalse(try place.storage(named: "main").isLocked(), "\(isClosed)")
      let names = try files.names()
      let bytes = try names.map { try files.bytes(of: $0) }
      mark.reach(LaunchSubject(element: 1))
      mark.end()
      XCTAssertEqual(try files.names(), names)
      XCTAssertEqual(try names.map { try files.bytes(of: $0) }, bytes)
    }
  }
}
