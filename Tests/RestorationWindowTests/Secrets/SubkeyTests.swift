import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// What becomes of the subkeys of secrets.
@MainActor
final class SubkeyTests: SecretTestCase {
  // MARK: Subkeys that are not needed

  func testASubkeyToWhichNothingRefersGoesWithTheSave() async throws {
    let keeper = try keeper()
    let top = tree()
    _ = try await keeper.save([top])
    let old = try XCTUnwrap(launch.storedBytes)
    top.encode = { $0.encode(Self.plain, forKey: "plain") }
    _ = try await keeper.save([top])
    await keeper.close()
    launch.storedBytes = old
    let restored = try await restore()
    XCTAssertEqual(restored.found, all.filter { $0.key != "top" })
  }

  func testTheSubkeyOfANodeThatHasNoPlaceAnyMoreGoesAlsoIfSomethingRefersToIt() async throws {
    delegate.onWillEncode = nil
    for isReferredTo in [false, true] {
      for isEverything in [false, true] {
        let keeper = try keeper()
        let node = SensitiveNode("node") { $0.encode("v", forKey: "s", sensitivity: .secret) }
        let other = SensitiveNode("other")
        if isReferredTo { other.encode = { $0.encode(node, forKey: "reference") } }
        let root = SensitiveNode("root")
        root.restorationChildren = [node, other]
        _ = try await keeper.save([root])
        XCTAssertNotNil(secretsBytes)
        node.restorationIdentifier = nil
        _ = isEverything ? try await keeper.saveEverything([root]) : try await keeper.save([root])
        XCTAssertNil(secretsBytes, "\(isReferredTo) \(isEverything)")
        try await keeper.discardState()
        await keeper.close()
      }
    }
  }

  func testTheLastSubkeyGoesWithASaveAfterTheStateWasLetGo() async throws {
    delegate.onWillEncode = nil
    let keeper = try keeper()
    let top = tree()
    _ = try await keeper.save([top])
    await keeper.close()
    XCTAssertNotNil(secretsBytes)
    _ = try await keeper.save([SensitiveNode("top")])
    XCTAssertNil(secretsBytes)
  }

  func testWhatAnotherInstanceHasForgottenGetsAnotherSubkey() async throws {
    let first = try keeper()
    let top = tree()
    _ = try await first.save([top])
    let old = launch.storedBytes
    await first.close()
    try await forget(.all)
    _ = try await first.save([top])
    await first.close()
    try await checkThatOnlyTheNewestHasSecrets(before: old)
  }

  func testTheLastSubkeyGoesAfterAnotherLaunchToo() async throws {
    try await saveTree()
    delegate.onWillEncode = nil
    let keeper = try keeper()
    let top = emptyTree()
    _ = try await keeper.restore(into: [top])
    _ = try await keeper.save([top])
    XCTAssertNil(secretsBytes)
  }

  func testSubkeysStayForAStateThatWasSetAside() async throws {
    try await saveTree()
    delegate.onWillEncode = nil
    let keeper = try keeper()
    _ = try await keeper.save([SensitiveNode("top")])
    _ = try await keeper.save([SensitiveNode("top", value: "v")])
    let aside = try await keeper.setAsideStates()
    XCTAssertEqual(aside.count, 1)
    try await keeper.putBack(aside[0])
    let restored = try await restore(keeper)
    XCTAssertEqual(restored.found, all)
    try await keeper.removeSetAside(try await keeper.setAsideStates()[0])
    delegate.onWillEncode = nil
    _ = try await keeper.save([SensitiveNode("top")])
    XCTAssertNil(secretsBytes)
  }

  func testAStateThatIsSetAsideByADeclinedSaveHasItsSecretsWhenItIsPutBack() async throws {
    try await saveTree()
    let keeper = try keeper()
    delegate.saves = false
    let report = try await keeper.save([emptyTree()])
    delegate.saves = true
    XCTAssertEqual(report.outcome, .declined)
    let aside = try await keeper.setAsideStates()
    XCTAssertEqual(aside.map(\.reason), [.unread])
    try await keeper.putBack(try XCTUnwrap(aside.first))
    await keeper.close()
    let restored = try await restore()
    XCTAssertEqual(restored.found, all)
  }

