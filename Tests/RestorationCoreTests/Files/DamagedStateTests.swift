import ArchiveCodec
import ArchiveForge
import Foundation
import RestorationKit
import Synchronization
import XCTest

/// What is restored, kept and written where a state is not as it was left.
final class DamagedStateTests: FileTestCase {
  /// Saves two states after each other, of which the first is a moment.
  private func saveTwo() throws {
    try launch(saving: [1: "first"])
    let file = file()
    try open(file).opened.mark?.endRestore()
    _ = try file.keepMoment(.version)
    try save([1: "second"], to: file)
    try file.close()
  }

  private func change(_ change: (inout [UInt8]) -> Void) throws {
    var bytes = try XCTUnwrap(bytes())
    change(&bytes)
    directory.base.memory(named: "main").bytes = bytes
  }

  private let missing = "main is missing, or was set aside before."

  private func unreadable(_ code: ArchiveError.Code) -> String {
    "main cannot be read (\(ArchiveError(code).finding))."
  }

  func testOfADamagedStateTheOneBeforeComesBackAndBothStay() throws {
    let damages: [(String, Moment.Reason?, String, (inout [UInt8]) -> Void)] = [
      ("no bytes", nil, missing, { $0 = [] }),
      ("the head", .damaged, unreadable(.notAnArchive), { $0[0] ^= 1 }),
      ("the header", .damaged, unreadable(.damaged), { $0[40] ^= 1 }),
      ("the snapshot", .damaged, unreadable(.damaged), { $0[400] ^= 1 }),
      ("cut off", .damaged, unreadable(.truncated), { $0.removeLast($0.count - 100) }),
      ("a newer format", .unread, unreadable(.unsupportedVersion), { $0[8] = 9 }),
      ("another file", .damaged, unreadable(.notAnArchive), { $0 = Array("text".utf8) }),
    ]
    for (name, reason, finding, damage) in damages {
      directory = HookedDirectory()
      try saveTwo()
      try change(damage)
      let damaged = try XCTUnwrap(bytes())
      let file = file()
      let (tree, opened) = try open(file)
      XCTAssertEqual(tree?.texts, [1: "first"], name)
      XCTAssertEqual(opened.passedOver, [finding], name)
      guard opened.tree != nil, let moment = opened.moment else { return XCTFail(name) }
      XCTAssertEqual(moment.reason, .version)
      opened.mark?.endRestore()
      XCTAssertEqual(bytes(), damaged, "Nothing is written before a save.")
      XCTAssertEqual(try save([2: "new"], to: file).kept?.reason, reason, name)
      XCTAssertNil(try save([2: "new"], to: file).kept, name)
      try file.close()
      XCTAssertEqual(try launch()?.texts, [1: "first", 2: "new"], name)
      XCTAssertEqual(try reasons(), [.version, reason].compactMap(\.self), name)
      let kept = try MomentStore(copying: "main", in: directory).bytes(
        of: try XCTUnwrap(try self.file().history().last))
      if reason != nil { XCTAssertEqual(kept, damaged, name) }
    }
  }

  func testAStateThatIsMissingComesBackFromItsHistory() throws {
    try saveTwo()
    directory.base.memory(named: "main").bytes = nil
    let (tree, opened) = try open(file())
    XCTAssertEqual(tree?.texts, [1: "first"])
    XCTAssertEqual(opened.passedOver, [missing])
  }

  func testAMomentThatSaysItHasATebibyteTakesNoMemory() throws {
    let files = try FilesOfTest()
    let place = FileStateDirectory(path: files.path)
    let file = file(in: place)
    try save([1: "a"], to: file)
    _ = try file.keepMoment(.version)
    try file.close()
    // Another file, so that the moment has bytes of its own.
    let stored = try files.bytes(of: "main.rka")
    try FileManager.default.removeItem(atPath: files.child("main.rka"))
    try files.write(Array(stored.prefix(80)), to: "main.rka")
    let byteCount = 1 << 40
    let planted = files.child("main.history/000000009-1-session-\(byteCount)")
    XCTAssertTrue(FileManager.default.createFile(atPath: planted, contents: nil))
    let handle = try XCTUnwrap(FileHandle(forWritingAtPath: planted))
    try handle.truncate(atOffset: UInt64(byteCount))
    try handle.close()
    let next = self.file(in: place)
    XCTAssertEqual(try open(next).tree?.texts, [1: "a"])
    try next.close()
  }

