import ArchiveCodec
import Dispatch
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// Values that can be forgotten.
@MainActor
final class SecretValueTests: XCTestCase {
  private let launch = Launch()
  private lazy var copying = CopyingStore(launch.store)

  /// Two nodes with secrets, one below the other, and one of the application.
  private static let secrets = ["top-secret", "below-secret", "inner-secret", "app-secret"]
  /// What anybody may read who has the key.
  private static let plain = "plain-value"

  private let delegate = TestDelegate()
  private var found: [String: String] = [:]

  private func keeper(_ store: (any StateDirectory)? = nil) throws -> StateKeeper {
    let keeper = try StateKeeper(
      application: Launch.application, directory: store ?? copying.directory, keys: launch.keys,
      now: { [launch] in launch.now })
    keeper.delegate = delegate
    return keeper
  }

  override func setUp() async throws {
    delegate.onWillEncode = { $0.encode(Self.secrets[3], forKey: "app", sensitivity: .secret) }
    delegate.onDidDecode = { [unowned self] in found["app"] = try $0.decodeIfPresent(forKey: "app")
    }
  }

  private func tree(_ secrets: [String] = SecretValueTests.secrets) -> SensitiveNode {
    let below = SensitiveNode("below") { coder in
      coder.encode(secrets[1], forKey: "s", sensitivity: .secret)
      try coder.encodeContainer(forKey: "in") {
        try $0.encode(Wrapped(text: secrets[2]), forKey: "s", sensitivity: .secret)
      }
    }
    let top = SensitiveNode("top") { coder in
      coder.encode(Self.plain, forKey: "plain")
      coder.encode(secrets[0], forKey: "s", sensitivity: .secret)
    }
    top.restorationChildren = [below]
    return top
  }

  private struct Wrapped: Codable {
    let text: String
  }

  private func emptyTree() -> SensitiveNode {
    let below = SensitiveNode("below")
    below.decode = { [unowned self] coder in
      found["below"] = try coder.decodeIfPresent(forKey: "s")
      found["inner"] = try coder.container(forKey: "in")?
        .decodeIfPresent(Wrapped.self, forKey: "s")?.text
    }
    let top = SensitiveNode("top")
    top.restorationChildren = [below]
    top.decode = { [unowned self] coder in
      found["top"] = try coder.decodeIfPresent(forKey: "s")
      found["plain"] = try coder.decodeIfPresent(forKey: "plain")
    }
    return top
  }

  /// What a launch finds, and the notes of its report.
  @discardableResult
  private func restore(
    _ keeper: StateKeeper? = nil
  ) async throws -> (found: [String: String], notes: [ReportNote]) {
    found = [:]
    let report = try await (keeper ?? self.keeper()).restore(into: [emptyTree()])
    XCTAssertEqual(report.outcome, .restored)
    XCTAssertFalse(Self.secrets.contains { "\(report) \(report.tree)".contains($0) })
    return (found, report.notes)
  }

  private let all = [
    "top": secrets[0], "below": secrets[1], "inner": secrets[2], "app": secrets[3], "plain": plain,
  ]

  private func saveTree() async throws {
    let keeper = try keeper()
    _ = try await keeper.save([tree()])
    await keeper.close()
  }

  private func forget(_ selection: SecretSelection) async throws {
    let keeper = try keeper()
    try await keeper.forgetSecrets(selection)
    await keeper.close()
  }

  private var secretsBytes: [UInt8]? {
    get { launch.store.memory(named: "main.secrets").bytes }
    set { launch.store.memory(named: "main.secrets").bytes = newValue }
  }

  /// A state that was stored before its secrets were forgotten has none any more.
  private func checkThatOnlyTheNewestHasSecrets(before old: [UInt8]?) async throws {
    let restored = try await restore()
    XCTAssertEqual(restored.found, all)
    launch.storedBytes = old
    let older = try await restore()
    XCTAssertEqual(older.found, ["plain": Self.plain])
  }

  // MARK: Coming back

