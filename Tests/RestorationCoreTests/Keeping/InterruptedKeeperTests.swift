import ArchiveCodec
import Foundation
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// Keepers whose file fails between two calls: what one of them has stored or read stays.
@MainActor
final class InterruptedKeeperTests: BodyTestCase {
  private var directory = HookedDirectory()

  override func setUp() async throws {
    try await super.setUp()
    directory = HookedDirectory(launch.store)
  }

  private func hookedKeeper() throws -> StateKeeper {
    launch.endProcess()
    let keeper = try StateKeeper(
      application: Launch.application, directory: directory, keys: launch.keys,
      environment: launch.environment, now: { [launch] in launch.now })
    try keeper.register(Page.self, as: "Page")
    try keeper.register(TellingPage.self, as: "TellingPage")
    return keeper
  }

  private func fail(_ call: HookedDirectory.Call, of name: String = "main") {
    directory.hear { found, made throws(ArchiveError) in
      if found == name, made == call { throw ArchiveError(.inputOutput) }
    }
  }

  private func assertThrows(_ body: () async throws -> Void, line: UInt = #line) async {
    do {
      try await body()
      XCTFail("does not throw", line: line)
    } catch {}
  }

  /// The texts of pages that a launch restores.
  private func restored(_ names: [String]) async throws -> [String] {
    let pages = names.map { Page($0) }
    let keeper = try keeper()
    _ = try await keeper.restore(into: pages)
    await keeper.close()
    return pages.map(\.text)
  }

  /// Stores two pages, of which the launches of a test have but the first.
  private func storeWithKept() async throws {
    let all = [Page("a", "a"), Page("kept", "kept")]
    let first = try hookedKeeper()
    _ = try await first.save(all)
    await first.close()
  }

  func testASaveThatFindsNothingNamesTheStateThatIsStored() async throws {
    let first = try hookedKeeper()
    let saved = try await first.save([Page("a", "a")])
    await first.close()
    let (keeper, page) = (try hookedKeeper(), Page("a"))
    _ = try await keeper.restore(into: [page])
    for _ in 1...2 {
      let report = try await keeper.save([page])
      XCTAssertEqual(report.writtenByteCount, 0)
      XCTAssertEqual(report.version, saved.version)
      XCTAssertEqual(report.byteCount, saved.byteCount)
    }
  }

  func testASaveAfterOneThatAPowerCutMayUndoStoresAll() async throws {
    let keeper = try hookedKeeper()
    let pages = [Page("a", "a"), Page("b", "b")]
    fail(.publish)
    await assertThrows { _ = try await keeper.save(pages) }
    directory.hear(nil)
    pages[0].text = "edited"
    let report = try await keeper.save(pages)
    XCTAssertNil(report.setAside)
    await keeper.close()
    let texts = try await restored(["a", "b"])
    XCTAssertEqual(texts, ["edited", "b"])
  }

  func testASaveAfterAMomentThatCannotBePutBackGoesOn() async throws {
    try await storeWithKept()
    _ = try await hookedKeeper().save([Page("other", "other")])
    let keeper = try hookedKeeper()
    let moments = try await keeper.history()
    let moment = try XCTUnwrap(moments.last)
    try await keeper.putBack(moment)
    let page = Page("a")
    _ = try await keeper.restore(into: [page])
    _ = try await keeper.save([page])
    fail(.replace)
    await assertThrows { try await keeper.putBack(moment) }
    directory.hear(nil)
    page.text = "edited"
    _ = try await keeper.save([page])
    await keeper.close()
    let texts = try await restored(["a", "kept"])
    XCTAssertEqual(texts, ["edited", "kept"])
  }

  func testASaveAfterOneThatCouldNotOpenTheFileAgainGoesOn() async throws {
    try await storeWithKept()
    let keeper = try hookedKeeper()
    let page = Page("a")
    _ = try await keeper.restore(into: [page])
    _ = try await keeper.save([page])
    await keeper.close()
    page.text = "edited"
    fail(.openForAppending)
    await assertThrows { _ = try await keeper.save([page]) }
    directory.hear(nil)
    _ = try await keeper.save([page])
    await keeper.close()
    let texts = try await restored(["a", "kept"])
    XCTAssertEqual(texts, ["edited", "kept"])
  }