  func testARestoreTakesNoMomentByItselfThatWasNotGood() throws {
    for reason in Moment.Reason.allCases where !reason.isRestorable {
      directory = HookedDirectory()
      try launch(saving: [1: "a"])
      let file = file()
      _ = try file.keepMoment(reason)
      directory.base.memory(named: "main").bytes = nil
      XCTAssertNil(try open(file).tree, reason.rawValue)
    }
  }

  func testACutOffEndCountsAsAnUnfinishedSaveAndLeavesNoMoment() throws {
    try launch(saving: [1: "a"])
    try launch(saving: [2: "b"])
    let before = try XCTUnwrap(bytes())
    try launch(saving: [3: "c"])
    let after = try XCTUnwrap(bytes())
    for count in stride(from: before.count, to: after.count, by: 7) {
      directory = HookedDirectory()
      directory.base.memory(named: "main").bytes = Array(after.prefix(count))
      XCTAssertEqual(try launch(saving: [4: "d"])?.texts, [1: "a", 2: "b"], "\(count)")
      XCTAssertEqual(try launch()?.texts, [1: "a", 2: "b", 4: "d"], "\(count)")
      XCTAssertEqual(try reasons(), [], "\(count)")
    }
  }

  func testADamagedEndIsKeptBeforeTheFirstSave() throws {
    try launch(saving: [1: "a"])
    let count = try XCTUnwrap(bytes()).count
    try launch(saving: [2: "b"])
    try launch(saving: [3: "c"])
    try change { $0[count + 60] ^= 1 }
    let damaged = bytes()
    let file = file()
    XCTAssertEqual(try open(file).tree?.texts, [1: "a"])
    XCTAssertEqual(bytes(), damaged)
    directory.hear { name, call throws(ArchiveError) in
      if name.contains("history"), call == .replace { throw ArchiveError(.storageFull) }
    }
    XCTAssertThrowsError(try save([4: "d"], to: file))
    XCTAssertEqual(bytes(), damaged, "If it cannot be kept, nothing is written.")
    directory.hear(nil)
    try save([4: "d"], to: file)
    try file.close()
    XCTAssertEqual(try reasons(), [.damaged])
    XCTAssertEqual(try launch()?.texts, [1: "a", 4: "d"])
  }

  func testWhatAnotherAppOrAnotherKeyHasWrittenIsKeptAndNotRestored() throws {
    for isKey in [true, false] {
      directory = HookedDirectory()
      let own = keys
      if isKey { keys = try ArchiveKey() }
      let other = file(name: isKey ? "main" : "other")
      try save([1: "other"], to: other)
      try other.close()
      keys = own
      let foreign = try XCTUnwrap(bytes(of: isKey ? "main" : "other"))
      directory = HookedDirectory()
      directory.base.memory(named: "main").bytes = foreign
      let file = file()
      XCTAssertThrowsError(try open(file)) { error in
        XCTAssertEqual((error as? ArchiveError)?.code, isKey ? .wrongKey : .wrongContext)
      }
      XCTAssertEqual(bytes(), foreign)
      try save([1: "own"], to: file)
      try file.close()
      XCTAssertEqual(try reasons(), [.unread])
      XCTAssertEqual(try launch()?.texts, [1: "own"])
    }
  }

  func testAStateThatCannotBeReadOnceStaysAndIsKeptByASave() throws {
    try launch(saving: [1: "a"])
    for isSaved in [false, true] {
      directory.hear { _, call throws(ArchiveError) in
        if call == .openForAppending { throw ArchiveError(.inputOutput) }
      }
      let file = file()
      XCTAssertThrowsError(try open(file))
      directory.hear(nil)
      if isSaved { try save([1: "own"], to: file) }
      try file.close()
      XCTAssertEqual(try launch()?.texts, [1: isSaved ? "own" : "a"])
    }
    XCTAssertEqual(try reasons(), [.unread])
  }

  func testAHistoryThatCannotBeListedIsInTheWayOfNoStateThatCanBeRead() throws {
    try saveTwo()
    directory.hear { _, call throws(ArchiveError) in
      if call == .names { throw ArchiveError(.inputOutput) }
    }
    let file = file()
    XCTAssertEqual(try open(file).tree?.texts, [1: "second"])
    try save([2: "b"], to: file)
    try change { $0[0] ^= 1 }
    XCTAssertThrowsError(try open(file)) { error in
      XCTAssertEqual((error as? ArchiveError)?.code, .inputOutput)
    }
  }

