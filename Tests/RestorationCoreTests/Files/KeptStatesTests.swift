import ArchiveCodec
import Foundation
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// What a keeper keeps beside its state in files, and what stands in for one that cannot be read.
@MainActor
final class KeptStatesTests: XCTestCase {
  let keys = MemoryKeyProvider()
  var now = Date(timeIntervalSince1970: 1_800_000_000)
  var policy = StatePolicy()

  static let state = "main.rka"

  func keeper(
    _ directory: borrowing TemporaryDirectory, version: String = "1",
    _ keys: (any KeyProvider)? = nil
  ) throws -> StateKeeper {
    try keeper(FileStateDirectory(path: directory.path), version: version, keys)
  }

  func keeper(
    _ directory: any StateDirectory, version: String = "1", _ keys: (any KeyProvider)? = nil
  ) throws -> StateKeeper {
    let keeper = try StateKeeper(
      application: Launch.application, directory: directory, keys: keys ?? self.keys,
      environment: ApplicationEnvironment(applicationVersion: version, systemVersion: "6.1"),
      now: { [self] in now })
    keeper.policy = policy
    return keeper
  }

  /// Saves values as a launch does that restores first; a long one lets the file be compacted.
  ///
  /// - Returns: What the launch has found.
  @discardableResult
  func launch(
    _ values: String..., in directory: borrowing TemporaryDirectory, version: String = "1",
    isLong: Bool = false
  ) async throws -> String? {
    let keeper = try keeper(directory, version: version)
    let nodes = [TestNode("a"), TestNode("b")]
    _ = try await keeper.restore(into: nodes)
    let found = nodes[0].value
    for value in values {
      nodes[0].value = value
      if isLong { nodes[1].value = String(repeating: value.first ?? "x", count: 70_000) }
      now += 60
      _ = try await keeper.save(nodes)
    }
    await keeper.close()
    return found
  }

  func restored(
    _ directory: borrowing TemporaryDirectory, _ keys: (any KeyProvider)? = nil
  ) async throws -> (value: String?, report: RestorationReport) {
    let keeper = try keeper(directory, keys)
    let node = TestNode("a")
    let report = try await keeper.restore(into: [node, TestNode("b")])
    await keeper.close()
    return (node.value, report)
  }

  func moments(
    _ directory: borrowing TemporaryDirectory, _ reason: Moment.Reason? = nil
  ) async throws -> [Moment] {
    try await keeper(directory).history().filter { reason == nil || $0.reason == reason }
  }

  /// The values of moments, read from their files.
  func values(
    _ directory: borrowing TemporaryDirectory, _ reason: Moment.Reason? = nil
  ) async throws -> [String?] {
    let key = try XCTUnwrap(try keys.key(creating: false))
    var values: [String?] = []
    for moment in try await moments(directory, reason) {
      let bytes = try directory.bytes(of: "main.history/\(moment.id)").prefix(moment.byteCount)
      let archive = try XCTUnwrap(
        try Archive.open(
          MemoryStorage(Array(bytes)), key: key,
          context: ArchiveContext([Launch.application, "main"]), recovery: .recover))
      values.append(try StoredRecords(archive)["a"]?.value)
    }
    return values
  }

  // MARK: Versions

  func testTheFirstSaveOfAnotherVersionKeepsWhatTheOneBeforeItHadSavedLast() async throws {
    let directory = try TemporaryDirectory()
    try await launch("A", in: directory)
    try await launch("B", in: directory)
    try await launch(in: directory, version: "2")
    let before = try await moments(directory)
    XCTAssertEqual(before, [], "Nothing has changed yet.")
    try await launch("C", "D", in: directory, version: "2")
    try await launch("E", in: directory, version: "2")
    let kept = try await values(directory)
    XCTAssertEqual(kept, ["B"])
    let last = try await restored(directory).value
    XCTAssertEqual(last, "E")
  }

