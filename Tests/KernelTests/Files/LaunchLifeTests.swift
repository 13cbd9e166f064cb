import ArchiveCodec
import Foundation
import RestorationKit
import XCTest

/// Launches that crash while they restore, one after the other.
final class LaunchLifeTests: FileTestCase {
  /// 1 is above 2 and 3, and 2 is above 4.
  private let parents: [UInt64: UInt64] = [2: 1, 3: 1, 4: 2]

  /// What a launch meets.
  private struct Met: Equatable {
    var made: [UInt64] = []
    var outcome = ""
  }

  private func saveTree() throws {
    let file = file()
    try open(file)
    try save([1: "a", 2: "b", 3: "c", 4: "d"], above: parents, to: file)
    try file.close()
  }

  /// A launch that makes all elements that it may, and crashes in one of them: 0 stands for outside of
  /// all elements, nil for no crash.
  private func launch(
    crashingIn crash: UInt64?, ending: (LaunchMark?) throws -> Void = { _ in }
  ) throws -> Met {
    let file = file()
    let opened = try open(file).opened
    guard case .restored(let tree, _, _) = opened.outcome else {
      let outcome = "\(opened.outcome)".prefix { $0 != "(" }
      directory = try directory.afterKill()
      return Met(outcome: String(outcome))
    }
    var met = Met(outcome: "restored")
    if crash == 0 {
      opened.mark?.reach(nil)
      directory = try directory.afterKill()
      return met
    }
    for element in tree.texts.keys.sorted() {
      var above: UInt64? = element
      var isLeftOut = false
      while let id = above {
        if opened.mark?.isLeftOut(LaunchSubject(element: id)) == true { isLeftOut = true }
        above = tree.element(above: id)
      }
      guard !isLeftOut else { continue }
      opened.mark?.reach(LaunchSubject(element: element))
      if element == crash {
        directory = try directory.afterKill()
        return met
      }
      met.made.append(element)
    }
    opened.mark?.reach(nil)
    try ending(opened.mark)
    opened.mark?.endRestore()
    try file.close()
    return met
  }

  func testAfterTwoCrashesAnElementIsLeftOutThenThoseAboveThenTheStateGivesWay() throws {
    try saveTree()
    XCTAssertEqual(try launch(crashingIn: 4).made, [1, 2, 3])
    XCTAssertEqual(try launch(crashingIn: 4).made, [1, 2, 3])
    // The third launch crashes in another one.
    XCTAssertEqual(try launch(crashingIn: 3).made, [1, 2])
    XCTAssertEqual(try launch(crashingIn: 1).made, [])
    XCTAssertEqual(try launch(crashingIn: nil).outcome, "crashed")
    XCTAssertEqual(try reasons(), [.crashed])
    XCTAssertEqual(try launch(crashingIn: nil).outcome, "nothing")
  }

  func testTheElementAboveIsLeftOutByTheFourthLaunch() throws {
    try saveTree()
    for _ in 1...2 { _ = try launch(crashingIn: 4) }
    XCTAssertEqual(try launch(crashingIn: 3).made, [1, 2])
    XCTAssertEqual(try launch(crashingIn: nil).made, [1])
  }

  func testARootIsLeftOutBeforeTheStateIfThereAreOthers() throws {
    try saveTree()
    try launch(saving: [5: "e"])
    for element in [4, 4, 3, 1] as [UInt64] { _ = try launch(crashingIn: element) }
    XCTAssertEqual(try launch(crashingIn: 5).made, [])
    XCTAssertEqual(try launch(crashingIn: 0), Met(outcome: "restored"))
    XCTAssertEqual(try launch(crashingIn: nil).outcome, "crashed")
  }

  private func saveAnew() throws {
    directory = HookedDirectory()
    try saveTree()
  }

  func testACrashOutsideOfAllElementsLetsTheStateGiveWay() throws {
    try saveTree()
    for _ in 1...2 { XCTAssertEqual(try launch(crashingIn: 0).outcome, "restored") }
    XCTAssertEqual(try launch(crashingIn: nil).outcome, "crashed")
  }