  func testAStateThatIsDeclinedLeavesNoSecretsThatNothingSetAsideNeeds() async throws {
    for canBeRead in [true, false] {
      launch.storedBytes = nil
      secretsBytes = nil
      delegate.onWillEncode = nil
      let main = launch.store.memory(named: "main")
      for archive in try main.setAsideArchives() { try archive.storage.remove() }
      let aside = SensitiveNode("aside") { $0.encode("a", forKey: "s", sensitivity: .secret) }
      let first = try keeper()
      _ = try await first.save([aside])
      await first.close()
      // Nobody has read what is there.
      let keeper = try keeper()
      _ = try await keeper.save([tree()])
      let archives = try main.setAsideArchives()
      XCTAssertEqual(archives.count, 1)
      if !canBeRead { (archives.first?.storage as? MemoryStorage)?.bytes = [1] }
      let copy = launch.storedBytes
      delegate.saves = false
      _ = try await keeper.save([tree()])
      delegate.saves = true
      await keeper.close()
      XCTAssertNil(launch.storedBytes)
      XCTAssertNotNil(secretsBytes)
      launch.storedBytes = copy
      let restored = try await restore()
      XCTAssertEqual(restored.found["top"], canBeRead ? nil : Self.secrets[0])
      XCTAssertEqual(restored.found["plain"], Self.plain)
      let next = try self.keeper()
      let state = try await next.setAsideStates().first
      guard canBeRead else { continue }
      try await next.putBack(try XCTUnwrap(state))
      var found: String?
      let node = SensitiveNode("aside")
      node.decode = { found = try $0.decodeIfPresent(forKey: "s") }
      _ = try await next.restore(into: [node])
      XCTAssertEqual(found, "a")
      await next.close()
    }
  }

  func testSubkeysOfWhatIsKeptStayAndComeBackLate() async throws {
    try await saveTree()
    delegate.onWillEncode = nil
    let keeper = try keeper()
    let top = SensitiveNode("top")
    _ = try await keeper.restore(into: [top])
    for number in 0..<3 {
      top.value = "\(number)"
      _ = try await keeper.save([top])
    }
    found = [:]
    let late = try XCTUnwrap(emptyTree().restorationChildren.first)
    top.restorationChildren = [late]
    _ = try await keeper.restore(late: late, below: top)
    XCTAssertEqual(found, ["below": Self.secrets[1], "inner": Self.secrets[2]])
  }

  func testWhatIsForgottenIsAbsentForANodeThatComesLate() async throws {
    try await saveTree()
    let keeper = try keeper()
    let top = SensitiveNode("top")
    _ = try await keeper.restore(into: [top])
    _ = try await keeper.save([top])
    try await keeper.forgetSecrets(.value(forKey: "s", at: RestorationPath(["top", "below"])))
    found = [:]
    let late = try XCTUnwrap(emptyTree().restorationChildren.first)
    top.restorationChildren = [late]
    let report = try await keeper.restore(late: late, below: top)
    XCTAssertEqual(found, ["inner": Self.secrets[2]])
    XCTAssertEqual(report.notes, [.forgottenSecrets(["s"])])
  }

  func testWhatIsKeptIsForgottenByThePathThatItHasByNow() async throws {
    try await saveTree()
    delegate.onWillEncode = nil
    let keeper = try keeper()
    let top = SensitiveNode("top")
    _ = try await keeper.restore(into: [top])
    top.restorationIdentifier = "renamed"
    let report = try await keeper.save([top])
    let path = RestorationPath(["renamed"])
    XCTAssertEqual(report.entries.map(\.path).suffix(2), [path, path.appending("below")])
    try await keeper.forgetSecrets(.below(path))
    XCTAssertNil(secretsBytes)
  }

