import ArchiveCodec
import Foundation
import RestorationKit
import XCTest

/// Launches that crash while they restore, one after the other.
final class LaunchLifeTests: FileTestCase {
  /// 1 is above 2 and 3, and 2 is above 4.
  let parents: [UInt64: UInt64] = [2: 1, 3: 1, 4: 2]

  /// What a launch meets.
  struct Met: Equatable {
    var made: [UInt64] = []
    var outcome = ""
  }

  func saveTree() throws {
    let file = file()
    try open(file)
    try save([1: "a", 2: "b", 3: "c", 4: "d"], above: parents, to: file)
    try file.close()
  }

  /// A launch that makes all elements that it may, and crashes in one of them: 0 stands for outside of
  /// all elements, nil for no crash.
  func launch(
    crashingIn crash: UInt64?, ending: (LaunchMark?) throws -> Void = { _ in }
  ) throws -> Met {
    let file = file()
    let (found, opened) = try open(file)
    guard let tree = found else {
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
    XCTAssertEqual(try launch(crashingIn: nil).outcome, "noArchive")
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

  func saveAnew() throws {
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
  func isMarked() -> Bool {
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
    file.conditions.policy.historyCounts[.session] = 2
    _ = try file.keepMoment(.session)
    try file.close()
    for _ in 1...2 { _ = try launch(crashingIn: 0) }
    XCTAssertEqual(try open(self.file()).tree?.texts, [1: "old"])
  }

  func testOfSeveralStatesThatCrashTheThirdIsNotTried() throws {
    policy.historyCounts[.version] = 5
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
    XCTAssertEqual(try launch(crashingIn: nil).outcome, "noArchive")
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
}