  func testWhatIsLeftOutIsTriedAgainAfterOneTwoFourAndMoreLaunches() throws {
    try saveTree()
    var crashes: [Int] = []
    for number in 1...36 {
      _ = try launch(crashingIn: 4)
      if isMarked() { crashes.append(number) }
    }
    XCTAssertEqual(crashes, [1, 2, 4, 7, 12, 21])
    XCTAssertEqual(try launch(crashingIn: nil).made, [1, 2, 3])
    XCTAssertEqual(try launch(crashingIn: nil).made, [1, 2, 3, 4])
    XCTAssertEqual(try launch(crashingIn: nil).made, [1, 2, 3, 4])
  }

  /// Whether the last launch has left the note of a restore that did not end.
  private func isMarked() -> Bool {
    bytes(of: "main.launch")?.suffix(LaunchNote.byteCount).first
      == LaunchNote.Stage.restoring.rawValue
  }

  func testAnotherVersionOfTheAppTriesEverythingAgain() throws {
    try saveTree()
    for _ in 1...2 { _ = try launch(crashingIn: 4) }
    XCTAssertEqual(try launch(crashingIn: nil).made, [1, 2, 3])
    environment = Self.environment(of: "2")
    XCTAssertEqual(try launch(crashingIn: nil).made, [1, 2, 3, 4])
  }

  func testCrashesOfAnotherVersionOfTheAppAreNotCounted() throws {
    for count in 1...4 {
      try saveAnew()
      environment = Self.environment(of: "1")
      for round in 0..<count { _ = try launch(crashingIn: [4, 4, 3, 1][round]) }
      environment = Self.environment(of: "2")
      for _ in 1...2 { XCTAssertEqual(try launch(crashingIn: 4).made, [1, 2, 3], "\(count)") }
      XCTAssertEqual(try launch(crashingIn: nil).made, [1, 2, 3], "\(count)")
    }
  }

  func testARestartOfTheMachineAndAnExitAreNoCrashes() throws {
    try saveTree()
    for round in 1...5 {
      environment.bootSession = "\(round)"
      XCTAssertEqual(try launch(crashingIn: 4).made, [1, 2, 3])
    }
    environment.bootSession = "6"
    for _ in 1...5 {
      let file = file()
      let opened = try open(file).opened
      opened.mark?.reach(LaunchSubject(element: 4))
      LaunchMark.noteExit()
      directory = try directory.afterKill()
    }
    XCTAssertEqual(try launch(crashingIn: nil).made, [1, 2, 3, 4])
  }

  func testALaunchThatEndsItsRestoreForgetsTheCrashesBeforeIt() throws {
    try saveTree()
    for _ in 1...4 {
      _ = try launch(crashingIn: 4)
      XCTAssertEqual(try launch(crashingIn: nil).made, [1, 2, 3, 4])
    }
  }

  func testAStateThatCrashedGivesWayToTheOneBeforeItOnce() throws {
    try saveTree()
    let first = file()
    try open(first)
    XCTAssertNotNil(try first.keepMoment(.version))
    try save([5: "e"], to: first)
    try first.close()

    for _ in 1...2 { _ = try launch(crashingIn: 0) }
    XCTAssertEqual(try launch(crashingIn: 0).outcome, "restored", "The state before.")
    XCTAssertEqual(try reasons(), [.version, .crashed])
    XCTAssertEqual(try launch(crashingIn: 0).outcome, "restored")
    XCTAssertEqual(try launch(crashingIn: nil).outcome, "crashed")
    XCTAssertEqual(try reasons(), [.version, .crashed, .crashed])
  }

  func testAStateThatStandsInForOneThatCrashedIsTheStoredOneAtOnce() throws {
    try saveTree()
    let first = file()
    try open(first)
    _ = try first.keepMoment(.version)
    try save([5: "e"], to: first)
    try first.close()
    for _ in 1...2 { _ = try launch(crashingIn: 0) }
    XCTAssertEqual(try launch(crashingIn: nil).made, [1, 2, 3, 4])
    XCTAssertEqual(try launch(crashingIn: nil).made, [1, 2, 3, 4])
    try launch(saving: [6: "f"])
    XCTAssertEqual(try launch(crashingIn: nil).made, [1, 2, 3, 4, 6])
  }