  func testAMomentThatCannotBeReadOnceIsNotPassedOver() throws {
    policy.historyCounts[.version] = 5
    try saveTwo()
    try saveTwo()
    try change { $0[0] ^= 1 }
    let newest = try XCTUnwrap(try file().history().last)
    let count = Mutex(0)
    directory.hear { name, call throws(ArchiveError) in
      guard name.hasSuffix(newest.id), call == .open else { return }
      let isRead = count.withLock { count in
        count += 1
        // The first one lists the moments.
        return count > 1
      }
      if isRead { throw ArchiveError(.inputOutput) }
    }
    let file = file()
    XCTAssertThrowsError(try open(file)) { error in
      XCTAssertEqual((error as? ArchiveError)?.code, .inputOutput)
    }
    directory.hear(nil)
    XCTAssertEqual(try open(file).tree?.texts, [1: "first"])
  }

  func testAnArchiveWhoseTreeCannotBeReadIsDamaged() throws {
    try saveTwo()
    let other = self.file()
    try open(other).opened.mark?.endRestore()
    let builder = try self.builder(other)
    try builder.append(record: 2) { $0.encode("b", forKey: "other") }
    _ = try other.append(try builder.finish())
    try other.close()
    let file = file()
    let (tree, opened) = try open(file)
    XCTAssertEqual(tree?.texts, [1: "first"])
    XCTAssertEqual(opened.passedOver, [unreadable(.keyNotFound)])
    try save([3: "c"], to: file)
    XCTAssertEqual(try reasons(), [.version, .damaged])
  }

  func testWhereNothingCanBeReadTheErrorIsThatOfTheStateItself() throws {
    try saveTwo()
    try change { $0[0] ^= 1 }
    for name in try directory.names() where name.contains("history") {
      directory.base.memory(named: name).bytes = [1, 2, 3]
    }
    XCTAssertThrowsError(try open(file())) { error in
      XCTAssertEqual((error as? ArchiveError)?.code, .notAnArchive)
      XCTAssertEqual((error as? ArchiveError)?.location, "main")
    }
  }

  func testADirectoryInThePlaceOfTheStateIsLeftAlone() throws {
    let files = try FilesOfTest()
    try FileManager.default.createDirectory(
      atPath: files.child("main.rka/below"), withIntermediateDirectories: true)
    let file = file(in: FileStateDirectory(path: files.path))
    for _ in 1...2 {
      XCTAssertThrowsError(try open(file)) { error in
        XCTAssertEqual((error as? ArchiveError)?.code, .notAFile)
      }
      XCTAssertThrowsError(try save([1: "a"], to: file))
    }
    XCTAssertEqual(try files.names(in: "main.rka"), ["below"])
  }

  func testAFileThatCannotBeChangedIsRestoredAndReplaced() throws {
    let files = try FilesOfTest()
    let place = FileStateDirectory(path: files.path)
    try save([1: "a"], to: file(in: place))
    let hooked = HookedDirectory()
    hooked.base.memory(named: "main").bytes = try files.bytes(of: "main.rka")
    hooked.hear { name, call throws(ArchiveError) in
      if name == "main", call == .openForAppending { throw ArchiveError(.permissionDenied) }
    }
    directory = hooked
    let file = file()
    let (tree, opened) = try open(file)
    XCTAssertEqual(tree?.texts, [1: "a"])
    opened.mark?.endRestore()
    hooked.hear(nil)
    try save([2: "b"], to: file)
    try file.close()
    XCTAssertEqual(try launch()?.texts, [1: "a", 2: "b"])
    XCTAssertEqual(try reasons(), [.unread])
  }

  /// An archive with a data key that is known, which another one has replaced.
  private func archive(replacing version: ArchiveVersion?) throws -> [UInt8] {
    let builder = RecordBuilder()
    try builder.append(record: 1) { $0.encode("a", forKey: "text") }
    let storage = MemoryStorage()
    let stuck = RandomSource { bytes, count in
      bytes.initializeMemory(as: UInt8.self, repeating: 7, count: count)
    }
    let key = try XCTUnwrap(try keys.key(creating: false))
    _ = try Archive.write(
      try builder.finish(), to: storage, slots: [.key(key)],
      context: ArchiveContext([application, "main"]), replacing: version, schema: 0,
      random: stuck, moment: .now)
    return try XCTUnwrap(storage.bytes)
  }

