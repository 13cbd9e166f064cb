import ArchiveCodec
import Foundation
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// Moments, going back to them, and what leaves no trace.
final class HistoryTests: FileTestCase {
  private func text(_ length: Int, _ letter: Character) -> String {
    String(repeating: letter, count: length)
  }

  /// What a moment has.
  private func texts(of moment: Moment) throws -> [UInt64: String] {
    let bytes = try MomentStore(copying: "main", in: directory).bytes(of: moment)
    let key = try XCTUnwrap(try keys.key(creating: false))
    let archive = try XCTUnwrap(
      try Archive.open(
        MemoryStorage(bytes), key: key, context: ArchiveContext([application, "main"])))
    return try TextTree(archive).texts
  }

  func testACompactionThatRunsByItselfLeavesTheFileThatItReplacesAndOnlyTheLast() throws {
    let file = file()
    try save([1: text(1000, "a")], to: file)
    var sizes = [try XCTUnwrap(bytes()).count]
    for number in 0..<200 {
      now.addTimeInterval(1)
      XCTAssertNil(try save([2: text(3000, "b") + "\(number)"], to: file).kept)
      sizes.append(try XCTUnwrap(bytes()).count)
    }
    let compactions = zip(sizes, sizes.dropFirst()).count { $0 > $1 }
    XCTAssertGreaterThan(compactions, 2)
    XCTAssertEqual(try reasons(file), [.replaced])
    let moment = try XCTUnwrap(try file.history().first)
    XCTAssertGreaterThan(moment.byteCount, 1 << 16)
    XCTAssertEqual(try texts(of: moment)[1], text(1000, "a"))
  }

  func testIfTheFileCannotBeKeptItIsNotCompactedAndTheSaveIsStored() throws {
    let file = file()
    directory.hear { name, call throws(ArchiveError) in
      if name.contains("history"), call == .replace { throw ArchiveError(.storageFull) }
    }
    for number in 0..<60 { try save([2: text(3000, "b") + "\(number)"], to: file) }
    XCTAssertGreaterThan(try XCTUnwrap(bytes()).count, 150_000)
    XCTAssertEqual(try reasons(file), [])
    try file.close()
    XCTAssertEqual(try launch()?.texts[2], text(3000, "b") + "59")
  }

  func testAMomentOfFilesIsALinkWithALength() throws {
    let files = try FilesOfTest()
    let place = FileStateDirectory(path: files.path)
    let file = file(in: place)
    file.conditions.policy.historyCounts[.session] = 5
    for number in 1...3 {
      try save([UInt64(number): "a"], to: file)
      _ = try file.keepMoment(.session)
    }
    let names = try files.names(in: "main.history")
    XCTAssertEqual(names.count, 3)
    for name in names {
      let attributes = try FileManager.default.attributesOfItem(
        atPath: files.child("main.history/\(name)"))
      XCTAssertEqual(attributes[.referenceCount] as? Int, 4)
    }
    let first = try XCTUnwrap(try file.history().first)
    try file.putBack(first)
    XCTAssertEqual(try open(file).tree?.texts, [1: "a"])
    XCTAssertEqual(try reasons(file), [.session, .session, .session, .putBack])
    try file.remove(try file.history())
    XCTAssertFalse(try files.names().contains("main.history"))
  }

  func testOneThatIsPutBackComesBackAndTheOtherOneIsAMoment() throws {
    try launch(saving: [1: "first"])
    let file = file()
    try open(file).opened.mark?.endRestore()
    let first = try XCTUnwrap(try file.keepMoment(.version))
    try save([1: "second"], to: file)
    try file.putBack(first)
    XCTAssertEqual(try reasons(file), [.version, .putBack])
    let putBack = try XCTUnwrap(try file.history().last)
    XCTAssertEqual(try texts(of: putBack), [1: "second"])
    // What this launch knows is of the state of before.
    try save([2: "late"], to: file)
    XCTAssertEqual(try reasons(file), [.version, .putBack, .unread])
    try file.putBack(putBack)
    try file.close()
    XCTAssertEqual(try launch()?.texts, [1: "second"])
    XCTAssertEqual(try reasons(), [.version, .putBack, .unread, .putBack])
  }

  func testAMomentOfWhichAPartIsGoneIsNotPutBack() throws {
    try launch(saving: [1: "first"])
    let file = file()
    let moment = try XCTUnwrap(try file.keepMoment(.version))
    directory.base.memory(named: "main.history-\(moment.id)").bytes = [1, 2]
    XCTAssertThrowsError(try file.putBack(moment)) { error in
      XCTAssertEqual((error as? ArchiveError)?.code, .truncated)
    }
    XCTAssertEqual(try open(file).tree?.texts, [1: "first"])
  }