  func testSecretsComeBackLikeOtherValues() async throws {
    try await saveTree()
    let restored = try await restore()
    XCTAssertEqual(restored.found, all)
    XCTAssertEqual(restored.notes, [])
  }

  func testAnUnchangedSecretIsNotWrittenAgain() async throws {
    let keeper = try keeper()
    let top = tree()
    _ = try await keeper.save([top])
    _ = copying.takeCalls()
    let again = try await keeper.save([top])
    XCTAssertEqual(again.writtenByteCount, 0)
    let everything = try await keeper.saveEverything([top])
    XCTAssertEqual(everything.writtenByteCount, 0)
    XCTAssertEqual(copying.takeCalls(), [])
    await keeper.close()
    // Nor in another launch, but for what the application says of the save.
    let next = try self.keeper()
    try await restore(next)
    _ = try await next.save([top])
    _ = copying.takeCalls()
    let last = try await next.save([top])
    XCTAssertEqual(last.writtenByteCount, 0)
    XCTAssertEqual(copying.takeCalls(), [])
  }

  func testAChangedSecretIsStoredUnderItsSubkey() async throws {
    let keeper = try keeper()
    let bytes = { self.secretsBytes }
    _ = try await keeper.save([tree()])
    let before = bytes()
    _ = try await keeper.save([tree(["new", "below-secret", "inner-secret"])])
    XCTAssertEqual(bytes(), before)
    await keeper.close()
    let restored = try await restore()
    XCTAssertEqual(restored.found["top"], "new")
  }

  // MARK: What files hold

  /// The frames of all records of a copy of a file.
  private func frames(_ name: String, _ bytes: [UInt8]) throws -> [[UInt8]] {
    let key = try XCTUnwrap(try launch.keys.key(creating: false))
    let storage = MemoryStorage()
    storage.bytes = bytes
    let rest = name.dropFirst("main".count).split(separator: ".").map(String.init)
    let archive = try Archive.open(
      storage, key: key, context: ArchiveContext([Launch.application, "main"] + rest),
      // Behind a mark of a launch there may be a note.
      recovery: rest == ["launch"] ? .recover : .strict)
    return try XCTUnwrap(archive).readAll().map { try $0.content.get().unsealed.frame }
  }

  private func contains(_ bytes: [UInt8], _ text: String) -> Bool {
    String(decoding: bytes, as: UTF8.self).contains(text)
  }

  func testNoRecordOfAnyFileHasASecret() async throws {
    let keeper = try keeper()
    let top = tree()
    _ = try await keeper.save([top])
    for number in 0..<5 {
      top.value = "\(number)"
      _ = try await keeper.save([top])
    }
    await keeper.close()
    let next = try self.keeper()
    next.restorationExtension.extend()
    _ = try await next.restore(into: [emptyTree()])
    XCTAssertEqual(copying.copies.keys.sorted(), ["main", "main.launch", "main.secrets"])
    var plainCount = 0
    for (name, copies) in copying.copies {
      for copy in copies {
        for frame in try frames(name, copy) {
          for secret in Self.secrets {
            XCTAssertFalse(contains(frame, secret), "\(name): \(secret)")
          }
          if contains(frame, Self.plain) { plainCount += 1 }
        }
        XCTAssertFalse((Self.secrets + [Self.plain]).contains { contains(copy, $0) })
      }
    }
    XCTAssertGreaterThan(plainCount, 0, "a value without sensitivity is found")
    next.restorationExtension.complete()
    await next.close()
  }

  func testNoCopyOfAStateGivesBackWhatWasForgotten() async throws {
    let keeper = try keeper()
    let top = tree()
    _ = try await keeper.save([top])
    for number in 0..<5 {
      top.value = "\(number)"
      _ = try await keeper.save([top])
    }
    try await keeper.forgetSecrets(.all)
    await keeper.close()
    let states = try XCTUnwrap(copying.copies["main"])
    XCTAssertGreaterThan(states.count, 4)
    XCTAssertNil(secretsBytes)
    for state in states {
      launch.storedBytes = state
      let restored = try await restore()
      XCTAssertEqual(restored.found, ["plain": Self.plain])
      XCTAssertEqual(
        Set(restored.notes),
        [.forgottenSecrets(["s"]), .forgottenSecrets(["in.s", "s"]), .forgottenSecrets(["app"])])
    }
  }