  func testWhatIsKeptAndForgottenIsNotStoredAgainAndAgain() async throws {
    try await saveTree()
    delegate.onWillEncode = nil
    let keeper = try keeper()
    let top = SensitiveNode("top") { $0.encode("v", forKey: "s", sensitivity: .secret) }
    _ = try await keeper.restore(into: [top])
    _ = try await keeper.save([top])
    try await keeper.forgetSecrets(.below(RestorationPath(["top", "below"])))
    _ = copying.takeCalls()
    for number in 0..<3 {
      top.value = "\(number)"
      _ = try await keeper.save([top])
    }
    XCTAssertFalse(copying.takeCalls().contains("replace main.secrets"))
  }

  func testASubkeyOfAStateThatSomebodyHasRemovedGoesWithASave() async throws {
    try await saveTree()
    launch.storedBytes = nil
    delegate.onWillEncode = nil
    let keeper = try keeper()
    let report = try await keeper.restore(into: [])
    XCTAssertEqual(report.outcome, .noArchive)
    _ = try await keeper.save([SensitiveNode("top")])
    XCTAssertNil(secretsBytes)
  }

  func testANodeThatCannotBeEncodedKeepsItsSecret() async throws {
    struct Failure: Error {}
    let keeper = try keeper()
    let top = tree()
    _ = try await keeper.save([top])
    top.encode = { _ in throw Failure() }
    for _ in 0..<3 { _ = try await keeper.save([top]) }
    await keeper.close()
    let restored = try await restore()
    XCTAssertEqual(restored.found, all)
  }

  // MARK: What is missing

  func testSecretsWithoutTheirSubkeysAreAbsentAndTheRestComesBack() async throws {
    try await saveTree()
    let bytes = try XCTUnwrap(secretsBytes)
    for damaged in [nil, [], [1, 2, 3], Array(bytes.dropLast(9)), bytes.map { $0 ^ 0x55 }] {
      secretsBytes = damaged
      let restored = try await restore()
      XCTAssertEqual(restored.found, ["plain": Self.plain])
      XCTAssertTrue(restored.notes.contains(.forgottenSecrets(["s"])))
      XCTAssertFalse(restored.notes.contains { $0.isProblem && $0 != .unreadKeys(["in"]) })
    }
    // A save stores them anew.
    let keeper = try keeper()
    try await restore(keeper)
    _ = try await keeper.save([tree()])
    await keeper.close()
    let restored = try await restore()
    XCTAssertEqual(restored.found, all)
  }

  func testAStateWhoseSubkeysCannotBeReadNowIsNotRestoredWithoutThem() async throws {
    try await saveTree()
    let failing = Flag()
    let store = HookedStore(launch.store) { name, call throws(ArchiveError) in
      if failing.isSet, call == .open, name == "main.secrets" { throw ArchiveError(.inputOutput) }
    }
    let keeper = try keeper(store)
    failing.isSet = true
    do {
      _ = try await keeper.restore(into: [emptyTree()])
      XCTFail("it did not throw")
    } catch {
      XCTAssertEqual(error.archive?.code, .inputOutput)
    }
    failing.isSet = false
    _ = try await keeper.save([SensitiveNode("top")])
    try await keeper.putBack(try await keeper.setAsideStates()[0])
    let restored = try await restore(keeper)
    XCTAssertEqual(restored.found, all)
  }

  func testTheSubkeysOfAnotherStateOpenNothing() async throws {
    try await saveTree()
    let other = Launch()
    let stranger = try StateKeeper(
      application: Launch.application, name: "other", directory: other.store, keys: launch.keys)
    _ = try await stranger.save([tree()])
    secretsBytes = other.store.memory(named: "other.secrets").bytes
    let restored = try await restore()
    XCTAssertEqual(restored.found, ["plain": Self.plain])
  }

  // MARK: Versions