  func testAMomentThatCannotBeReadIsNotPutBackAndNothingChanges() throws {
    try launch(saving: [1: "first"])
    let file = file()
    try open(file).opened.mark?.endRestore()
    let moment = try XCTUnwrap(try file.keepMoment(.version))
    try save([1: "second"], to: file)
    let memory = directory.base.memory(named: "main.history-\(moment.id)")
    memory.bytes?[100] ^= 1
    let before = bytes()
    XCTAssertThrowsError(try file.putBack(moment)) { error in
      XCTAssertEqual((error as? ArchiveError)?.code, .damaged)
    }
    XCTAssertEqual(bytes(), before)
    XCTAssertEqual(try reasons(file), [.version])
    try save([2: "third"], to: file)
    try file.close()
    XCTAssertEqual(try launch()?.texts, [1: "second", 2: "third"])
  }

  // MARK: No trace

  /// A state with a window, which is a record with a name of its own, and moments of it.
  private func saveWindow() throws -> StateFile {
    let file = file()
    try open(file)
    try save([1: "a", 7: "secret"], to: file)
    _ = try file.keepMoment(.session)
    _ = try file.keepMoment(.unread)
    file.conditions.policy.historyCounts[.session] = 5
    return file
  }

  /// What is stored in all moments that a restore may take, and in the state.
  private func isSecretThere() throws -> Bool {
    let moments = try file().history().filter(\.reason.isRestorable)
    if try moments.contains(where: { try texts(of: $0).values.contains("secret") }) { return true }
    let key = try XCTUnwrap(try keys.key(creating: false))
    let archive = try Archive.open(
      directory.base.memory(named: "main"), key: key,
      context: ArchiveContext([application, "main"]))
    guard let archive, archive.extent.changeCount > 0 else {
      return try archive.map { try TextTree($0).texts.values.contains("secret") } ?? false
    }
    // The journal still has what a later change has removed.
    return true
  }

  func testAWindowThatIsClosedLeavesNoTraceInTheStateAndInWhatARestoreMayTake() throws {
    let file = try saveWindow()
    try save([1: "b"], removing: [7], leavingNoTrace: true, to: file)
    XCTAssertFalse(try isSecretThere())
    XCTAssertEqual(try reasons(file), [.unread])
    try file.close()
    XCTAssertEqual(try launch()?.texts, [1: "b"])
  }

  func testAMomentOfAFileThatWasReplacedStaysWhereALaterOneLeavesNoTrace() throws {
    let file = file()
    try open(file)
    try save([1: "old"], to: file)
    _ = try file.keepMoment(.version)
    // A compaction that runs by itself puts another file in the place.
    try save([2: text(200_000, "b")], to: file)
    try save([2: "b"], to: file)
    try save([7: "secret"], to: file)
    _ = try file.keepMoment(.session)
    let before = try file.history()
    XCTAssertTrue(before.contains { !$0.isOfMain })
    let numbering = file.numbering
    try save([1: "c"], removing: [7], leavingNoTrace: true, to: file)
    XCTAssertEqual(file.numbering, numbering + 1)
    XCTAssertEqual(
      try file.history().map(\.id), before.filter { !$0.isOfMain }.map(\.id))
    try save([1: "d"], to: file)
    XCTAssertEqual(file.numbering, numbering + 1)
  }

  func testSessionsOverTheBoundGoWhenOneIsKept() throws {
    policy.historyCounts[.session] = 2
    let file = file()
    for number in 1...5 {
      try save([UInt64(number): "a"], to: file)
      _ = try file.keepMoment(.session)
    }
    XCTAssertEqual(try file.history().count, 2)
  }

  func testNamesThatNothingUsesAreGoneToo() throws {
    let file = file()
    let builder = try self.builder(file)
    try builder.append(record: 1) { $0.encode("a", forKey: "text") }
    try builder.append(record: 7) { encoder in
      encoder.encode("secret", forKey: "text")
      encoder.encode(1, forKey: "nameOfWindow")
    }
    _ = try file.append(try builder.finish())
    func names() throws -> [String] {
      let key = try XCTUnwrap(try keys.key(creating: false))
      let archive = try XCTUnwrap(
        try Archive.open(
          directory.base.memory(named: "main"), key: key,
          context: ArchiveContext([application, "main"])))
      return try XCTUnwrap(try archive.record(1)).unsealed.names
    }
    XCTAssertTrue(try names().contains("nameOfWindow"))
    let before = try self.builder(file)
    try save([1: "b"], removing: [7], leavingNoTrace: true, to: file)
    XCTAssertEqual(try names(), ["text"])
    // A builder of before is out of date.
    try before.append(record: 2) { $0.encode("c", forKey: "text") }
    XCTAssertThrowsError(try file.append(try before.finish())) { error in
      XCTAssertEqual((error as? ArchiveError)?.code, .outdated)
    }
    try save([2: "c"], to: file)
    XCTAssertEqual(try open(file).tree?.texts, [1: "b", 2: "c"])
  }

