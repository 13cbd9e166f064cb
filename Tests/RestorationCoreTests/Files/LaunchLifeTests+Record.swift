import ArchiveCodec
import Foundation
import RestorationKit
import XCTest

/// Launches that crash after their restore, and the record that says so.
extension LaunchLifeTests {
  // MARK: After the restore

  func testAValueThatCrashesAfterTheRestoreIsLeftOutAfterTwoLaunches() throws {
    try saveTree()
    func crash() throws -> Bool {
      let file = file()
      let opened = try open(file).opened
      let mark = try XCTUnwrap(opened.mark)
      mark.endRestore()
      guard !mark.isLeftOut(mark.subject(ofValue: "value")) else {
        mark.reach(valueOf: "other") {}
        try file.close()
        return false
      }
      try mark.reach(valueOf: "value") { directory = try directory.afterKill() }
      return true
    }
    XCTAssertEqual(try (1...12).filter { _ in try crash() }, [1, 2, 4, 7, 12])
    directory = HookedDirectory()
    try saveTree()
    XCTAssertTrue(try crash())
    // A launch that reads the value and ends well forgets the crash.
    let good = file()
    let mark = try XCTUnwrap(try open(good).opened.mark)
    mark.endRestore()
    mark.reach(valueOf: "value") {}
    try good.close()
    XCTAssertTrue(try crash())
    XCTAssertTrue(try crash())
    XCTAssertFalse(try crash())
  }

  func testAValueThatIsReadInTheRestoreIsBlamedAndNotTheElement() throws {
    try saveTree()
    for _ in 1...2 {
      let file = file()
      let mark = try XCTUnwrap(try open(file).opened.mark)
      mark.reach(LaunchSubject(element: 4))
      try mark.reach(valueOf: "value") { directory = try directory.afterKill() }
    }
    let file = file()
    let mark = try XCTUnwrap(try open(file).opened.mark)
    XCTAssertTrue(mark.isLeftOut(mark.subject(ofValue: "value")))
    XCTAssertFalse(mark.isLeftOut(LaunchSubject(element: 4)))
  }

  func testALateElementIsLeftOutAfterTwoLaunchesAndAnotherEndCountsForNothing() throws {
    try saveTree()
    for _ in 1...2 {
      let file = file()
      let mark = try XCTUnwrap(try open(file).opened.mark)
      mark.endRestore()
      mark.reach(LaunchSubject(element: 3))
      directory = try directory.afterKill()
    }
    XCTAssertEqual(try launch(crashingIn: nil).made, [1, 2, 4])
    try saveAnew()
    for _ in 1...4 {
      let file = file()
      let mark = try XCTUnwrap(try open(file).opened.mark)
      mark.endRestore()
      mark.reach(LaunchSubject(element: 3))
      mark.reach(nil)
      directory = try directory.afterKill()
    }
    XCTAssertEqual(try launch(crashingIn: nil).made, [1, 2, 3, 4])
  }

  func testAnExitWhileAValueIsDecodedIsNoCrash() throws {
    try saveTree()
    for isRestored in [false, true] {
      for _ in 1...4 {
        let file = file()
        let mark = try XCTUnwrap(try open(file).opened.mark)
        if isRestored { mark.endRestore() }
        XCTAssertFalse(mark.isLeftOut(mark.subject(ofValue: "value")))
        try mark.reach(valueOf: "value") {
          LaunchMark.noteExit()
          directory = try directory.afterKill()
        }
      }
    }
  }

  func testAValueThatWasReadInTheRestoreIsNotBlamedForTheElementAfterIt() throws {
    try saveTree()
    for _ in 1...2 {
      let mark = try XCTUnwrap(try open(file()).opened.mark)
      mark.reach(valueOf: "value") {}
      mark.reach(LaunchSubject(element: 4))
      directory = try directory.afterKill()
    }
    XCTAssertEqual(try launch(crashingIn: nil).made, [1, 2, 3])
  }

  func testAMarkWritesNothingWhenItsStateWasLetGo() throws {
    try saveTree()
    let file = file()
    let mark = try XCTUnwrap(try open(file).opened.mark)
    try file.close()
    let before = bytes(of: "main.launch")
    mark.reach(valueOf: "value") { XCTAssertEqual(bytes(of: "main.launch"), before) }
    mark.endRestore()
    mark.end()
    XCTAssertEqual(bytes(of: "main.launch"), before)
  }