  func testTheFirstSaveOfAnotherVersionAsksEachNodeOnce() async throws {
    let directory = try TemporaryDirectory()
    try await launch("A", in: directory)
    let trace = Trace()
    let keeper = try keeper(directory, version: "2")
    let node = TestNode("a", trace: trace)
    _ = try await keeper.restore(into: [node])
    trace.clear()
    node.value = "B"
    _ = try await keeper.save([node])
    XCTAssertEqual(trace.events, ["encode a"])
    await keeper.close()
  }

  func testTheStatesOfTheThreeLastChangesOfVersionStay() async throws {
    let directory = try TemporaryDirectory()
    for version in ["1", "2", "1", "2", "3"] {
      try await launch("\(version)", in: directory, version: version)
    }
    let kept = try await values(directory)
    XCTAssertEqual(kept, ["2", "1", "2"])
  }

  func testAfterASaveThatMayNotStayTheLastStateOfTheOtherVersionIsStillKept() async throws {
    let memory = MemoryStateDirectory()
    let first = try keeper(memory)
    _ = try await first.save([TestNode("a", value: "A")])
    await first.close()
    let stored = try XCTUnwrap(memory.memory(named: "main").bytes)
    let fails = Flag()
    let store = HookedStore(memory) { name, call throws(ArchiveError) in
      if name == "main", call == .synchronize, fails.isSet { throw ArchiveError(.inputOutput) }
    }
    let keeper = try keeper(store, version: "2")
    let node = TestNode("a")
    _ = try await keeper.restore(into: [node])
    fails.isSet = true
    node.value = "B"
    let error = await restorationError { _ = try await keeper.save([node]) }
    XCTAssertEqual(error?.archive?.code, .inputOutput)
    fails.isSet = false
    node.value = "C"
    _ = try await keeper.save([node])
    await keeper.close()
    let history = try memory.names().filter { $0.contains("-version-") }
    XCTAssertEqual(history.compactMap { memory.memory(named: $0).bytes }, [stored])
  }

  func testAStateOfAnotherVersionThatCannotBeKeptIsNotChanged() async throws {
    let memory = MemoryStateDirectory()
    let first = try keeper(memory)
    _ = try await first.save([TestNode("a", value: "A")])
    await first.close()
    let stored = memory.memory(named: "main").bytes
    let fails = Flag()
    fails.isSet = true
    let store = HookedStore(memory) { name, call throws(ArchiveError) in
      if name.contains("history"), call == .replace, fails.isSet {
        throw ArchiveError(.storageFull)
      }
    }
    let keeper = try keeper(store, version: "2")
    let node = TestNode("a")
    _ = try await keeper.restore(into: [node])
    node.value = "B"
    let error = await restorationError { _ = try await keeper.save([node]) }
    XCTAssertEqual(error?.archive?.code, .storageFull)
    XCTAssertEqual(memory.memory(named: "main").bytes, stored)
    fails.isSet = false
    _ = try await keeper.save([node])
    await keeper.close()
    XCTAssertEqual(try memory.names().count { $0.contains("-version-") }, 1)
  }

  func testOfAStateWithATornEndTheNextVersionKeepsWhatWasWholeOfIt() async throws {
    let directory = try TemporaryDirectory()
    try await launch("A", in: directory)
    try await launch("B", in: directory)
    try directory.write(Array(try directory.bytes(of: Self.state).dropLast(10)), to: Self.state)
    try await launch("C", in: directory, version: "2")
    let kept = try await values(directory, .version)
    XCTAssertEqual(kept, ["A"])
  }

  // MARK: Sessions

  func testNoSessionIsKeptByDefault() async throws {
    let directory = try TemporaryDirectory()
    for value in ["one", "two"] { try await launch(value, in: directory) }
    XCTAssertFalse(try directory.names().contains("main.history"))
  }

  func testEachLaunchKeepsWhatItHasFoundBeforeItChangesItAlthoughSavesAppendToTheSameFile()
    async throws
  {
    policy.historyCounts[.session] = 2
    let directory = try TemporaryDirectory()
    try await launch("one", "one!", "one!!", in: directory)
    for _ in 0..<3 { try await launch(in: directory) }
    try await launch("two", "two!", in: directory)
    try await launch("three", in: directory)
    var kept = try await values(directory)
    XCTAssertEqual(kept, ["one!!", "two!"])
    try await launch("four", in: directory)
    kept = try await values(directory)
    XCTAssertEqual(kept, ["two!", "three"], "The bound leaves the newest two.")
  }