  func testAnOlderVersionOfTheAppKeepsSecretsThatItCannotRead() async throws {
    let keeper = try keeper()
    try keeper.register(
      SensitiveNode.self, version: 2, migrations: [StateMigration(from: 1) { _ in }])
    _ = try await keeper.save([tree()])
    await keeper.close()
    let older = try self.keeper()
    let top = emptyTree()
    _ = try await older.restore(into: [top])
    for _ in 0..<3 { _ = try await older.save([top]) }
    await older.close()
    let newer = try self.keeper()
    try newer.register(
      SensitiveNode.self, version: 2, migrations: [StateMigration(from: 1) { _ in }])
    let restored = try await restore(newer)
    XCTAssertEqual(restored.found, all)
  }

  private func keeper(version: Int) throws -> StateKeeper {
    let keeper = try keeper()
    let steps = (1..<version).map { StateMigration(from: $0) { _ in } }
    try keeper.register(SensitiveNode.self, version: version, migrations: steps)
    return keeper
  }

  private func node(_ secret: String) -> SensitiveNode {
    SensitiveNode("x") { $0.encode(secret, forKey: "s", sensitivity: .secret) }
  }

  /// An older version of the app that has restored a node whose state it cannot read.
  private func older(
    savesFirst: Bool, isBack: Bool = true
  ) async throws -> (keeper: StateKeeper, root: TestNode, parent: TestNode, old: SensitiveNode) {
    (launch.storedBytes, secretsBytes, delegate.onWillEncode) = (nil, nil, nil)
    let newer = try keeper(version: 2)
    _ = try await newer.save([
      TestNode("root", children: [TestNode("parent", children: [node("old")])])
    ])
    await newer.close()
    let older = try keeper(version: 1)
    let old = SensitiveNode("x")
    let parent = TestNode("parent", children: isBack ? [old] : [])
    let root = TestNode("root", children: [parent])
    _ = try await older.restore(into: [root])
    if savesFirst { _ = try await older.save([root]) }
    return (older, root, parent, old)
  }

  func testANodeAtTheFormerPathOfOneThatIsKeptAsStoredHasASecretOfItsOwn() async throws {
    for (forgotten, expected) in [("x", ["y": "old"]), ("y", ["x": "new"])] {
      let (older, root, parent, old) = try await older(savesFirst: true)
      old.restorationIdentifier = "y"
      parent.restorationChildren = [old, node("new")]
      _ = try await older.save([root])
      try await older.forgetSecrets(.below(RestorationPath(["root", "parent", forgotten])))
      await older.close()
      var found: [String: String] = [:]
      parent.restorationChildren = ["x", "y"].map { name in
        let node = SensitiveNode(name)
        node.decode = { found[name] = try $0.decodeIfPresent(forKey: "s") }
        return node
      }
      let newer = try keeper(version: 2)
      _ = try await newer.restore(into: [root])
      await newer.close()
      XCTAssertEqual(found, expected, forgotten)
    }
  }

  func testNoOtherNodeGetsTheSubkeyOfAStateThatIsKept() async throws {
    typealias Change = (_ root: TestNode, _ parent: TestNode, _ old: SensitiveNode) -> Void
    let cases: [(name: String, savesFirst: Bool, isBack: Bool, kept: String, change: Change)] = [
      (
        "before the first save", false, true, "root/parent/y",
        { [self] _, parent, old in
          old.restorationIdentifier = "y"
          parent.restorationChildren = [old, node("new")]
        }
      ),
      (
        "asked first", true, true, "root/later/x",
        { [self] root, parent, old in
          parent.restorationChildren = [node("new")]
          root.restorationChildren.append(TestNode("later", children: [old]))
        }
      ),
      (
        "beside another state", true, true, "root/parent/y",
        { [self] _, parent, old in
          old.restorationIdentifier = "y"
          old.encode = { $0.encode("typed", forKey: "plain") }
          parent.restorationChildren = [old, node("new")]
        }
      ),
      (
        "not back", true, false, "root/renamed/x",
        { [self] root, parent, _ in
          parent.restorationIdentifier = "renamed"
          root.restorationChildren.append(TestNode("parent", children: [node("new")]))
        }
      ),
    ]
    for (name, savesFirst, isBack, kept, change) in cases {
      let (older, root, parent, old) = try await older(savesFirst: savesFirst, isBack: isBack)
      change(root, parent, old)
      _ = try await older.save([root])
      await older.close()
      let records = try XCTUnwrap(try launch.storedRecords())
      let new = try XCTUnwrap(records["root/parent/x"]).subkeys
      let keptOnes = try XCTUnwrap(records[kept]).subkeys
      XCTAssertEqual([new.count, keptOnes.count], [1, 1], name)
      XCTAssertNotEqual(new, keptOnes, name)
    }
  }

