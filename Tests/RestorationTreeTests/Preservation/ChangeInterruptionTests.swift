import ArchiveCodec
import Observation
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// What happens between two saves of changes, and in them.
@MainActor
final class ChangeInterruptionTests: ChangeTestCase {
  func testTheFirstSaveAfterARestoreWritesWhatIsOtherwise() async throws {
    let first = try launch.keeper()
    _ = try await savedTree(50, with: first)
    let before = try XCTUnwrap(launch.storedBytes)
    await first.close()
    let keeper = try launch.keeper()
    let root = TrackedNode("root")
    let nodes = (0..<50).map { TrackedNode("n\($0)") }
    root.below = nodes
    _ = try await keeper.restore(into: [root])
    nodes[3].value = "new"
    let report = try await keeper.save([root])
    XCTAssertEqual(report.entries.count, 51)
    XCTAssertEqual(Array(try XCTUnwrap(launch.storedBytes).prefix(before.count)), before)
    XCTAssertLessThan(report.writtenByteCount, 600)
    XCTAssertEqual(try value(of: "root/n3"), "new")
    XCTAssertEqual(try value(of: "root/n4"), "4")
  }

  func testWhatIsTypedIntoAnObservedNodeWhoseDecodingThrewIsStored() async throws {
    let saving = try launch.keeper()
    _ = try await saving.save([ObservedDraft("stored")])
    await saving.close()
    let keeper = try launch.keeper()
    let draft = ObservedDraft("")
    _ = try await keeper.restore(into: [draft])
    _ = try await keeper.save([draft])
    draft.text = "typed"
    _ = try await keeper.save([draft])
    XCTAssertEqual(try value(of: "draft"), "typed")
  }

  func testAViewThatCameBackAtTwoPlacesIsStoredOnce() async throws {
    func roots(_ first: TestView, _ second: TestView) -> [PlainNode] {
      let (a, b) = (PlainNode("a"), PlainNode("b"))
      (a.views, b.views) = ([first], [second])
      return [a, b]
    }
    let saving = try launch.keeper()
    _ = try await saving.save(roots(TestView("field", value: "1"), TestView("field", value: "2")))
    await saving.close()
    let keeper = try launch.keeper()
    let view = TestView("field")
    let back = roots(view, view)
    _ = try await keeper.restore(into: back)
    let report = try await keeper.save(back)
    XCTAssertEqual(
      report.entries.filter { $0.kind == .view }.map(\.outcome), [.saved, .containedTwice])
    try await assertStoredAsAWhole(back)
  }

  func testWhatARestoreChangedIsStoredThoughNobodySaidSo() async throws {
    let keeper = try launch.keeper()
    let (root, nodes) = try await savedTree(with: keeper)
    nodes[0].isQuiet = true
    nodes[0].value = "not stored"
    _ = try await keeper.restore(into: [root])
    XCTAssertEqual(nodes[0].value, "0")
    nodes[0].value = "since the restore"
    _ = try await keeper.save([root])
    XCTAssertEqual(try value(of: "root/n0"), "since the restore")
  }

  func testWhatIsSaidOfTheApplicationStandsInTheReportOnce() async throws {
    let delegate = TestDelegate()
    let keeper = try launch.keeper(delegate: delegate)
    let (root, nodes) = try await savedTree(with: keeper)
    let stray = TestView("stray")
    delegate.onWillEncode = { $0.encode(stray, forKey: "focus") }
    nodes[0].value = "changed"
    let report = try await keeper.save([root])
    XCTAssertEqual(report.notes, [.unstored("focus", "TestView", isView: true)])
  }

  func testTabsThatSelectThemselvesEndASaveOfChanges() async throws {
    let keeper = try launch.keeper()
    let tracked = TrackedNode("tracked")
    let tabs = TestTabs("tabs", children: [tracked])
    tabs.selectedTab = tabs
    _ = try await keeper.save([tabs])
    tracked.value = "changed"
    let report = try await keeper.save([tabs])
    XCTAssertEqual(report.outcome, .saved)
    try await assertStoredAsAWhole([tabs])
  }

  func testASelectedTabThatOnlyAReferenceReachesIsStoredByNoSave() async throws {
    let keeper = try launch.keeper()
    let tabs = TrackedTabs("tabs")
    let other = TrackedNode("other")
    tabs.references = [other]
    _ = try await keeper.save([tabs])
    tabs.selectedTab = other
    let report = try await keeper.save([tabs])
    XCTAssertEqual(report.unaskedCount, 1)
    try await assertStoredAsAWhole([tabs])
  }