  func testASecondRestoreOfALaunchKeepsNoSession() async throws {
    policy.historyCounts[.session] = 5
    let directory = try TemporaryDirectory()
    try await launch("one", in: directory)
    let keeper = try keeper(directory)
    let node = TestNode("a")
    for value in ["two", "three"] {
      _ = try await keeper.restore(into: [node, TestNode("b")])
      node.value = value
      _ = try await keeper.save([node, TestNode("b")])
    }
    await keeper.close()
    let kept = try await values(directory)
    XCTAssertEqual(kept, ["one"])
  }

  func testASessionStaysWhenItIsPutBackAndTheStateIsAMoment() async throws {
    policy.historyCounts[.session] = 5
    let directory = try TemporaryDirectory()
    for value in ["one", "two", "three"] { try await launch(value, in: directory) }
    let keeper = try keeper(directory)
    let node = TestNode("a")
    _ = try await keeper.restore(into: [node, TestNode("b")])
    let all = try await keeper.history()
    try await keeper.putBack(all[0])
    _ = try await keeper.restore(into: [node, TestNode("b")])
    XCTAssertEqual(node.value, "one")
    let left = try await keeper.history()
    XCTAssertEqual(left.map(\.id).prefix(2), all.map(\.id)[...])
    XCTAssertEqual(left.map(\.reason), [.session, .session, .putBack])
    try await keeper.putBack(left[2])
    _ = try await keeper.restore(into: [node, TestNode("b")])
    XCTAssertEqual(node.value, "three")
    await keeper.close()
  }

  func testMomentsGoOneByOneAndThoseThatARestoreMayTakeWithTheState() async throws {
    policy.historyCounts[.session] = 5
    let directory = try TemporaryDirectory()
    for value in ["one", "two", "three", "four"] { try await launch(value, in: directory) }
    let keeper = try keeper(directory)
    _ = try await keeper.restore(into: [TestNode("a"), TestNode("b")])
    let all = try await keeper.history()
    XCTAssertEqual(all.count, 3)
    for _ in 0..<2 { try await keeper.remove(all[1]) }
    var left = try await keeper.history()
    XCTAssertEqual(left, [all[0], all[2]])
    let error = await restorationError { try await keeper.putBack(all[1]) }
    XCTAssertEqual(error?.archive?.code, .truncated)
    try await keeper.discardState()
    left = try await keeper.history()
    XCTAssertEqual(left, [])
    await keeper.close()
    XCTAssertFalse(try directory.names().contains("main.history"))
  }

  // MARK: When they go

  func testNothingThatARestoreMayTakeIsLeftOfAStateThatIsDiscardedOrDeclined() async throws {
    for isDeclined in [false, true] {
      for isMissing in [false, true] {
        let label = "declined \(isDeclined), missing \(isMissing)"
        let directory = try await threeStates()
        if isMissing { try Damage.missing.apply(to: Self.state, in: directory) }
        let keeper = try keeper(directory)
        let nodes = [TestNode("a"), TestNode("b")]
        _ = try await keeper.restore(into: nodes)
        let delegate = TestDelegate()
        if isDeclined {
          delegate.saves = false
          keeper.delegate = delegate
          let report = try await keeper.save(nodes)
          XCTAssertEqual(report.outcome, .declined, label)
          XCTAssertNil(report.setAside, label)
        } else {
          try await keeper.discardState()
        }
        await keeper.close()
        XCTAssertFalse(try directory.names().contains("main.history"), label)
        let next = try await restored(directory)
        XCTAssertEqual(next.report.outcome, .noArchive, label)
        // Not even a name is in the file any more.
        XCTAssertLessThan(
          (try? directory.bytes(of: Self.state).count) ?? 0, 1000, label)
      }
    }
  }