  // MARK: Forgetting

  func testWhatIsForgottenIsWhatWasMeant() async throws {
    let top = RestorationPath(["top"])
    let below = top.appending("below")
    let cases: [(SecretSelection, gone: Set<String>)] = [
      (.value(forKey: "s", at: top), ["top"]),
      (.value(forKey: "s", at: below), ["below"]),
      (.value(forKey: "in", at: below), ["inner"]),
      (.value(forKey: "app", at: RestorationPath()), ["app"]),
      (.value(forKey: "plain", at: top), []),
      (.value(forKey: "s", at: RestorationPath(["bottom"])), []),
      (.below(below), ["below", "inner"]),
      (.below(top), ["top", "below", "inner"]),
      (.below(RestorationPath(["to"])), []),
      (.below(RestorationPath()), ["top", "below", "inner", "app"]),
      (.all, ["top", "below", "inner", "app"]),
    ]
    for (selection, gone) in cases {
      launch.storedBytes = nil
      secretsBytes = nil
      try await saveTree()
      try await forget(selection)
      let restored = try await restore()
      XCTAssertEqual(restored.found, all.filter { !gone.contains($0.key) }, "\(selection)")
      XCTAssertEqual(restored.notes.isEmpty, gone.isEmpty, "\(selection)")
    }
  }

  func testForgettingWritesTheSubkeysAloneAndNothingIfThereAreNone() async throws {
    try await saveTree()
    _ = copying.takeCalls()
    try await forget(.value(forKey: "s", at: RestorationPath(["top"])))
    XCTAssertEqual(copying.takeCalls(), ["replace main.secrets"])
    try await forget(.value(forKey: "s", at: RestorationPath(["top"])))
    XCTAssertEqual(copying.takeCalls(), [])
    try await forget(.all)
    XCTAssertEqual(copying.takeCalls(), ["remove main.secrets"])
    try await forget(.all)
    XCTAssertEqual(copying.takeCalls(), [])
  }

  func testANodeThatStillHasASecretStoresItUnderAnotherSubkey() async throws {
    let keeper = try keeper()
    let top = tree()
    _ = try await keeper.save([top])
    let old = try XCTUnwrap(launch.storedBytes)
    try await keeper.forgetSecrets(.all)
    _ = try await keeper.save([top])
    await keeper.close()
    try await checkThatOnlyTheNewestHasSecrets(before: old)
  }

  func testATrackedNodeIsAskedAgainWhenItsSecretIsForgotten() async throws {
    let keeper = try keeper()
    let node = TrackedSensitiveNode("node")
    node.encode = { $0.encode("v", forKey: "s", sensitivity: .secret) }
    let root = TrackedSensitiveNode("root")
    root.restorationChildren = [node]
    _ = try await keeper.save([root])
    try await keeper.forgetSecrets(.below(RestorationPath(["root"])))
    node.encode = { _ in }
    let report = try await keeper.save([root])
    XCTAssertEqual(report.entries.map(\.path.description), ["root/node"])
    XCTAssertEqual(report.notes, [])
    XCTAssertFalse(try isStored())
  }

  private func isStored() throws -> Bool {
    let words = try XCTUnwrap(try launch.storedRecords()).words
    return words.contains { $0.contains("root") && $0.contains("sensitive") }
  }