  func testAMomentOfTheSameStateDoesNotStandInForOneThatCrashed() throws {
    try launch(saving: [1: "old"])
    let file = file()
    try open(file)
    _ = try file.keepMoment(.version)
    try save([1: "new"], to: file)
    file.conditions.policy.historyBound.counts[.session] = 2
    _ = try file.keepMoment(.session)
    try file.close()
    for _ in 1...2 { _ = try launch(crashingIn: 0) }
    XCTAssertEqual(try open(self.file()).tree?.texts, [1: "old"])
  }

  func testOfSeveralStatesThatCrashTheThirdIsNotTried() throws {
    policy.historyBound.counts[.version] = 5
    for number in 1...3 {
      let file = file()
      try open(file).opened.mark?.endRestore()
      try save([UInt64(number): "a"], to: file)
      if number < 3 { _ = try file.keepMoment(.version) }
      try file.close()
    }
    for count in [3, 2] {
      for _ in 1...2 { XCTAssertEqual(try launch(crashingIn: 0).outcome, "restored", "\(count)") }
    }
    XCTAssertEqual(try launch(crashingIn: nil).outcome, "crashed")
    XCTAssertEqual(try reasons(), [.version, .version, .crashed, .crashed])
    XCTAssertEqual(try launch(crashingIn: nil).outcome, "nothing")
  }

  func testAStateThatCannotBeReadIsKeptWhenTheOneThatStoodInForItCrashed() throws {
    try launch(saving: [1: "old"])
    let file = file()
    try open(file)
    _ = try file.keepMoment(.version)
    try save([1: "new"], to: file)
    try file.close()
    directory.base.memory(named: "main").bytes = [1, 2, 3]
    for _ in 1...2 { XCTAssertEqual(try launch(crashingIn: 0).outcome, "restored") }
    XCTAssertEqual(try launch(crashingIn: nil).outcome, "crashed")
    XCTAssertEqual(try reasons(), [.damaged, .crashed])
    XCTAssertNil(bytes(of: "main.launch"))
  }

  func testAStateThatGaveWayAndCameBackIsAGoodOne() throws {
    for number in 1...2 {
      let file = file()
      try open(file).opened.mark?.endRestore()
      try save([UInt64(number): "a"], to: file)
      _ = try file.keepMoment(.version)
      try save([9: "\(number)"], to: file)
      try file.close()
    }
    for _ in 1...2 { _ = try launch(crashingIn: 0) }
    XCTAssertEqual(try launch(crashingIn: nil).outcome, "restored")
    for _ in 1...2 { _ = try launch(crashingIn: 0) }
    XCTAssertEqual(try launch(crashingIn: nil).outcome, "restored", "The one before that.")
  }

  func testCrashesOfAnotherStateAreNotCounted() throws {
    try saveTree()
    let own = try XCTUnwrap(bytes())
    try launch(saving: [5: "e"])
    let other = try XCTUnwrap(bytes())
    for round in 1...6 {
      XCTAssertEqual(try launch(crashingIn: 0).outcome, "restored", "\(round)")
      directory.base.memory(named: "main").bytes = round % 2 == 1 ? own : other
    }
  }

  func testAnElementThatIsNotInTheTreeLetsTheStateGiveWay() throws {
    try saveTree()
    for _ in 1...2 {
      try open(file()).opened.mark?.reach(LaunchSubject(element: 99))
      directory = try directory.afterKill()
    }
    XCTAssertEqual(try launch(crashingIn: nil).outcome, "crashed")
  }

  func testOneIsTriedAtATimeAndNoneBelowAnotherOne() throws {
    try saveTree()
    for _ in 1...2 { _ = try launch(crashingIn: 4) }
    _ = try launch(crashingIn: 3)
    XCTAssertEqual(try launch(crashingIn: nil).made, [1])
    XCTAssertEqual(try launch(crashingIn: nil).made, [1, 3])
    XCTAssertEqual(try launch(crashingIn: nil).made, [1, 2, 3])
    XCTAssertEqual(try launch(crashingIn: nil).made, [1, 2, 3, 4])
    // After a trial that failed nothing else is tried at once.
    try saveAnew()
    for element in [4, 4, 3] as [UInt64] { _ = try launch(crashingIn: element) }
    XCTAssertEqual(try launch(crashingIn: nil).made, [1])
    XCTAssertEqual(try launch(crashingIn: 3).made, [1])
    XCTAssertEqual(try launch(crashingIn: nil).made, [1])
    XCTAssertEqual(try launch(crashingIn: nil).made, [1, 2])
  }