  func testAStateThatWasDamagedWhileItWasClosedIsKeptAndStoredAnew() async throws {
    try await storeWithKept()
    let keeper = try hookedKeeper()
    let page = Page("a")
    _ = try await keeper.restore(into: [page])
    await keeper.close()
    launch.storedBytes = launch.storedBytes.map { Array($0.prefix(100)) }
    page.text = "edited"
    let report = try await keeper.save([page])
    XCTAssertNotNil(report.setAside)
    await keeper.close()
    let texts = try await restored(["a"])
    XCTAssertEqual(texts, ["edited"])
  }

  func testAStateThatGrowsOldWhileItIsClosedIsGoneOnWith() async throws {
    try await storeWithKept()
    let keeper = try hookedKeeper()
    keeper.policy.maximumAge = 3600
    let page = Page("a")
    _ = try await keeper.restore(into: [page])
    await keeper.close()
    launch.now.addTimeInterval(7200)
    page.text = "edited"
    _ = try await keeper.save([page])
    await keeper.close()
    let texts = try await restored(["a", "kept"])
    XCTAssertEqual(texts, ["edited", "kept"])
  }

  /// An end that blocks the actor comes while the bodies of a late node are read.
  private func endInLateRestore(
    referring isReferring: Bool = false, _ make: (String) -> Page
  ) async throws {
    launch = Launch()
    // More than a file keeps in memory.
    let typed = String(repeating: "typed ", count: 50_000)
    try await save([Page("root", "root", below: [Page("late", typed)])])
    let gate = Gate()
    let store = HookedStore(launch.store) { name, call throws(ArchiveError) in
      if name == "main", call == .read { gate.pass() }
    }
    launch.endProcess()
    let keeper = try StateKeeper(
      application: Launch.application, directory: store, keys: launch.keys)
    try keeper.register(Page.self, as: "Page")
    try keeper.register(TellingPage.self, as: "TellingPage")
    let root = make("root")
    _ = try await keeper.restore(into: [root])
    let late = make("late")
    root.below = [late]
    gate.holdUp()
    let restore = Task { try await keeper.restore(late: late, below: root) }
    try await waitUntil("a read is held up") { gate.isWaitedFor }
    root.below.append(make("new"))
    if isReferring { root.friends = [late] }
    Thread.detachNewThread {
      usleep(20_000)
      gate.goOn()
    }
    XCTAssertTrue(keeper.endNow(saving: [root], within: .seconds(60)))
    XCTAssertEqual(try texts("root/late"), [typed])
    XCTAssertEqual(try texts("root/new"), ["default"])
    XCTAssertEqual(
      try launch.storedRecords()?.paths(referredToFrom: "root", forKey: "friends"),
      isReferring ? ["root/late"] : [])
    _ = try await restore.value
    XCTAssertEqual(late.text, typed)
    root.below.append(make("newer"))
    _ = try await keeper.save([root])
    await keeper.close()
    XCTAssertEqual(try texts("root/late"), [typed])
    XCTAssertEqual(try texts("root/new"), ["default"])
    XCTAssertEqual(try texts("root/newer"), ["default"])
  }

  func testALateNodeComesBackWhereNothingCanBeLocked() async throws {
    try await storeWithKept()
    fail(.lock)
    let (keeper, page) = (try hookedKeeper(), Page("a"))
    _ = try await keeper.restore(into: [page])
    let late = Page("kept")
    let report = try await keeper.restore(late: late)
    XCTAssertEqual([page.text, late.text], ["a", "kept"], "\(report)")
  }

  func testADamagedStateThatCouldNotBeLockedAtTheLaunchIsKept() async throws {
    let first = try hookedKeeper()
    _ = try await first.save([Page("a", "a")])
    _ = try await first.save([Page("a", "edited")])
    await first.close()
    launch.storedBytes = launch.storedBytes.map { $0.dropLast() + [~($0.last ?? 0)] }
    fail(.lock)
    let (keeper, page) = (try hookedKeeper(), Page("a"))
    _ = try await keeper.restore(into: [page])
    XCTAssertEqual(page.text, "a")
    directory.hear(nil)
    page.text = "typed"
    _ = try await keeper.save([page])
    let reasons = try await keeper.history().map(\.reason)
    XCTAssertEqual(reasons, [.damaged])
  }