  func testASecretIsForgottenUnderThePathThatItsNodeHasByNow() async throws {
    let keeper = try keeper()
    let node = TrackedSensitiveNode("node")
    node.encode = { $0.encode("v", forKey: "s", sensitivity: .secret) }
    let root = TrackedSensitiveNode("root")
    root.restorationChildren = [node]
    _ = try await keeper.save([root])
    root.restorationIdentifier = "renamed"
    root.invalidateRestorableState()
    _ = try await keeper.saveEverything([root])
    let between = launch.storedBytes
    node.restorationIdentifier = "other"
    root.invalidateRestorableState()
    node.invalidateRestorableState()
    _ = try await keeper.save([root])
    try await keeper.forgetSecrets(.below(RestorationPath(["renamed", "other"])))
    await keeper.close()
    for bytes in [between, launch.storedBytes] {
      launch.storedBytes = bytes
      var found: String?
      let again = TrackedSensitiveNode("other")
      again.decode = { found = try $0.decodeIfPresent(forKey: "s") }
      let top = TrackedSensitiveNode("renamed")
      top.restorationChildren = [again]
      _ = try await self.keeper().restore(into: [top])
      XCTAssertNil(found)
    }
  }

  func testANodeThatMovesWithTheOneAboveItIsForgottenByItsNewPath() async throws {
    delegate.onWillEncode = nil
    let keeper = try keeper()
    let node = TrackedSensitiveNode("node")
    node.encode = { $0.encode("v", forKey: "s", sensitivity: .secret) }
    let (middle, root) = (TrackedSensitiveNode("middle"), TrackedSensitiveNode("root"))
    let other = TrackedSensitiveNode("other")
    middle.restorationChildren = [node]
    root.restorationChildren = [middle, other]
    _ = try await keeper.save([root])
    root.restorationChildren = [other]
    other.restorationChildren = [middle]
    root.invalidateRestorableState()
    other.invalidateRestorableState()
    _ = try await keeper.save([root])
    try await keeper.forgetSecrets(.below(RestorationPath(["root", "other"])))
    XCTAssertNil(secretsBytes)
  }

  func testAnObjectAtThePathThatAnotherHasLeftHasASecretOfItsOwn() async throws {
    delegate.onWillEncode = nil
    func make(_ name: String, _ text: String) -> TrackedSensitiveNode {
      let node = TrackedSensitiveNode(name)
      node.encode = { $0.encode(text, forKey: "s", sensitivity: .secret) }
      return node
    }
    for (isEverything, isFirst, forgetsNew) in [
      (true, true, true), (true, true, false), (true, false, true), (true, false, false),
      (false, true, true), (false, true, false), (false, false, true), (false, false, false),
    ] {
      launch.storedBytes = nil
      secretsBytes = nil
      let keeper = try keeper()
      let (old, new) = (make("x", "old"), make("x", "new"))
      let root = TrackedSensitiveNode("root")
      root.restorationChildren = [old]
      _ = try await keeper.save([root])
      old.restorationIdentifier = "y"
      old.invalidateRestorableState()
      root.restorationChildren = isFirst ? [new, old] : [old, new]
      root.invalidateRestorableState()
      if isEverything {
        _ = try await keeper.saveEverything([root])
      } else {
        _ = try await keeper.save([root])
      }
      let path = RestorationPath(["root", forgetsNew ? "x" : "y"])
      try await keeper.forgetSecrets(.value(forKey: "s", at: path))
      await keeper.close()
      var found: [String: String] = [:]
      let again = TrackedSensitiveNode("root")
      again.restorationChildren = ["x", "y"].map { name in
        let node = TrackedSensitiveNode(name)
        node.decode = { found[name] = try $0.decodeIfPresent(forKey: "s") }
        return node
      }
      _ = try await self.keeper().restore(into: [again])
      XCTAssertEqual(
        found, forgetsNew ? ["y": "old"] : ["x": "new"],
        "\(isEverything) \(isFirst) \(forgetsNew)")
    }
  }

  func testForgettingWaitsForTheSaveThatIsUnderWay() async throws {
    let keeper = try keeper()
    let top = tree()
    // They begin in this order, since they belong to one actor.
    let save = Task { _ = try await keeper.save([top]) }
    let forgetting = Task { try await keeper.forgetSecrets(.all) }
    _ = try await (save.value, forgetting.value)
    XCTAssertNil(secretsBytes)
    await keeper.close()
    let restored = try await restore()
    XCTAssertEqual(restored.found, ["plain": Self.plain])
  }