  func testASaveThatFailedLeavesNothingForgotten() async throws {
    for call in [HookedStore.Call.append, .replace] {
      let launch = Launch()
      let fails = Flag()
      let store = HookedStore(launch.store) { name, made throws(ArchiveError) in
        if fails.isSet, name == "main", made.isWrite { throw ArchiveError(.storageFull) }
      }
      let keeper = try StateKeeper(
        application: Launch.application, directory: store, keys: launch.keys)
      let root = TrackedNode("root")
      let node = TrackedNode("a")
      root.below = [node]
      if call == .append { _ = try await keeper.save([root]) }
      let before = launch.storedBytes
      fails.isSet = true
      node.value = "changed"
      let gone = TrackedNode("new")
      root.below = [node, gone]
      await assertThrows(WholeError(ArchiveError(.storageFull, location: "memory"))) {
        _ = try await keeper.save([root])
      }
      XCTAssertEqual(launch.storedBytes, before)
      fails.isSet = false
      _ = try await keeper.save([root])
      XCTAssertEqual(try launch.storedPaths(), ["root", "root/a", "root/new"])
      XCTAssertEqual(try launch.storedRecords()?["root/a"]?.value, "changed")
    }
  }

  func testANodeWhoseEncodingThrewIsAskedAgainThoughItSaysNothing() async throws {
    let keeper = try launch.keeper()
    let (root, nodes) = try await savedTree(with: keeper)
    nodes[0].value = "lost"
    nodes[0].throwsInEncode = true
    let lost = try await keeper.save([root])
    XCTAssertEqual(lost.outcome(of: "root/n0"), .savedWithLastState)
    XCTAssertEqual(try value(of: "root/n0"), "0")
    nodes[0].isQuiet = true
    nodes[0].throwsInEncode = false
    _ = try await keeper.save([root])
    XCTAssertEqual(try value(of: "root/n0"), "lost")
  }

  func testWhatIsNotStoredForGoodIsNotSetAside() async throws {
    for isChange in [true, false] {
      let fails = Flag()
      let syncCount = Mutex(0)
      let storage = FaultyStorage { call, _ in
        if call == .sync || call == .publish { syncCount.withLock { $0 += 1 } }
        return fails.isSet && [.sync, .truncate, .publish].contains(call)
          ? ArchiveError(.inputOutput) : nil
      }
      let keeper = try StateKeeper(
        application: Launch.application, directory: FaultyDirectory(main: storage),
        keys: launch.keys)
      let root = TrackedNode("root")
      if isChange { _ = try await keeper.save([root]) }
      root.value = "new"
      fails.isSet = true
      do {
        _ = try await keeper.save([root])
        XCTFail("did not throw")
      } catch {
        XCTAssertEqual(error.archive?.code, .notDurable)
      }
      fails.isSet = false
      syncCount.withLock { $0 = 0 }
      let report = try await keeper.save([root])
      XCTAssertEqual(report.outcome, .saved)
      XCTAssertNil(report.setAside)
      XCTAssertGreaterThan(syncCount.withLock(\.self), 0, "the change lasts from now on")
    }
  }

  func testAStateThatSomebodyRemovedOrReplacedIsWrittenAsAWhole() async throws {
    for isReplaced in [false, true] {
      let launch = Launch()
      let keeper = try launch.keeper()
      let root = TrackedNode("root")
      root.below = [TrackedNode("a")]
      _ = try await keeper.save([root])
      let first = launch.storedBytes
      root.value = "second"
      _ = try await keeper.save([root])
      launch.storedBytes = isReplaced ? first : nil
      let report = try await keeper.save([root])
      XCTAssertEqual(report.setAside != nil, isReplaced)
      XCTAssertEqual(try launch.storedRecords()?["root"]?.value, "second")
      XCTAssertEqual(try launch.storedPaths(), ["root", "root/a"])
    }
  }

  func testASaveThatWaitsForAnotherBringsNothingBackThatWasDiscardedSince() async throws {
    let keeper = try launch.keeper()
    let (root, _) = try await savedTree(with: keeper)
    root.value = "secret"
    let saves = (0..<2).map { _ in Task { @MainActor in try await keeper.save([root]).outcome } }
    let discard = Task { @MainActor in try await keeper.discardState() }
    for save in saves { _ = try await save.value }
    try await discard.value
    try launch.assertNothingIsStored()
    _ = try await keeper.save([root])
    XCTAssertEqual(try value(of: "root"), "secret")
  }

  func testASaveThatIsTriedAgainBringsNothingBackThatWasDiscardedSince() async throws {
    let (gate, isClosed) = (Gate(), Flag())
    let keys = GatedKeys(launch.keys) { if isClosed.isSet { gate.pass() } }
    let keeper = try StateKeeper(
      application: Launch.application, directory: launch.store, keys: keys)
    let (root, _) = try await savedTree(with: keeper)
    let first = launch.storedBytes
    root.value = "second"
    _ = try await keeper.save([root])
    // Somebody puts an older copy back, so that all must be written.
    launch.storedBytes = first
    root.value = "third"
    gate.holdUp()
    isClosed.isSet = true
    let save = Task { @MainActor in try await keeper.save([root]) }
    try await waitUntil("the save writes") { gate.isWaitedFor }
    let discard = Task { @MainActor in try await keeper.discardState() }
    for _ in 0..<20 { await Task.yield() }
    isClosed.isSet = false
    gate.goOn()
    let report = try await save.value
    XCTAssertEqual(report.outcome, .saved)
    try await discard.value
    try launch.assertNothingIsStored()
  }