  func testNothingIsTriedAgainWhereAnotherCrashIsNear() throws {
    try saveTree()
    for _ in 1...2 { _ = try launch(crashingIn: 4) }
    XCTAssertEqual(try launch(crashingIn: nil).made, [1, 2, 3])
    // It is tried again, and the crash is outside of all elements.
    XCTAssertEqual(try launch(crashingIn: 0).outcome, "restored")
    XCTAssertEqual(try launch(crashingIn: 1).made, [], "It waits for longer.")
    XCTAssertEqual(try launch(crashingIn: nil).made, [1, 2, 3])
    XCTAssertEqual(try launch(crashingIn: nil).made, [1, 2, 3])
    XCTAssertEqual(try launch(crashingIn: nil).made, [1, 2, 3, 4])
  }

  func testALaunchThatRestoresTwiceLeavesOutOnceAsLong() throws {
    try saveTree()
    for _ in 1...2 { _ = try launch(crashingIn: 4) }
    XCTAssertEqual(try launch(crashingIn: nil).made, [1, 2, 3])
    XCTAssertEqual(try launch(crashingIn: 4).made, [1, 2, 3], "It is tried, and left out for two.")
    let twice = file()
    for _ in 1...3 { try open(twice).opened.mark?.endRestore() }
    try twice.close()
    XCTAssertEqual(try launch(crashingIn: nil).made, [1, 2, 3])
    XCTAssertEqual(try launch(crashingIn: nil).made, [1, 2, 3, 4])
  }

  func testARestoreThatBeginsAgainInOneLaunchIsNotCountedTwice() throws {
    try saveTree()
    let file = file()
    for _ in 1...4 { XCTAssertEqual(try open(file).opened.mark?.isNear, false) }
    directory = try directory.afterKill()
    XCTAssertEqual(try launch(crashingIn: 4).made, [1, 2, 3])
    let next = self.file()
    for _ in 1...2 {
      XCTAssertEqual(try open(next).opened.mark?.isLeftOut(LaunchSubject(element: 4)), true)
    }
  }

  func testOnlyTheFirstRestoreOfALaunchTriesAgainWhatIsLeftOut() throws {
    try saveTree()
    for _ in 1...2 { _ = try launch(crashingIn: 4) }
    let file = file()
    for _ in 1...3 {
      let mark = try XCTUnwrap(try open(file).opened.mark)
      XCTAssertTrue(mark.isLeftOut(LaunchSubject(element: 4)))
      mark.endRestore()
    }
    try file.close()
    XCTAssertEqual(try launch(crashingIn: nil).made, [1, 2, 3, 4])
  }

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
    let (first, now) = (file(), LaunchMark.second)
    let mark = try XCTUnwrap(try open(first).opened.mark)
    mark.reach(LaunchSubject(element: 4))
    XCTAssertEqual(mark.noteSignal(at: now + 60), LaunchSubject(element: 4))
    mark.reach(valueOf: "value") {
      XCTAssertEqual(
        mark.noteSignal(at: now + 60), mark.subject(ofValue: "value"))
    }
    directory = try directory.afterKill()
    XCTAssertEqual(try launch(crashingIn: 4).made, [1, 2, 3])
    XCTAssertEqual(try launch(crashingIn: nil).made, [1, 2, 3], "Both were crashes.")

    try saveAnew()
    for _ in 1...3 {
      let file = file()
      let mark = try XCTUnwrap(try open(file).opened.mark)
      mark.reach(LaunchSubject(element: 4))
      XCTAssertNil(mark.noteSignal(at: now + 4))
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
    keys = try FixedKeyProvider.ephemeral()
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
    guard case .nothing = try open(third).opened.outcome else { return XCTFail() }
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