  func testASaveDuringADiscardStoresItsSecretsUnderOtherSubkeys() async throws {
    let (isWalking, isDiscarded) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let (isArmed, hasWaited) = (Flag(), Flag())
    let store = HookedStore(launch.store) { name, call in
      guard isArmed.isSet else { return }
      // The discard lists generations, too.
      if call == .list, !hasWaited.isSet {
        hasWaited.isSet = true
        isWalking.wait()
      }
      if call == .remove, name == "main" { isDiscarded.signal() }
    }
    try await saveTree()
    let old = launch.storedBytes
    let keeper = try keeper(store)
    let top = tree()
    let encode = top.encode
    top.encode = { coder in
      try encode(coder)
      guard isArmed.isSet else { return }
      isWalking.signal()
      isDiscarded.wait()
      isArmed.isSet = false
    }
    isArmed.isSet = true
    // The file is busy, so the discard waits for it while the save walks.
    let list = Task { _ = try await keeper.setAsideStates() }
    let discard = Task { try await keeper.discardState() }
    let save = Task { _ = try await keeper.save([top]) }
    _ = try await (list.value, discard.value, save.value)
    await keeper.close()
    try await checkThatOnlyTheNewestHasSecrets(before: old)
  }

  func testForgettingSaysWhatIsInItsWay() async throws {
    try await saveTree()
    launch.keys.isLocked = true
    let keeper = try keeper()
    do {
      try await keeper.forgetSecrets(.below(RestorationPath()))
      XCTFail("the key is locked")
    } catch {
      XCTAssertEqual(error.archive?.code, .keyLocked)
    }
    XCTAssertNotNil(secretsBytes)
    try await keeper.forgetSecrets(.all)
    XCTAssertNil(secretsBytes, "nobody needs a key to remove all")
    let other = try self.keeper()
    other.instancePolicy = .single
    launch.keys.isLocked = false
    secretsBytes = [1]
    do {
      try await other.forgetSecrets(.all)
      XCTFail("another instance has the state")
    } catch {
      XCTAssertEqual(error.code, .inUse)
    }
    do {
      try await keeper.forgetSecrets(.below(RestorationPath()))
      XCTFail("it is damaged")
    } catch {
      XCTAssertEqual(error.archive?.isAboutContentOfATest, true, "\(error)")
    }
  }

  // MARK: Order

  func testSubkeysAreStoredBeforeTheStateAndGoBeforeIt() async throws {
    let keeper = try keeper()
    _ = try await keeper.save([tree()])
    XCTAssertEqual(copying.takeCalls(), ["replace main.secrets", "replace main"])
    let extra = tree()
    extra.restorationChildren.append(
      SensitiveNode("more") { $0.encode("m", forKey: "s", sensitivity: .secret) })
    _ = try await keeper.save([extra])
    XCTAssertEqual(copying.takeCalls().prefix(2), ["replace main.secrets", "append main"])
    try await keeper.discardState()
    XCTAssertEqual(copying.takeCalls().prefix(2), ["remove main.secrets", "remove main"])

    _ = try await keeper.save([tree()])
    delegate.saves = false
    _ = copying.takeCalls()
    _ = try await keeper.save([tree()])
    XCTAssertEqual(copying.takeCalls(), ["remove main.secrets", "remove main"])
    delegate.saves = true

    _ = try await keeper.save([tree()])
    await keeper.close()
    let next = try self.keeper()
    next.consumesStateOnLaunch = true
    _ = copying.takeCalls()
    try await restore(next)
    XCTAssertEqual(
      copying.takeCalls().filter { !$0.contains("launch") },
      ["remove main.secrets", "remove main"])
  }

  func testASaveWhoseSubkeysCannotBeStoredLeavesTheStateAsItIs() async throws {
    let store = HookedStore(launch.store) { name, call throws(ArchiveError) in
      if call == .replace, name == "main.secrets" { throw ArchiveError(.storageFull) }
    }
    _ = try await keeper().save([SensitiveNode("plain", value: "v")])
    delegate.onWillEncode = nil
    let keeper = try keeper(store)
    _ = try await keeper.restore(into: [SensitiveNode("plain")])
    let bytes = launch.storedBytes
    do {
      _ = try await keeper.save([tree()])
      XCTFail("it did not throw")
    } catch {
      XCTAssertEqual(error.archive?.code, .storageFull)
    }
    XCTAssertEqual(launch.storedBytes, bytes)
  }

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