  // MARK: Errors

  func testTheErrorOfASecretSaysNothingOfIt() async throws {
    struct Telling: Error, CustomStringConvertible {
      let description: String
    }
    struct Failing: Encodable {
      let text: String
      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
        throw Telling(description: text)
      }
    }
    let node = SensitiveNode("node") {
      try $0.encode(Failing(text: "top-secret"), forKey: "s", sensitivity: .secret)
    }
    let report = try await keeper().save([node])
    XCTAssertEqual(report.outcome(of: "node"), .savedWithoutState)
    XCTAssertFalse("\(report)".contains("top-secret"))
    XCTAssertTrue(
      "\(report)".contains("The secret value of “s” cannot be encoded: Telling."), "\(report)")
  }

  // MARK: Names

  func testNoStateHasTheNameOfSubkeys() throws {
    XCTAssertThrowsError(
      try StateKeeper(application: "org.example", name: "main.secrets", keys: launch.keys)
    ) {
      XCTAssertEqual(($0 as? RestorationError)?.code, .invalidName)
    }
  }

  func testSubkeysLieInAFileBesideTheState() async throws {
    let directory = try TemporaryDirectory()
    let keeper = try keeper(FileStateDirectory(path: directory.path))
    func files() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: directory.path)
        .filter { $0.hasSuffix(".rka") }.sorted()
    }
    let top = tree()
    _ = try await keeper.save([top])
    XCTAssertEqual(try files(), ["main.rka", "main.secrets.rka"])
    try await keeper.forgetSecrets(.all)
    XCTAssertEqual(try files(), ["main.rka"])
    _ = try await keeper.save([top])
    XCTAssertEqual(try files(), ["main.rka", "main.secrets.rka"])
    try await keeper.discardState()
    XCTAssertEqual(try files(), [])
  }

  func testSubkeysAreNoSceneAndGoWithTheirScene() async throws {
    let app = SceneLaunch()
    let host = try await app.host()
    let scene = try await host.open()
    app.delegates[0].roots = [tree()]
    let identifier = scene.session.persistentIdentifier
    func secrets() -> [UInt8]? {
      app.launch.store.memory(named: "main.scene-\(identifier).secrets").bytes
    }
    try await host.save(scene)
    XCTAssertNotNil(secrets())
    try await host.disconnect(scene)
    let below = RestorationPath(["top", "below"])
    try await host.forgetSecrets(.below(below), of: host.openSessions[0])
    let next = try await app.host()
    XCTAssertEqual(next.openSessions.map(\.persistentIdentifier), [identifier])
    app.prepare = { [unowned self] in $0.roots = [emptyTree()] }
    found = [:]
    let again = try await next.connect(next.openSessions[0])
    XCTAssertEqual(found, ["top": Self.secrets[0], "plain": Self.plain])
    try await next.close(again)
    XCTAssertNil(secrets())
  }

  func testSubkeysGoWithTheStateOfAnInstanceThatIsGone() async throws {
    let first = try keeper()
    _ = try await first.save([tree()])
    let second = try keeper()
    _ = try await second.save([tree()])
    await second.close()
    let name = "main~2.secrets"
    XCTAssertNotNil(launch.store.memory(named: name).bytes)
    try await first.discardState(includingSetAside: true)
    XCTAssertNil(launch.store.memory(named: name).bytes)
    XCTAssertEqual(try launch.store.names(), [])
  }
}