  func testWhatOnlyANewerVersionMayChangeAndTheLastGenerationAreRestoredAndKept() throws {
    let plain = try archive(replacing: nil)
    let newer = plain.replacing(16..<20, with: [1, 0, 0, 0])
      .withFittingMAC(
        dataKey: [UInt8](repeating: 7, count: 32), context: [application, "main"])
    let mac = [UInt8](repeating: 7, count: 32)
    let last = try archive(replacing: ArchiveVersion(generation: .max - 1, mac: mac))
    let nearlyLast = try archive(replacing: ArchiveVersion(generation: .max - 3, mac: mac))
    for bytes in [newer, last, nearlyLast] {
      directory = HookedDirectory()
      directory.base.memory(named: "main").bytes = bytes
      let file = file()
      let (tree, opened) = try open(file)
      XCTAssertEqual(tree?.texts, [1: "a"])
      opened.mark?.endRestore()
      XCTAssertEqual(self.bytes(), bytes)
      for number in 2...9 { try save([UInt64(number): "b"], to: file) }
      try file.close()
      XCTAssertEqual(try launch()?.texts.count, 9)
      XCTAssertEqual(try reasons(), [.unread])
    }
    directory = HookedDirectory()
    directory.base.memory(named: "main").bytes = plain
    try launch(saving: [2: "b"])
    XCTAssertEqual(try reasons(), [])
  }

  // MARK: Others

  func testWhatSomebodyElsePutsInThePlaceOfTheFileBecomesAMomentAndNoRecordIsLost() throws {
    for isRemoved in [false, true] {
      directory = HookedDirectory()
      try launch(saving: [1: "a"])
      let other = try XCTUnwrap(bytes())
      try launch(saving: [2: "b"])
      let file = file()
      try open(file).opened.mark?.endRestore()
      directory.base.memory(named: "main").bytes = isRemoved ? nil : other
      XCTAssertThrowsError(try save([3: "c"], to: file)) { error in
        XCTAssertEqual((error as? ArchiveError)?.code, .outdated)
      }
      XCTAssertNotNil(try file.openWriter())
      try save([3: "c"], to: file)
      try save([4: "d"], to: file)
      try file.close()
      XCTAssertEqual(try launch()?.texts.keys.sorted(), [1, 2, 3, 4])
      XCTAssertEqual(try reasons(), isRemoved ? [] : [.conflict])
    }
  }

  func testASaveBeforeAnyRestoreKeepsWhatIsStoredOnceAndBeginsAnew() throws {
    try launch(saving: [1: "a"])
    let file = file()
    XCTAssertEqual(try save([2: "b"], to: file).kept?.reason, .unread)
    XCTAssertNil(try save([3: "c"], to: file).kept)
    try file.close()
    XCTAssertEqual(try reasons(), [.unread])
    XCTAssertEqual(try launch()?.texts, [2: "b", 3: "c"])
  }

  func testWhatIsPutThereAfterALaunchHasFoundNothingIsKept() throws {
    let other = file(name: "main")
    try save([1: "other"], to: other)
    let bytes = try XCTUnwrap(bytes())
    try other.close()
    directory = HookedDirectory()
    let file = file()
    try open(file)
    directory.base.memory(named: "main").bytes = bytes
    try save([1: "own"], to: file)
    XCTAssertEqual(try reasons(file), [.unread])
  }

  func testIfTheStateCannotBeKeptASaveBeforeAnyRestoreWritesNothing() throws {
    try launch(saving: [1: "a"])
    let before = bytes()
    directory.hear { name, call throws(ArchiveError) in
      if name.contains("history"), call == .replace { throw ArchiveError(.storageFull) }
    }
    let file = file()
    XCTAssertThrowsError(try save([2: "b"], to: file))
    XCTAssertEqual(bytes(), before)
    try file.close()
    XCTAssertEqual(try launch()?.texts, [1: "a"])
  }

  func testAfterASyncThatFailedTheNextSaveWritesAWholeFile() throws {
    try launch(saving: [1: "a"])
    let file = file()
    try open(file).opened.mark?.endRestore()
    let fails = Mutex(true)
    directory.hear { name, call throws(ArchiveError) in
      if name == "main", call == .synchronize, fails.withLock({ $0 }) {
        throw ArchiveError(.inputOutput)
      }
    }
    XCTAssertThrowsError(try save([2: "b"], to: file))
    fails.withLock { $0 = false }
    let replaced = Mutex(0)
    directory.hear { name, call throws(ArchiveError) in
      if name == "main", call == .replace { replaced.withLock { $0 += 1 } }
    }
    try save([3: "c"], to: file)
    XCTAssertEqual(replaced.withLock { $0 }, 1)
    try file.close()
    XCTAssertEqual(try launch()?.texts, [1: "a", 3: "c"])
  }