  func testAStateThatIsDeclinedOrConsumedLeavesNoSecretsThatNothingSetAsideNeeds() async throws {
    for (end, canBeRead) in [
      ("decline", true), ("consume", true), ("decline", false), ("consume", false),
    ] {
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
      var keeper = try keeper()
      _ = try await keeper.save([tree()])
      let archives = try main.setAsideArchives()
      XCTAssertEqual(archives.count, 1)
      if !canBeRead { (archives.first?.storage as? MemoryStorage)?.bytes = [1] }
      let copy = launch.storedBytes
      if end == "consume" {
        await keeper.close()
        keeper = try self.keeper()
        keeper.consumesStateOnLaunch = true
        try await restore(keeper)
      } else {
        delegate.saves = false
        _ = try await keeper.save([tree()])
        delegate.saves = true
      }
      await keeper.close()
      XCTAssertNil(launch.storedBytes, end)
      XCTAssertNotNil(secretsBytes, end)
      launch.storedBytes = copy
      let restored = try await restore()
      XCTAssertEqual(restored.found["top"], canBeRead ? nil : Self.secrets[0], end)
      XCTAssertEqual(restored.found["plain"], Self.plain)
      let next = try self.keeper()
      let state = try await next.setAsideStates().first
      guard canBeRead else { continue }
      try await next.putBack(try XCTUnwrap(state))
      var found: String?
      let node = SensitiveNode("aside")
      node.decode = { found = try $0.decodeIfPresent(forKey: "s") }
      _ = try await next.restore(into: [node])
      XCTAssertEqual(found, "a", end)
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
    let checked = try await keeper.checkStoredState()
    XCTAssertEqual(report.entries.map(\.path).suffix(2), checked.entries.map(\.path)[...])
    let path = RestorationPath(["renamed"])
    XCTAssertEqual(checked.entries.map(\.path), [path, path.appending("below")])
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

  // MARK: Versions and dry runs

  func testAMigrationAndADryRunSeeSecrets() async throws {
    try await saveTree()
    let seen = StateMigration(from: 1) { state in
      if let text = try state.decodeIfPresent(String.self, forKey: "s") {
        try state.encode("\(text)!", forKey: "s")
      }
    }
    let bytes = launch.store.memory(named: "main.secrets").bytes
    let dry = try keeper()
    try dry.register(SensitiveNode.self, version: 2, migrations: [seen])
    let report = try await dry.checkStoredState()
    XCTAssertEqual(report.entries.map(\.notes), [[.migrated(from: 1)], [.migrated(from: 1)]])
    XCTAssertFalse(Self.secrets.contains { "\(report)".contains($0) })
    XCTAssertEqual(secretsBytes, bytes)
    await dry.close()
    let next = try keeper()
    try next.register(SensitiveNode.self, version: 2, migrations: [seen])
    let restored = try await restore(next)
    XCTAssertEqual(restored.found["top"], "top-secret!")
    await next.close()
    try await forget(.all)
    let last = try keeper()
    try last.register(SensitiveNode.self, version: 2, migrations: [seen])
    let after = try await last.checkStoredState()
    XCTAssertEqual(
      after.entries.map { $0.notes.last },
      [.forgottenSecrets(["s"]), .forgottenSecrets(["in.s", "s"])])
  }

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
    let report = try await StateKeeper(
      application: Launch.application, directory: app.launch.store, keys: app.launch.keys
    ).checkStoredState()
    XCTAssertEqual(report.sceneCount, 1)
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

extension ArchiveError {
  /// Whether it says that what is stored is damaged.
  fileprivate var isAboutContentOfATest: Bool {
    [.truncated, .notAnArchive, .damaged, .malformed].contains(code)
  }
}