  func testWhatTheApplicationWroteStaysWhenItsHookThrowsTheNextTime() async throws {
    try await throwInTheHook(of: TestDelegate())
    launch = Launch()
    let delegate = TestDelegate()
    delegate.onShouldSave = { $0.encode(11, forKey: "gate") }
    try await throwInTheHook(of: delegate)
  }

  private func throwInTheHook(of delegate: TestDelegate) async throws {
    let friend = Page("friend", "friend")
    delegate.onWillEncode = { coder in
      coder.encode("stored", forKey: "text")
      coder.encode(friend, forKey: "friend")
    }
    let keeper = try keeper()
    keeper.delegate = delegate
    _ = try await keeper.save([Page("root")])
    delegate.onWillEncode = { coder in
      coder.encode("half", forKey: "text")
      throw Page.Failure()
    }
    for text in ["a", "b"] { _ = try await keeper.save([Page("root", text)]) }
    await keeper.close()
    var stored: [String] = []
    delegate.onDidDecode = { stored.append(try $0.decode(forKey: "text")) }
    let next = try self.keeper()
    next.delegate = delegate
    let report = try await next.restore(into: [Page("root")])
    XCTAssertEqual(stored, ["stored"])
    XCTAssertEqual(report.entries.map(\.path.description), ["", "root", "friend"])
  }

  /// The app may go on with what it has, but not over a state that it has just chosen.
  func testAnAutosaveLeavesAStateThatWasPutBack() async throws {
    let (keeper, page) = (try keeper(), Page("a", "a"))
    keeper.policy.historyCounts[.session] = 1
    _ = try await keeper.save([page])
    await keeper.close()
    let next = try self.keeper()
    next.policy.historyCounts[.session] = 1
    _ = try await next.restore(into: [page])
    page.text = "edited"
    _ = try await next.save([page])
    let autosave = next.autosave { [page] }
    let moment = try await next.history().last { $0.reason == .session }
    try await next.putBack(try XCTUnwrap(moment))
    page.text = "typed"
    autosave.setNeedsSave()
    _ = await autosave.flush()
    XCTAssertFalse(next.endNow(saving: [page]))
    await next.close()
    let texts = try await restored(["a"])
    XCTAssertEqual(texts, ["a"])
  }

  func testWhoSavesAfterAPutBackGoesOnWithThat() async throws {
    let (keeper, page) = (try keeper(), Page("a", "a"))
    _ = try await keeper.restore(into: [page])
    _ = try await keeper.save([page])
    await keeper.close()
    let moment = try await history(after: page)
    let next = try self.keeper()
    _ = try await next.restore(into: [page])
    try await next.putBack(moment)
    _ = try await next.save([page])
    page.text = "typed"
    XCTAssertTrue(next.endNow(saving: [page]))
    let texts = try await restored(["a"])
    XCTAssertEqual(texts, ["typed"])
  }

  /// A moment of a session, which the next launch can put back.
  private func history(after page: Page) async throws -> Moment {
    let keeper = try keeper()
    keeper.policy.historyCounts[.session] = 1
    _ = try await keeper.restore(into: [page])
    page.text = "edited"
    _ = try await keeper.save([page])
    let moment = try await keeper.history().last { $0.reason == .session }
    await keeper.close()
    return try XCTUnwrap(moment)
  }

  /// The answer of the file waits for the actor, which an end blocks that runs out of time.
  func testASaveGoesOnAfterAnEndThatRanOutOfTime() async throws {
    let (reading, writing) = (Gate(), Gate())
    let store = HookedStore(launch.store) { _, call throws(ArchiveError) in
      if call.isWrite { writing.pass() } else { reading.pass() }
    }
    launch.endProcess()
    let keeper = try StateKeeper(
      application: Launch.application, directory: store, keys: launch.keys)
    let pages = ["a", "b", "c"].map { Page($0, $0) }
    _ = try await keeper.restore(into: pages)
    reading.holdUp()
    let save = Task { try await keeper.save(pages) }
    try await waitUntil("the file is asked") { reading.isWaitedFor }
    writing.holdUp()
    reading.goOn()
    usleep(100_000)
    pages[0].text = "typed"
    XCTAssertFalse(keeper.endNow(saving: pages, within: .milliseconds(100)))
    XCTAssertTrue(writing.isWaitedFor)
    writing.goOn()
    pages[1].text = "typed later"
    _ = try await save.value
    pages[2].text = "typed last"
    _ = try await keeper.save(pages)
    await keeper.close()
    let texts = try await restored(["a", "b", "c"])
    XCTAssertEqual(texts, ["typed", "typed later", "typed last"])
  }