  // MARK: The record

  func testWhatHangsIsACrashOfItsOwnAndASignalElsewhereIsNone() throws {
    try saveTree()
    let (first, now) = (file(), LaunchMark.now)
    let mark = try XCTUnwrap(try open(first).opened.mark)
    mark.reach(LaunchSubject(element: 4))
    XCTAssertEqual(mark.noteSignal(at: now + 60_000), LaunchSubject(element: 4))
    mark.reach(valueOf: "value") {
      XCTAssertEqual(
        mark.noteSignal(at: now + 60_000), mark.subject(ofValue: "value"))
    }
    directory = try directory.afterKill()
    XCTAssertEqual(try launch(crashingIn: 4).made, [1, 2, 3])
    XCTAssertEqual(try launch(crashingIn: nil).made, [1, 2, 3], "Both were crashes.")

    try saveAnew()
    for _ in 1...3 {
      let file = file()
      let mark = try XCTUnwrap(try open(file).opened.mark)
      mark.reach(LaunchSubject(element: 4))
      XCTAssertNil(mark.noteSignal(at: now + 4_000))
      directory = try directory.afterKill()
    }
    XCTAssertEqual(try launch(crashingIn: nil).made, [1, 2, 3, 4])
  }

  func testNoMoreIsLeftOutThanTheRecordHasRoomFor() throws {
    var record = LaunchRecord()
    for number in 0..<200 as Range<UInt64> {
      record.begin(ArchiveVersion(generation: 1, mac: []), in: environment)
      record.note = LaunchNote(.restored, LaunchSubject(element: number << 50))
      record.endRestore(threshold: 1, in: environment)
    }
    XCTAssertEqual(record.leftOut.count, 64)
    XCTAssertEqual(record.leftOut.last, LaunchSubject(element: 199 << 50))
    record.applicationVersion = String(repeating: "1", count: 200)
    let key = try XCTUnwrap(try keys.key(creating: false))
    let sealed = try record.sealed(key, ArchiveContext(["test"]))
    XCTAssertLessThan(sealed.count, 3900)
  }

  func testNothingIsNotedOfElementsBeforeALaunchHasCrashed() throws {
    try saveTree()
    let file = file()
    let mark = try XCTUnwrap(try open(file).opened.mark)
    XCTAssertFalse(mark.isNear)
    let before = bytes(of: "main.launch")
    mark.reach(LaunchSubject(element: 3))
    XCTAssertEqual(bytes(of: "main.launch"), before)
    directory = try directory.afterKill()
    XCTAssertEqual(try open(self.file()).opened.mark?.isNear, true)
  }

  func testNoDamageOfTheRecordStopsARestore() throws {
    try saveTree()
    for _ in 1...2 { _ = try launch(crashingIn: 4) }
    let stored = try XCTUnwrap(bytes(of: "main.launch"))
    for place in 0..<stored.count {
      directory = try directory.afterKill()
      var changed = stored
      changed[place] ^= 0x40
      directory.base.memory(named: "main.launch").bytes = changed
      XCTAssertEqual(try open(file()).tree?.texts.count, 4, "\(place)")
    }
  }

  func testOnlyTheKeyCanMakeARecord() throws {
    try saveTree()
    let other = HookedDirectory()
    let own = directory
    let ownKeys = keys
    keys = try ArchiveKey()
    directory = other
    try saveTree()
    for _ in 1...2 { _ = try launch(crashingIn: 4) }
    let forged = bytes(of: "main.launch")
    (directory, keys) = (own, ownKeys)
    directory.base.memory(named: "main.launch").bytes = forged
    XCTAssertEqual(try launch(crashingIn: nil).made, [1, 2, 3, 4])
  }

  func testARecordThatCannotBeWrittenIsSaidAndTheRestoreGoesOnAndTriesNothingAgain() throws {
    try saveTree()
    for _ in 1...2 { _ = try launch(crashingIn: 4) }
    XCTAssertEqual(try launch(crashingIn: nil).made, [1, 2, 3])
    directory.hear { name, call throws(ArchiveError) in
      if name == "main.launch", call.isChange { throw ArchiveError(.storageFull) }
    }
    for _ in 1...2 {
      let file = file()
      let (tree, opened) = try open(file)
      XCTAssertEqual(tree?.texts.count, 4)
      XCTAssertEqual(opened.mark?.isLeftOut(LaunchSubject(element: 4)), true)
      XCTAssertEqual(opened.markProblem?.code, .storageFull)
      opened.mark?.reach(LaunchSubject(element: 3))
      opened.mark?.endRestore()
      try file.close()
    }
    directory.hear(nil)
    XCTAssertEqual(try launch(crashingIn: nil).made, [1, 2, 3, 4])
  }

