import ArchiveCodec
import TestSupport
import XCTest

/// What a power cut leaves on the disk on which other tests rely.
final class FaultyDiskTests: XCTestCase {
  private let old = [UInt8](repeating: 1, count: 700)
  private let new = [UInt8](repeating: 2, count: 2000)
  /// After so many calls of a replacement comes the sync of the directory.
  private let callsBeforeDirectory = 6

  private func replace(_ process: DiskProcess, by bytes: [UInt8]) throws {
    try process.storage(named: "a").replace { sink throws(ArchiveError) in try sink.write(bytes) }
  }

  /// What is under the name after a cut, for many disks to which the same is done.
  private func left(_ body: (FaultyDisk, DiskProcess) throws -> Void) throws -> Set<[UInt8]?> {
    var random = SeededGenerator()
    return Set(
      try (0..<300).map { _ in
        let disk = FaultyDisk(seed: random.next())
        let process = disk.process()
        try replace(process, by: old)
        try body(disk, process)
        process.end()
        disk.cutPower()
        return disk.bytes(of: "a.rka")
      })
  }

  func testWhatWasSyncedSurvivesEveryCut() throws {
    XCTAssertEqual(try left { try replace($1, by: new) }, [new])
    XCTAssertEqual(
      try left { disk, process in
        disk.isFull = true
        XCTAssertEqual(archiveError { try replace(process, by: new) }?.code, .storageFull)
      }, [old])
  }

  func testWhatWasAppendedAndNotSyncedMayBeThereInAnyParts() throws {
    let left = try left { _, process in
      let file = try XCTUnwrap(try process.storage(named: "a").openForAppending())
      try file.write(new, at: old.count)
    }
    XCTAssertTrue(left.allSatisfy { $0?.starts(with: old) == true })
    // Nothing, all, the length alone, and parts of it.
    XCTAssertTrue(left.isSuperset(of: [old, old + new, old + new.map { _ in 0 }]))
    XCTAssertGreaterThan(left.count, 20)
  }

  func testARenameIsForGoodWithTheDirectoryOnly() throws {
    let left = try left { _, process in
      process.arm(.failure, after: callsBeforeDirectory)
      XCTAssertEqual(archiveError { try replace(process, by: new) }?.code, .notDurable)
    }
    XCTAssertEqual(left, [old, new])
  }

  func testASyncThatLiesMayLoseWhatItSaidUntilALaterOneDoesIt() throws {
    for (calls, expected) in [(0, nil), (callsBeforeDirectory, [old, new])] {
      let left = try left { disk, process in
        process.arm(.lie, after: calls)
        try replace(process, by: new)
        XCTAssertTrue(disk.owes("a.rka"))
        XCTAssertFalse(disk.owes("b.rka"))
      }
      XCTAssertTrue(left.contains(new))
      if let expected {
        XCTAssertEqual(left, Set(expected))
      } else {
        XCTAssertFalse(left.contains(old))
      }
    }
    XCTAssertEqual(
      try left { disk, process in
        process.arm(.lie, after: 0)
        try replace(process, by: old)
        try replace(process, by: new)
        XCTAssertFalse(disk.owes("a.rka"))
      }, [new])
  }

  func testAFailedSyncLosesWhatALaterOneDoesNotBringBack() throws {
    let left = try left { _, process in
      let file = try XCTUnwrap(try process.storage(named: "a").openForAppending())
      try file.write(new, at: old.count)
      process.arm(.failure, after: 0)
      XCTAssertNotNil(archiveError { try file.synchronize() })
      try file.synchronize()
    }
    XCTAssertTrue(left.allSatisfy { $0?.starts(with: old) == true })
    XCTAssertTrue(left.isSuperset(of: [old + new, old + new.map { _ in 0 }]))
  }

  func testAProcessThatHasEndedDoesNothingAndHasNoLock() throws {
    let disk = FaultyDisk(seed: 1)
    let process = disk.process()
    try replace(process, by: old)
    let storage = process.storage(named: "a")
    let lock = try storage.lock()
    let other = disk.process().storage(named: "a")
    XCTAssertEqual(
      archiveError { _ = try other.lock() }, ArchiveError(.locked, subject: "process 1"))
    process.end()
    XCTAssertNotNil(archiveError { try replace(process, by: new) })
    XCTAssertNotNil(archiveError { _ = try lock.isHeld() })
    XCTAssertEqual(disk.bytes(of: "a.rka"), old)
    withExtendedLifetime(try other.lock()) { XCTAssertEqual(try? other.isLocked(), true) }
  }
}