  func testTheEndThrowsUntilNoTraceIsLeft() throws {
    let file = try saveWindow()
    let isFull = Mutex(true)
    directory.hear { name, call throws(ArchiveError) in
      if call == .replace, isFull.withLock({ $0 }) { throw ArchiveError(.storageFull) }
    }
    try save([1: "b"], removing: [7], leavingNoTrace: true, to: file)
    for _ in 1...2 { XCTAssertThrowsError(try file.close()) }
    XCTAssertTrue(try isSecretThere())
    isFull.withLock { $0 = false }
    try file.close()
    XCTAssertFalse(try isSecretThere())
    XCTAssertEqual(try launch()?.texts, [1: "b"])
  }

  func testNoOtherSaveForgetsThatACompactionIsDue() throws {
    let file = try saveWindow()
    directory.hear { name, call throws(ArchiveError) in
      if call == .replace { throw ArchiveError(.storageFull) }
    }
    try save([1: "b"], removing: [7], leavingNoTrace: true, to: file)
    try save([2: "c"], removing: [TreeRecord.compactionDue], to: file)
    XCTAssertThrowsError(try file.close())
    directory = try directory.afterKill()
    let next = self.file()
    XCTAssertEqual(try open(next).tree?.texts, [1: "b", 2: "c"])
    XCTAssertFalse(try isSecretThere())
  }

  func testADiscardLeavesNothingToCompact() throws {
    let file = try saveWindow()
    directory.hear { name, call throws(ArchiveError) in
      if call == .replace { throw ArchiveError(.storageFull) }
    }
    try save([1: "b"], removing: [7], leavingNoTrace: true, to: file)
    directory.hear(nil)
    try file.discard()
    directory.hear { name, call throws(ArchiveError) in
      if call == .replace { throw ArchiveError(.storageFull) }
    }
    try file.close()
  }

  func testASaveThatLeavesNoTraceMakesNoMomentOfAFileThatHasBecomeTooLong() throws {
    for isFull in [false, true] {
      directory = HookedDirectory()
      let file = try saveWindow()
      try save([2: text(60_000, "b")], to: file)
      directory.hear { _, call throws(ArchiveError) in
        if isFull, call == .replace { throw ArchiveError(.storageFull) }
      }
      let length = isFull ? 10 : 70_000
      try save([2: text(length, "c")], removing: [7], leavingNoTrace: true, to: file)
      directory.hear(nil)
      if isFull { try save([2: text(70_000, "d")], to: file) }
      XCTAssertFalse(try isSecretThere())
      XCTAssertEqual(try reasons(file), [.unread], "\(isFull)")
      try file.close()
    }
  }

  func testWhatIsToLeaveNoTraceLeavesNoneAfterASaveThatAPowerCutMayUndo() throws {
    for savesAgain in [false, true] {
      directory = HookedDirectory()
      let file = try saveWindow()
      directory.hear { name, call throws(ArchiveError) in
        if name == "main", [.synchronize, .truncate, .replace].contains(call) {
          throw ArchiveError(.inputOutput)
        }
      }
      XCTAssertThrowsError(
        try save([1: "b"], removing: [7], leavingNoTrace: true, to: file)
      ) { error in
        XCTAssertEqual((error as? ArchiveError)?.code, .notDurable)
      }
      XCTAssertThrowsError(try file.close())
      directory.hear(nil)
      if savesAgain {
        do {
          try save([2: "c"], to: file)
        } catch {
          // The names may have other numbers now.
          try save([2: "c"], to: file)
        }
      } else {
        try file.close()
        XCTAssertFalse(try isSecretThere())
      }
      XCTAssertEqual(try reasons(), [.unread], "\(savesAgain)")
      try file.close()
      // The record that says so is gone, too: it has no text.
      XCTAssertEqual(try launch()?.texts, savesAgain ? [1: "b", 2: "c"] : [1: "b"])
    }
  }

  func testALaunchAfterAKillLeavesNoTraceBeforeAnythingElse() throws {
    let file = try saveWindow()
    directory.hear { name, call throws(ArchiveError) in
      if call == .replace { throw ArchiveError(.storageFull) }
    }
    try save([1: "b"], removing: [7], leavingNoTrace: true, to: file)
    directory = try directory.afterKill()
    let next = self.file()
    XCTAssertEqual(try open(next).tree?.texts, [1: "b"])
    XCTAssertFalse(try isSecretThere())
  }