  func testADeclinedStateWithoutItsKeyIsKeptAndDoesNotComeBackWithIt() async throws {
    for isHistoryAlone in [false, true] {
      let directory = try await threeStates()
      let bytes = try directory.bytes(of: Self.state)
      if isHistoryAlone { try Damage.missing.apply(to: Self.state, in: directory) }
      let key = try XCTUnwrap(try keys.exchange())
      let delegate = TestDelegate()
      delegate.saves = false
      let keeper = try keeper(directory)
      keeper.delegate = delegate
      _ = await restorationError { _ = try await keeper.restore(into: [TestNode("a")]) }
      let report = try await keeper.save([TestNode("a")])
      XCTAssertEqual(report.outcome, .declined)
      await keeper.close()
      let kept = try await moments(directory)
      XCTAssertEqual(
        try kept.map { try directory.bytes(of: "main.history/\($0.id)") },
        isHistoryAlone ? [] : [bytes])
      XCTAssertEqual(kept.first?.id, report.setAside)
      let next = try? await restored(directory, key)
      XCTAssertNil(next?.value)
    }
  }

  func testADiscardLeavesNothingOfAStateWhoseEndIsDamaged() async throws {
    let directory = try TemporaryDirectory()
    try await launch("A", "B", in: directory)
    try directory.write(
      try directory.bytes(of: Self.state) + Array(repeating: 7, count: 100), to: Self.state)
    let keeper = try keeper(directory)
    let node = TestNode("a")
    let report = try await keeper.restore(into: [node, TestNode("b")])
    XCTAssertEqual(report.outcome, .restored)
    XCTAssertNotNil(report.launchProblem)
    try await keeper.discardState()
    let saved = try await keeper.save([node])
    XCTAssertNil(saved.setAside)
    await keeper.close()
    let kept = try await moments(directory)
    XCTAssertEqual(kept, [])
  }

  // MARK: Keys

  func testAKeyThatIsExchangedWhileTheAppRunsSealsTheWholeStateAnewAndTheOldFileIsAMoment()
    async throws
  {
    let directory = try TemporaryDirectory()
    let keeper = try keeper(directory)
    let nodes = [TestNode("a", value: "A"), TestNode("b", value: "same")]
    _ = try await keeper.save(nodes)
    let before = try directory.bytes(of: Self.state)
    let former = try XCTUnwrap(try keys.exchange())
    nodes[0].value = "B"
    _ = try await keeper.save(nodes)
    let kept = try await keeper.history()
    XCTAssertEqual(kept.map(\.reason), [.replaced])
    XCTAssertEqual(
      try kept.map { try directory.bytes(of: "main.history/\($0.id)") }, [before])
    let sealed = try directory.bytes(of: Self.state)
    nodes[0].value = "C"
    _ = try await keeper.save(nodes)
    XCTAssertEqual(
      Array(try directory.bytes(of: Self.state).prefix(sealed.count)), sealed,
      "The next one appends again.")
    await keeper.close()
    let (first, second) = (TestNode("a"), TestNode("b"))
    let next = try self.keeper(directory)
    _ = try await next.restore(into: [first, second])
    XCTAssertEqual([first.value, second.value], ["C", "same"])
    await next.close()
    let old = try await restored(directory, former).value
    XCTAssertEqual(old, "A", "The key of before opens what was stored before.")
  }

  func testIfTheOldFileCannotBeKeptNothingIsSealedWithAnotherKey() async throws {
    let memory = MemoryStateDirectory()
    let fails = Flag()
    let store = HookedStore(memory) { name, call throws(ArchiveError) in
      if name.contains("history"), call == .replace, fails.isSet {
        throw ArchiveError(.storageFull)
      }
    }
    let keeper = try keeper(store)
    let node = TestNode("a", value: "A")
    _ = try await keeper.save([node])
    let before = memory.memory(named: "main").bytes
    try keys.exchange()
    fails.isSet = true
    node.value = "B"
    let error = await restorationError { _ = try await keeper.save([node]) }
    XCTAssertEqual(error?.archive?.code, .storageFull)
    XCTAssertEqual(memory.memory(named: "main").bytes, before)
    fails.isSet = false
    _ = try await keeper.save([node])
    await keeper.close()
    let back = TestNode("a")
    _ = try await self.keeper(memory).restore(into: [back])
    XCTAssertEqual(back.value, "B")
  }
}
