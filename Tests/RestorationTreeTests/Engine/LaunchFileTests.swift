import ArchiveCodec
import Foundation
import RestorationKit
import RestorationTesting
import TestSupport
import XCTest

/// The place in the file of a lock where a launch leaves its marker.
final class LaunchFileTests: XCTestCase {
  private static let lock = ".main.rka.lock"
  private static let separate = "main.launch.rka"
  private static let slots = [128, 2112]

  private let small = [UInt8](repeating: 1, count: 600)
  private let other = [UInt8](repeating: 2, count: 700)
  private let note: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]

  private func file(in directory: TemporaryDirectory) -> LaunchFile {
    LaunchFile(
      besideState: directory.child("main.rka"),
      or: FileStorage(path: directory.child(Self.separate), isDurable: false))
  }

  private func write(_ archive: [UInt8], to storage: any ArchiveStorage) throws {
    try storage.replace { sink throws(ArchiveError) in try sink.write(archive) }
  }

  /// What somebody else finds there; nil if there is nothing.
  private func stored(_ directory: TemporaryDirectory) throws -> [UInt8]? {
    try file(in: directory).open().map { try $0.read(at: 0, count: $0.byteCount) }
  }

  private func state(in directory: TemporaryDirectory) -> FileStorage {
    FileStorage(path: directory.child("main.rka"))
  }

  // MARK: Content

  func testTheLastArchiveCountsAndItsNoteStandsBehindIt() throws {
    let directory = try TemporaryDirectory()
    let file = file(in: directory)
    XCTAssertNil(try file.open())
    for round in 0..<5 {
      let archive = round.isMultiple(of: 2) ? small : other
      try write(archive, to: file)
      XCTAssertEqual(try stored(directory), archive)
      let appended = try XCTUnwrap(try file.openForAppending())
      XCTAssertEqual(appended.byteCount, archive.count)
      try appended.write(note, at: archive.count)
      XCTAssertEqual(try stored(directory), archive + note)
    }
    XCTAssertEqual(try directory.names(), [Self.lock])
    XCTAssertEqual(try directory.bytes(of: Self.lock).count, 4096)
    try file.blank()
    XCTAssertNil(try stored(directory))
    XCTAssertEqual(try directory.names(), [Self.lock])
  }

  func testEachPartOfAWriteLeavesTheArchiveBeforeOrTheNewOne() throws {
    let directory = try TemporaryDirectory()
    let file = file(in: directory)
    for archive in [small, other] { try write(archive, to: file) }
    let before = try directory.bytes(of: Self.lock)
    try write(Array(small.reversed()), to: file)
    let after = try directory.bytes(of: Self.lock)
    let changed = before.indices.filter { before[$0] != after[$0] }
    let range = try XCTUnwrap(changed.first)...(try XCTUnwrap(changed.last))
    XCTAssertEqual(range.lowerBound / 128, 1, "The older slot is written.")
    for end in range {
      try directory.write(Array(after[..<end] + before[end...]), to: Self.lock)
      XCTAssertEqual(try stored(directory), end == range.upperBound + 1 ? small : other)
    }
  }

  func testNoChangedBitOfTheFileGivesAnotherArchive() throws {
    let directory = try TemporaryDirectory()
    let file = file(in: directory)
    for archive in [small, other] { try write(archive, to: file) }
    let whole = try directory.bytes(of: Self.lock)
    for index in whole.indices where whole[index] != 0 {
      let isHeader = Self.slots.contains { ($0..<$0 + 36).contains(index) }
      for bit in isHeader ? 0..<8 : index % 8..<index % 8 + 1 {
        var bytes = whole
        bytes[index] ^= 1 << bit
        try directory.write(bytes, to: Self.lock)
        let found = try XCTUnwrap(try stored(directory))
        // The note is its owner's to check.
        XCTAssertTrue(
          [small, other].contains { found.starts(with: $0) && found.count <= $0.count + 8 },
          "byte \(index), bit \(bit)")
      }
    }
  }

  func testAnyEndOfTheFileIsReadWithoutATrap() throws {
    let directory = try TemporaryDirectory()
    try write(small, to: file(in: directory))
    let whole = try directory.bytes(of: Self.lock)
    for count in 0..<whole.count {
      try directory.write(Array(whole[..<count]), to: Self.lock)
      XCTAssertNil(try stored(directory), "\(count) bytes")
    }
    var lying = whole
    for byte in 16..<20 { lying[128 + byte] = 0xFF }
    try directory.write(lying, to: Self.lock)
    XCTAssertNil(try stored(directory))
  }

  func testAnArchiveThatIsTooLargeForASlotIsInAFileOfItsOwn() throws {
    let directory = try TemporaryDirectory()
    let file = file(in: directory)
    for count in [1940, 1941, 100_000, 1940] {
      let archive = [UInt8](repeating: 3, count: count)
      try write(archive, to: file)
      XCTAssertEqual(try stored(directory), archive)
      XCTAssertEqual(try directory.names().contains(Self.separate), count > 1940)
      let appended = try XCTUnwrap(try file.openForAppending())
      try appended.write(note, at: count)
      XCTAssertEqual(try stored(directory), archive + note)
    }
    try write([UInt8](repeating: 3, count: 2000), to: file)
    try file.blank()
    XCTAssertNil(try stored(directory))
  }

  func testTheFileOfAnEarlierVersionIsTakenOver() throws {
    let directory = try TemporaryDirectory()
    try directory.write(small + note, to: Self.separate)
    XCTAssertEqual(try stored(directory), small + note)
    let file = file(in: directory)
    try write(other, to: file)
    XCTAssertEqual(try stored(directory), other)
    XCTAssertEqual(try directory.names(), [Self.lock])
    // An earlier version that has the lock cuts the slots off, and writes its own file.
    try directory.write(Array("process 1, App".utf8), to: Self.lock)
    XCTAssertNil(try stored(directory))
    try directory.write(small, to: Self.separate)
    XCTAssertEqual(try stored(directory), small)
    try self.file(in: directory).blank()
    XCTAssertEqual(try directory.names(), [Self.lock])
    XCTAssertNil(try stored(directory))
  }

  // MARK: The appendix

  private let appendix = [UInt8](repeating: 9, count: 700)

  private func storedAppendix(_ directory: TemporaryDirectory) throws -> [UInt8] {
    Array(try file(in: directory).appendix().prefix(appendix.count))
  }

  func testTheAppendixStaysWhateverBecomesOfTheArchives() throws {
    let directory = try TemporaryDirectory()
    let file = file(in: directory)
    XCTAssertEqual(try storedAppendix(directory), [])
    XCTAssertTrue(try file.replaceAppendix([]))
    XCTAssertEqual(try directory.names(), [], "No appendix needs no file.")
    XCTAssertTrue(try file.replaceAppendix(appendix))
    XCTAssertNil(try stored(directory))
    for archive in [small, other, small] {
      try write(archive, to: file)
      XCTAssertEqual(try stored(directory), archive)
      XCTAssertEqual(try storedAppendix(directory), appendix)
      XCTAssertEqual(Array(try file.appendix().prefix(appendix.count)), appendix)
    }
    try file.blank()
    XCTAssertNil(try stored(directory))
    XCTAssertEqual(try storedAppendix(directory), appendix)
    try write([UInt8](repeating: 3, count: 2000), to: file)
    XCTAssertEqual(try storedAppendix(directory), appendix)
    XCTAssertTrue(try file.replaceAppendix([]))
    XCTAssertEqual(try storedAppendix(directory).prefix(8), [0, 0, 0, 0, 0, 0, 0, 0])
    try file.remove()
    XCTAssertEqual(try directory.names(), [])
  }

  func testNoPartOfAnAppendixTouchesAnArchive() throws {
    let directory = try TemporaryDirectory()
    let file = file(in: directory)
    for archive in [small, other] { try write(archive, to: file) }
    let before = try directory.bytes(of: Self.lock)
    XCTAssertTrue(try file.replaceAppendix(appendix))
    let after = try directory.bytes(of: Self.lock)
    XCTAssertEqual(before.count, after.count)
    for end in before.indices where before[end] != after[end] {
      try directory.write(Array(after[...end] + before[(end + 1)...]), to: Self.lock)
      XCTAssertEqual(try stored(directory), other)
    }
  }

  func testAnArchiveThatNeedsTheRoomOfTheAppendixTakesIt() throws {
    let directory = try TemporaryDirectory()
    let file = file(in: directory)
    let large = [UInt8](repeating: 4, count: 1940)
    XCTAssertTrue(try file.replaceAppendix(appendix))
    for archive in [small, large] { try write(archive, to: file) }
    XCTAssertEqual(try stored(directory), large)
    XCTAssertNotEqual(try storedAppendix(directory), appendix)
    XCTAssertFalse(try file.replaceAppendix(appendix))
    XCTAssertEqual(try stored(directory), large)
    try write(small, to: file)
    XCTAssertTrue(try file.replaceAppendix(appendix))
    XCTAssertEqual(try stored(directory), small)
    file.close()
    XCTAssertFalse(try file.replaceAppendix([]), "The file may be another instance's.")
    XCTAssertEqual(try storedAppendix(directory), appendix)
  }

  // MARK: The lock

  func testTheHolderIsNamedAndTheArchiveStaysWhoeverLocksTheFile() throws {
    let directory = try TemporaryDirectory()
    let state = state(in: directory)
    var names: [String?] = []
    for _ in 0..<3 {
      do {
        let lock = try state.lock()
        try write(small, to: file(in: directory))
        XCTAssertTrue(try lock.isHeld())
        names.append(try holder(in: directory))
      }
      XCTAssertEqual(try stored(directory), small)
      XCTAssertFalse(try state.isLocked())
    }
    let process = "process \(ProcessInfo.processInfo.processIdentifier)"
    for name in names { XCTAssertEqual(name?.hasPrefix(process), true) }
    XCTAssertEqual(Set(names).count, 1)
  }

  /// What an earlier version of the library would name as the holder.
  private func holder(in directory: TemporaryDirectory) throws -> String {
    let text = try directory.bytes(of: Self.lock).prefix(100)
    XCTAssertFalse(text.contains(0))
    let name = String(decoding: text, as: UTF8.self)
    return String(name.reversed().drop { $0 == " " }.reversed())
  }

  func testAFileWithoutAnArchiveGoesWithTheLock() throws {
    let directory = try TemporaryDirectory()
    let states = FileStateDirectory(path: directory.path)
    for isWritten in [false, true] {
      do {
        let lock = try states.storage(named: "main").lock()
        let file = file(in: directory)
        if isWritten {
          for _ in 0..<3 { try write(small, to: file) }
        }
        try file.remove()
        XCTAssertLessThanOrEqual(try directory.bytes(of: Self.lock).count, 128)
        XCTAssertTrue(try lock.isHeld())
      }
      XCTAssertEqual(try directory.names(), [])
    }
  }

  func testABlankFileStaysWhenTheLockGoesAndNothingIsLeftInIt() throws {
    let directory = try TemporaryDirectory()
    do {
      let lock = try state(in: directory).lock()
      let file = file(in: directory)
      for _ in 0..<3 { try write([UInt8](repeating: 0xEE, count: 600), to: file) }
      try file.blank()
      XCTAssertTrue(try lock.isHeld())
    }
    XCTAssertEqual(try directory.names(), [Self.lock])
    XCTAssertLessThan(try directory.bytes(of: Self.lock).count { $0 == 0xEE }, 17)
    try directory.write(small, to: Self.separate)
    XCTAssertNil(try stored(directory), "An archive of before does not come back.")
  }

  func testThereIsRoomForAnArchiveWhateverStandsInTheFile() throws {
    for count in [0, 23, 127, 128, 129, 4095, 4096, 4097, 100_000] {
      let directory = try TemporaryDirectory()
      try directory.write([UInt8](repeating: 0xEE, count: count), to: Self.lock)
      XCTAssertNil(try stored(directory))
      try write(small, to: file(in: directory))
      XCTAssertEqual(try stored(directory), small, "\(count) bytes")
      XCTAssertEqual(try directory.bytes(of: Self.lock).count, 4096)
    }
  }

  func testTheMarkerOfAnEarlierVersionCountsThoughTheStateIsLocked() throws {
    let directory = try TemporaryDirectory()
    try directory.write(small, to: Self.separate)
    let lock = try FileStateDirectory(path: directory.path).storage(named: "main").lock()
    XCTAssertEqual(try stored(directory), small)
    try file(in: directory).blank()
    XCTAssertEqual(try directory.names(), [Self.lock])
    withExtendedLifetime(lock) {}
  }

  func testWhatAnotherInstanceHasLockedIsItsOwn() throws {
    let directory = try TemporaryDirectory()
    let file = file(in: directory)
    try write(small, to: file)
    let path = directory.child(Self.lock)
    // A lock of another open file, as another process has it.
    let other = open(path, O_RDWR)
    var region = flock()
    region.l_type = Int16(F_WRLCK)
    #if os(Linux)
    XCTAssertEqual(fcntl(other, 37, &region), 0)
    #else
    XCTAssertEqual(fcntl(other, 90, &region), 0)
    #endif
    try file.remove()
    XCTAssertEqual(try stored(directory), small)
    close(other)
    try file.remove()
    XCTAssertEqual(try directory.names(), [])
  }

  // MARK: Notes

  /// Checks that a note is refused, and that nothing in the file changes.
  private func checkIsRefused(
    _ note: any AppendableArchiveFile, _ directory: TemporaryDirectory, line: UInt = #line
  ) throws {
    let before = try directory.bytes(of: Self.lock)
    XCTAssertEqual(
      archiveError { try note.write(self.note, at: small.count) }?.code, .outdated, line: line)
    XCTAssertEqual(try directory.bytes(of: Self.lock), before, line: line)
  }

  private func archive(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: 600) }

  func testANoteIsWrittenOnlyBehindItsOwnArchive() throws {
    let directory = try TemporaryDirectory()
    let file = file(in: directory)
    var notes: [any AppendableArchiveFile] = []
    for number in 1...4 as ClosedRange<UInt8> {
      try write(archive(number), to: file)
      for note in notes { try checkIsRefused(note, directory) }
      let note = try XCTUnwrap(try file.openForAppending())
      try note.write(self.note, at: 600)
      XCTAssertEqual(try stored(directory), archive(number) + self.note)
      notes.append(note)
      // To look again takes nothing from a note.
      XCTAssertNotNil(try file.open())
      try note.write(self.note, at: 600)
    }
    try file.blank()
    for note in notes { try checkIsRefused(note, directory) }
  }

  func testNoNoteIsWrittenToAFileThatMayBeAnotherInstances() throws {
    for isLookedAt in [false, true] {
      let directory = try TemporaryDirectory()
      let mine = file(in: directory)
      try write(archive(1), to: mine)
      let note = try XCTUnwrap(try mine.openForAppending())
      if isLookedAt { XCTAssertNotNil(try mine.open()) }
      mine.close()
      try checkIsRefused(note, directory)
      // The other one begins with the same slot and number.
      try file(in: directory).blank()
      let other = file(in: directory)
      for number in 2...3 as ClosedRange<UInt8> {
        try write(archive(number), to: other)
        try checkIsRefused(note, directory)
      }
      try write(archive(4), to: mine)
      try checkIsRefused(note, directory)
    }
  }

  func testAMarkerAndItsNoteAreWrittenAtOnceAndAMarkerThatIsTooLargeIsNot() throws {
    let directory = try TemporaryDirectory()
    let lock = try state(in: directory).lock()
    let file = file(in: directory)
    XCTAssertTrue(try file.replace(small, note: note))
    XCTAssertEqual(try stored(directory), small + note)
    let appended = try XCTUnwrap(try file.openForAppending())
    XCTAssertEqual(appended.byteCount, small.count + note.count)
    try appended.write(note.reversed(), at: small.count)
    XCTAssertEqual(try stored(directory), small + note.reversed())
    // Each marker has its own note, and none has that of the one before.
    try write(other, to: file)
    XCTAssertEqual(try stored(directory), other)
    XCTAssertFalse(try file.replace([UInt8](repeating: 3, count: 2_000), note: note))
    XCTAssertEqual(try stored(directory), other)
    withExtendedLifetime(lock) {}
  }

  func testALockThatSomebodyHasRemovedHasItsMarkerInTheFileThatIsLockedSince() throws {
    let directory = try TemporaryDirectory()
    let first = try state(in: directory).lock()
    let (file, another) = (file(in: directory), file(in: directory))
    XCTAssertTrue(try file.replace(small, note: note))
    let before = try XCTUnwrap(try file.openForAppending())
    try FileManager.default.removeItem(atPath: directory.child(Self.lock))
    let second = try state(in: directory).lock()
    // The marker of the one that has the lock now.
    XCTAssertTrue(try another.replace(other, note: note))
    let bytes = try directory.bytes(of: Self.lock)
    XCTAssertEqual(
      archiveError { try before.write(self.note, at: self.small.count) }?.code, .outdated)
    XCTAssertEqual(try directory.bytes(of: Self.lock), bytes)
    // The same object goes on with the new file, and so does its note.
    XCTAssertTrue(try file.replace(small, note: note))
    try XCTUnwrap(try file.openForAppending()).write(note.reversed(), at: small.count)
    XCTAssertEqual(try stored(directory), small + note.reversed())
    withExtendedLifetime((first, second)) {}
  }

  func testTheLockGoesWithItsOwnerThoughTheFileOfTheMarkerIsInUse() throws {
    let directory = try TemporaryDirectory()
    let file = file(in: directory)
    var lock: (any ArchiveLock)? = try state(in: directory).lock()
    try write(small, to: file)
    let appended = try XCTUnwrap(try file.openForAppending())
    XCTAssertTrue(try state(in: directory).isLocked())
    withExtendedLifetime(lock) {}
    lock = nil
    XCTAssertFalse(try state(in: directory).isLocked())
    let next = try state(in: directory).lock()
    withExtendedLifetime((next, appended)) {}
  }

  func testTheFileOfALockThatNobodyHasGoesWithItsArchive() throws {
    let directory = try TemporaryDirectory()
    let file = file(in: directory)
    try write(small, to: file)
    try file.remove()
    XCTAssertEqual(try directory.names(), [])
    try file.remove()
    XCTAssertEqual(try directory.names(), [])
  }

  func testAFileThatWasReplacedIsReadAnew() throws {
    let directory = try TemporaryDirectory()
    let file = file(in: directory)
    try write(small, to: file)
    // An earlier version of the library removes the file with its lock.
    try FileManager.default.removeItem(atPath: directory.child(Self.lock))
    try write(other, to: self.file(in: directory))
    let found = try XCTUnwrap(try file.open())
    XCTAssertEqual(try found.read(at: 0, count: found.byteCount), other)
    try write(small, to: file)
    XCTAssertEqual(try stored(directory), small)
  }

  func testAnotherKindOfFileInItsPlaceIsRefused() throws {
    for make in [
      { mkdir($0, 0o700) }, { symlink("elsewhere", $0) }, { mkfifo($0, 0o600) },
    ] as [(String) -> Int32] {
      let directory = try TemporaryDirectory()
      XCTAssertEqual(make(directory.child(Self.lock)), 0)
      let file = file(in: directory)
      XCTAssertEqual(archiveError { _ = try file.open() }?.code, .notAFile)
      XCTAssertEqual(archiveError { try write(small, to: file) }?.code, .notAFile)
    }
    let directory = try TemporaryDirectory()
    try directory.write([7], to: "mine")
    XCTAssertEqual(link(directory.child("mine"), directory.child(Self.lock)), 0)
    XCTAssertEqual(archiveError { try write(small, to: file(in: directory)) }?.code, .notAFile)
    XCTAssertEqual(try directory.bytes(of: "mine"), [7])
  }

  // MARK: A directory of states

  func testTheFilesOfLocksOfScenesThatAreGoneAreSweptAndNoOthers() async throws {
    let directory = try TemporaryDirectory()
    let states = FileStateDirectory(path: directory.path)
    for name in ["main", "main.scene-gone", "main.scene-here", "other", "main.scene-held"] {
      try write(small, to: states.launchStorage(ofStateNamed: name))
    }
    try directory.write([1], to: "main.scene-here.rka")
    let held = try states.storage(named: "main.scene-held").lock()
    try states.removeLeftovers { $0.hasPrefix("main.scene-") }
    XCTAssertEqual(
      try directory.names(),
      [
        ".main.rka.lock", ".main.scene-held.rka.lock", ".main.scene-here.rka.lock",
        ".other.rka.lock", "main.scene-here.rka",
      ])
    withExtendedLifetime(held) {}
  }
}