  func testOfADiscardedStateARestoreFindsNothingAndTheNextSaveBegins() throws {
    try launch(saving: [1: "first"])
    let file = file()
    try open(file)
    _ = try file.keepMoment(.version)
    _ = try file.keepMoment(.unread)
    try file.discard()
    XCTAssertEqual(try reasons(file), [.unread])
    XCTAssertEqual(try open(file).opened.outcome, .noArchive)
    try save([2: "new"], to: file)
    try file.close()
    XCTAssertEqual(try launch()?.texts, [2: "new"])
  }

  /// A file whose state was discarded, and the moment that has what it was.
  private func discarded() throws -> (file: StateFile, first: Moment) {
    try launch(saving: [1: "first"])
    let file = file()
    try open(file)
    let first = try XCTUnwrap(try file.keepMoment(.unread))
    try file.discard()
    return (file, first)
  }

  func testADiscardedStateBecomesNoMomentWhenAnotherOneIsPutBack() throws {
    let (file, first) = try discarded()
    for _ in 1...2 {
      try file.putBack(first)
      XCTAssertEqual(try open(file).tree?.texts, [1: "first"])
      try file.discard()
    }
    XCTAssertEqual(try reasons(file), [.unread])
  }

  func testADiscardedStateBecomesNoMomentWhenASaveBeginsAnew() throws {
    try launch(saving: [1: "first"])
    let file = file()
    try open(file)
    try file.discard()
    try file.close()
    let next = self.file()
    try save([2: "new"], to: next)
    XCTAssertEqual(try reasons(next), [])
    try next.close()
    let last = self.file()
    try save([3: "newer"], to: last)
    XCTAssertEqual(try reasons(last), [.unread])
  }

  func testAnEmptyStateWithADamagedEndBecomesAMomentWhenAnotherOneIsPutBack() throws {
    let (file, first) = try discarded()
    try save([2: "new"], to: file)
    try file.close()
    var stored = try XCTUnwrap(bytes())
    stored[stored.count - 1] ^= 1
    directory.base.memory(named: "main").bytes = stored
    let next = self.file()
    XCTAssertNil(try open(next).tree)
    try next.putBack(first)
    XCTAssertEqual(try reasons(next), [.unread, .putBack])
    let moments = try directory.base.names().filter { $0.hasSuffix("putBack-\(stored.count)") }
    XCTAssertEqual(moments.map { bytes(of: $0) }, [stored])
  }

  func testADiscardNeedsNoKeyThatIsLockedAndEndsWithTheState() throws {
    let keys = MemoryKeyProvider()
    self.keys = keys
    try launch(saving: [1: "first"])
    let file = file()
    try open(file)
    _ = try file.keepMoment(.version)
    _ = try file.keepMoment(.unread)
    let mayRemove = Mutex(false)
    directory.hear { name, call throws(ArchiveError) in
      guard call == .remove, name.contains("version"), mayRemove.withLock({ !$0 }) else { return }
      throw ArchiveError(.permissionDenied)
    }
    keys.isLocked = true
    XCTAssertThrowsError(try file.discard())
    // Where the moments stay, the newest state stays before them.
    XCTAssertNotNil(bytes())
    mayRemove.withLock { $0 = true }
    try file.discard()
    XCTAssertNil(bytes())
    XCTAssertEqual(try reasons(file), [.unread])
    keys.isLocked = false
    XCTAssertEqual(try open(file).opened.outcome, .noArchive)
    try save([2: "new"], to: file)
    try file.close()
    XCTAssertEqual(try launch()?.texts, [2: "new"])
  }

  func testADiscardOfNothingWritesNothing() throws {
    let file = file()
    try file.discard()
    try file.close()
    XCTAssertEqual(try directory.names(), [])
  }

  func testARecordThatCannotBeRemovedStopsNoRestoreAndADiscardSaysSo() throws {
    try launch(saving: [1: "a"])
    try open(file())
    directory = try directory.afterKill()
    directory.base.memory(named: "main").bytes = nil
    directory.hear { name, call throws(ArchiveError) in
      if name == "main.launch", call == .remove { throw ArchiveError(.permissionDenied) }
    }
    let file = file()
    let opened = try open(file).opened
    XCTAssertEqual(opened.outcome, .noArchive)
    XCTAssertEqual(opened.markProblem?.code, .permissionDenied)
    XCTAssertThrowsError(try file.discard())
    directory.hear(nil)
    try file.discard()
    XCTAssertNil(bytes(of: "main.launch"))
  }

  func testDiscardingForgetsTheCrashes() throws {
    try launch(saving: [1: "a"])
    let crashed = file()
    try open(crashed)
    directory = try directory.afterKill()
    let file = file()
    try open(file)
    try file.discard()
    XCTAssertNil(bytes(of: "main.launch"))
  }
}