  func testOnRequestTheNextRestoreTriesAgain() throws {
    try saveTree()
    for _ in 1...2 { _ = try launch(crashingIn: 4) }
    _ = try launch(crashingIn: nil)
    _ = try launch(crashingIn: 4)
    let file = file()
    let mark = try XCTUnwrap(try open(file).opened.mark)
    XCTAssertTrue(mark.isLeftOut(LaunchSubject(element: 4)))
    mark.endRestore()
    try file.retryLeftOut()
    XCTAssertEqual(try open(file).opened.mark?.isLeftOut(LaunchSubject(element: 4)), false)
  }

  func testThePlaceForEveryNameLosesTheRecordAndNotTheState() throws {
    struct OnePlace: StateDirectory {
      let storage = MemoryStorage()
      func storage(named name: String) -> any ArchiveStorage { storage }
      func names() throws(ArchiveError) -> [String] { [] }
    }
    let place = OnePlace()
    let first = file(in: place)
    try open(first)
    try save([1: "a"], to: first)
    try first.close()
    let second = file(in: place)
    let (tree, opened) = try open(second)
    XCTAssertEqual(tree?.texts, [1: "a"])
    XCTAssertNotNil(opened.markProblem)
    opened.mark?.endRestore()
    try save([2: "b"], to: second)
    try second.close()
    let third = file(in: place)
    XCTAssertEqual(try open(third).tree?.texts, [1: "a", 2: "b"])
    try third.discard()
    XCTAssertEqual(try open(third).opened.outcome, .noArchive)
    try save([3: "c"], to: third)
    XCTAssertEqual(try open(third).tree?.texts, [3: "c"])
  }

  func testARecordThatIsTooLargeForItsFileIsSaidAndTheRestoreGoesOn() throws {
    let files = try FilesOfTest()
    let place = FileStateDirectory(path: files.path)
    environment = Self.environment(of: String(repeating: "1", count: 5000))
    let file = file(in: place)
    try save([1: "a"], to: file)
    let (tree, opened) = try open(file)
    XCTAssertEqual(tree?.texts, [1: "a"])
    XCTAssertEqual(opened.markProblem?.code, .limitExceeded)
  }

  func testTheRecordLiesInTheFileOfTheLock() throws {
    let files = try FilesOfTest()
    let place = FileStateDirectory(path: files.path)
    let first = file(in: place)
    try open(first)
    try save([1: "a"], to: first)
    try first.close()
    var copy = files
    for round in 1...2 {
      let file = file(in: FileStateDirectory(path: copy.path))
      let opened = try open(file).opened
      XCTAssertNil(opened.markProblem)
      XCTAssertEqual(opened.mark?.isNear, round == 2)
      opened.mark?.reach(LaunchSubject(element: 1))
      XCTAssertEqual(try copy.names(), [".main.rka.lock", "main.rka"])
      copy = try copy.copied()
    }
    let file = file(in: FileStateDirectory(path: copy.path))
    XCTAssertEqual(try open(file).opened.mark?.isLeftOut(LaunchSubject(element: 1)), true)
    try file.discard()
    try file.close()
    XCTAssertEqual(try copy.names(), ["main.rka"])
  }

  func testAKeeperThatGoesOrIsClosedBeforeTheEndOfItsRestoreHasNotCrashed() throws {
    try saveTree()
    for isClosed in [false, true] {
      for _ in 1...4 {
        let file = file()
        let mark = try XCTUnwrap(try open(file).opened.mark)
        XCTAssertFalse(mark.isNear)
        if isClosed { try file.close() }
        alive = []
      }
    }
    let files = try FilesOfTest()
    let place = FileStateDirectory(path: files.path)
    try save([1: "a"], to: file(in: place))
    for _ in 1...4 {
      alive = []
      XCTAssertEqual(try open(file(in: place)).opened.mark?.isNear, false)
    }
  }
}