  func testAKeyThatWasReplacedSealsTheWholeStateAnew() async throws {
    let keeper = try launch.keeper()
    let (root, _) = try await savedTree(with: keeper)
    launch.keys.lose()
    root.value = "new"
    _ = try await keeper.save([root])
    XCTAssertEqual(try value(of: "root"), "new")
    XCTAssertEqual(try launch.storedPaths().count, 4)
  }

  func testAJournalThatHasOutgrownTheStateIsRewritten() async throws {
    let keeper = try launch.keeper()
    let (root, nodes) = try await savedTree(with: keeper)
    for number in 0..<600 {
      nodes[0].value = String(repeating: "x", count: 400) + "\(number)"
      _ = try await keeper.save([root])
    }
    XCTAssertLessThan(try XCTUnwrap(launch.storedBytes).count, 200_000)
    XCTAssertEqual(try value(of: "root/n0")?.suffix(3), "599")
    XCTAssertEqual(try launch.storedPaths(), ["root", "root/n0", "root/n1", "root/n2"])
  }

  func testAClassThatIsRegisteredLaterIsStoredWithItsName() async throws {
    let keeper = try launch.keeper()
    let (root, _) = try await savedTree(with: keeper)
    try keeper.register(TrackedNode.self, as: "Named")
    _ = try await keeper.save([root])
    XCTAssertEqual(Set(try XCTUnwrap(launch.storedRecords()).elements.map(\.className)), ["Named"])
  }

  func testTheFormerNamesOfAClassGoWithItsLastNode() async throws {
    let keeper = try launch.keeper()
    func prepare(_ keeper: StateKeeper) throws {
      try keeper.register(TrackedStack.self, aliases: ["Old"])
    }
    try prepare(keeper)
    let root = TrackedNode("root")
    root.below = [TrackedStack("stack")]
    _ = try await keeper.save([root])
    root.below = []
    _ = try await keeper.save([root])
    try await assertStoredAsAWhole([root], prepare)
  }

  func testSavesAtOnceAreStoredInTheOrderOfTheirCalls() async throws {
    let keeper = try launch.keeper()
    let (root, nodes) = try await savedTree(with: keeper)
    let saves = (1...5).map { number in
      Task { @MainActor in
        nodes[number % 3].value = "save \(number)"
        return try await keeper.save([root]).outcome
      }
    }
    for save in saves {
      let outcome = try await save.value
      XCTAssertEqual(outcome, .saved)
    }
    XCTAssertEqual(try value(of: "root/n1"), "save 4")
    XCTAssertEqual(try value(of: "root/n2"), "save 5")
  }

  func testAClassThatAHookRegistersIsStoredWithItsNameByTheNextSave() async throws {
    let keeper = try launch.keeper()
    let registering = RegisteringNode(keeper)
    let root = TrackedNode("root")
    _ = try await keeper.save([root, registering])
    XCTAssertEqual(try launch.storedRecords()?["root"]?.className, "TrackedNode")
    registering.keeper = nil
    _ = try await keeper.save([root, registering])
    XCTAssertEqual(try launch.storedRecords()?["root"]?.className, "Named")
  }
}

/// A store whose state lies on a disk that can fail.
private struct FaultyDirectory: StateDirectory {
  let main: FaultyStorage
  private let others = MemoryStateDirectory()

  init(main: FaultyStorage) { self.main = main }

  func storage(named name: String) -> any ArchiveStorage {
    name == "main" ? main : others.storage(named: name)
  }
}

/// Keys that somebody holds up.
private final class GatedKeys: KeyProvider {
  private let keys: MemoryKeyProvider
  private let before: @Sendable () -> Void
  let location: String? = nil

  init(_ keys: MemoryKeyProvider, before: @escaping @Sendable () -> Void) {
    (self.keys, self.before) = (keys, before)
  }

  func key(creating: Bool) throws(ArchiveError) -> ArchiveKey? {
    before()
    return try keys.key(creating: creating)
  }
}

/// A node whose hook registers a class.
@MainActor
private final class RegisteringNode: @MainActor RestorableNode {
  static var stateTracking: StateTracking { .invalidated }

  var keeper: StateKeeper?
  var restorationIdentifier: String? { "registering" }

  init(_ keeper: StateKeeper) { self.keeper = keeper }

  func encodeRestorableState(with coder: StateEncoder) throws {
    try keeper?.register(TrackedNode.self, as: "Named")
  }
}

/// A node whose changes the system observes, and that cannot take its state yet.
@MainActor @Observable
private final class ObservedDraft: @MainActor RestorableNode {
  static var stateTracking: StateTracking { .observed }

  var text: String
  var restorationIdentifier: String? { "draft" }

  init(_ text: String) { self.text = text }

  func encodeRestorableState(with coder: StateEncoder) throws {
    coder.encode(text, forKey: "value")
  }

  func decodeRestorableState(with coder: StateDecoder) throws { throw CancellationError() }
}