  // MARK: Age

  func testAStateThatIsTooOldGoesToTheHistoryAtTheSecondLaunchThatSaysSo() throws {
    try launch(saving: [1: "a"])
    policy.maximumAge = 100
    now.addTimeInterval(1000)
    for round in 1...2 {
      let file = file()
      XCTAssertEqual(try open(file).opened.outcome, .tooOld(setAsideAt: nil), "\(round)")
      try file.close()
    }
    environment.bootSession = "other"
    let file = file()
    let opened = try open(file).opened
    XCTAssertEqual(opened.moment?.reason, .unread)
    XCTAssertEqual(opened.outcome, .tooOld(setAsideAt: opened.moment?.id))
    try save([2: "b"], to: file)
    try file.close()
    XCTAssertEqual(try reasons(), [.unread])
    XCTAssertEqual(try launch()?.texts, [2: "b"])
  }

  func testASaveOfALaunchThatFindsTheStateTooOldKeepsItFirst() throws {
    try launch(saving: [1: "a"])
    policy.maximumAge = 100
    now.addTimeInterval(1000)
    let file = file()
    XCTAssertNil(try open(file).tree)
    try save([2: "b"], to: file)
    try file.close()
    XCTAssertEqual(try reasons(), [.unread])
    XCTAssertEqual(try launch()?.texts, [2: "b"])
  }

  func testTheAgeCountsFromTheFirstLaunchThatHasSeenIt() throws {
    try launch(saving: [1: "a"])
    policy.maximumAge = 100
    now.addTimeInterval(1000)
    for (uptime, isOver) in [(1000.0, false), (50_000, false), (87_500, true)] {
      environment.uptime = uptime
      let file = file()
      let opened = try open(file).opened
      XCTAssertEqual(opened.outcome, .tooOld(setAsideAt: opened.moment?.id))
      XCTAssertEqual(opened.moment != nil, isOver)
      try file.close()
    }
  }

  func testALaunchThatRestoresTheStateForgetsThatItWasTooOld() throws {
    try launch(saving: [1: "a"])
    now.addTimeInterval(1000)
    for (round, maximumAge) in [100.0, nil, 100].enumerated() {
      policy.maximumAge = maximumAge
      environment.bootSession = "\(round)"
      let file = file()
      let (tree, opened) = try open(file)
      if maximumAge == nil {
        XCTAssertEqual(tree?.texts, [1: "a"])
      } else {
        XCTAssertEqual(opened.outcome, .tooOld(setAsideAt: nil))
      }
      try file.close()
    }
  }

  func testAStateThatWasPutBackIsOldAgainAfterARestore() throws {
    try saveTwo()
    policy.maximumAge = 100
    now.addTimeInterval(1000)
    let file = file()
    try file.putBack(try XCTUnwrap(try file.history().first))
    try open(file).opened.mark?.endRestore()
    try file.close()
    XCTAssertEqual(try open(self.file()).opened.outcome, .tooOld(setAsideAt: nil))
  }

  func testAMomentThatStandsInIsNotKeptAsTheStoredState() throws {
    try saveTwo()
    try change { $0[0] ^= 1 }
    let file = file()
    try open(file)
    XCTAssertNil(try file.keepMoment(.session))
    XCTAssertEqual(try reasons(file), [.version])
    try save([2: "b"], to: file)
    XCTAssertNotNil(try file.keepMoment(.session))
  }

  func testAStateWithoutATimeHasNoAge() throws {
    let file = file()
    let builder = try self.builder(file)
    try builder.append(record: 1) { $0.encode("a", forKey: "text") }
    _ = try file.append(try builder.finish())
    try file.close()
    policy.maximumAge = 100
    XCTAssertEqual(try launch()?.texts, [1: "a"])
  }

  func testAStateThatWasPutBackIsRestoredWhateverItsAge() throws {
    try saveTwo()
    policy.maximumAge = 100
    now.addTimeInterval(1000)
    let file = file()
    try file.putBack(try XCTUnwrap(try file.history().first))
    XCTAssertEqual(try open(file).tree?.texts, [1: "first"])
  }
}