  func testAnEndThatBlocksTheActorInALateRestoreTakesNothingFromIt() async throws {
    try await endInLateRestore { Page($0) }
  }

  func testAReferenceToANodeThatComesLateNamesItsElement() async throws {
    try await endInLateRestore(referring: true) { Page($0) }
    try await endInLateRestore(referring: true) { TellingPage($0) }
  }

  func testTheStateOfAnotherInstanceIsKeptAndNotMixedWithTheOneThatIsSavedAfterIt() async throws {
    let keeper = try hookedKeeper()
    _ = try await keeper.save([Page("a", "a")])
    await keeper.close()
    let other = try hookedKeeper()
    let tree = Page("b", "b", below: [Page("c", "c"), Page("d", "d")])
    _ = try await other.restore()
    _ = try await other.save([tree, Page("e", "e")])
    await other.close()
    let report = try await keeper.save([Page("a", "edited")])
    XCTAssertNotNil(report.setAside)
    await keeper.close()
    XCTAssertEqual(try allTexts(), ["edited"])
    let moments = try await keeper.history()
    XCTAssertEqual(moments.map(\.reason), [.unread])
  }

  func testAStateThatTheAppDeclinesIsKeptAndNotMixedWithTheNextOne() async throws {
    let tree = Page("b", "b", below: [Page("c", "c"), Page("d", "d")])
    let first = try hookedKeeper()
    _ = try await first.save([tree, Page("e", "e")])
    await first.close()
    let delegate = TestDelegate()
    delegate.restores = false
    let keeper = try hookedKeeper()
    keeper.delegate = delegate
    let restored = try await keeper.restore()
    XCTAssertEqual(restored.outcome, .declined)
    _ = try await keeper.save([Page("a", "a", below: [Page("new", "new")])])
    XCTAssertEqual(try allTexts(), ["a", "new"])
    let moments = try await keeper.history()
    XCTAssertEqual(moments.map(\.reason), [.unread])
    await keeper.close()
  }

  func testAStateOfWhichOneReadFailsIsKeptAndNotMixedWithTheNextOne() async throws {
    let long = String(repeating: "long ", count: 50_000)
    var number = 0
    var hasFailed = true
    while hasFailed {
      number += 1
      launch = Launch()
      try await save([Page("b", long, below: [Page("c", "c"), Page("d", "d")]), Page("e", "e")])
      launch.endProcess()
      let count = Mutex(0)
      let (failing, isRestoring) = (number, Flag())
      isRestoring.isSet = true
      let store = HookedStore(launch.store) { name, call throws(ArchiveError) in
        guard name == "main", call == .read || call == .readFirst else { return }
        let made = count.withLock { count in
          count += 1
          return count
        }
        if made >= failing, isRestoring.isSet { throw ArchiveError(.inputOutput) }
      }
      let keeper = try StateKeeper(
        application: Launch.application, directory: store, keys: launch.keys)
      hasFailed = false
      do { _ = try await keeper.restore() } catch { hasFailed = true }
      isRestoring.isSet = false
      guard hasFailed else { break }
      _ = try await keeper.save([Page("a", "a", below: [Page("new", "new")])])
      XCTAssertEqual(try allTexts(), ["a", "new"], "\(number)")
      let moments = try await keeper.history()
      XCTAssertEqual(moments.map(\.reason), [.unread], "\(number)")
      await keeper.close()
    }
    XCTAssertGreaterThan(number, 3)
  }

  func testAnEndThatBlocksTheActorInALateRestoreOfTellingNodesTakesNothingFromIt() async throws {
    try await endInLateRestore { TellingPage($0) }
  }
}
