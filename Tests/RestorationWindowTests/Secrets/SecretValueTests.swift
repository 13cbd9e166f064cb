import ArchiveCodec
import Dispatch
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// Values that can be forgotten.
@MainActor
final class SecretValueTests: SecretTestCase {
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
    let context = ArchiveContext([Launch.application, "main"] + rest)
    if rest == ["launch"] {
      return [try SealedRecord.open(bytes, key: key, context: context).values.unsealed.frame]
    }
    let archive = try Archive.open(storage, key: key, context: context)
    return try XCTUnwrap(archive).readAll().map { try $0.content.get().unsealed.frame }
  }

  private func contains(_ bytes: [UInt8], _ text: String) -> Bool {
    String(decoding: bytes, as: UTF8.self).contains(text)
  }

  func testNoRecordOfAnyFileHasASecret() async throws {
    let keeper = try keeper()
    try await saveChanges(with: keeper)
    await keeper.close()
    let next = try self.keeper()
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
    await next.close()
  }

  func testNoCopyOfAStateGivesBackWhatWasForgotten() async throws {
    let keeper = try keeper()
    try await saveChanges(with: keeper)
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
      let before = launch.storedBytes
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
      // In a copy from before, the secret of the node that moved is at the old path.
      for (bytes, expected) in [
        (launch.storedBytes, forgetsNew ? ["y": "old"] : ["x": "new"]),
        (before, forgetsNew ? ["x": "old"] : [:]),
      ] {
        launch.storedBytes = bytes
        var found: [String: String] = [:]
        let again = TrackedSensitiveNode("root")
        again.restorationChildren = ["x", "y"].map { name in
          let node = TrackedSensitiveNode(name)
          node.decode = { found[name] = try $0.decodeIfPresent(forKey: "s") }
          return node
        }
        let restoring = try self.keeper()
        _ = try await restoring.restore(into: [again])
        await restoring.close()
        XCTAssertEqual(found, expected, "\(isEverything) \(isFirst) \(forgetsNew)")
      }
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

  func testASaveThatIsCalledDuringADiscardStoresItsSecretsUnderOtherSubkeys() async throws {
    let gate = Gate()
    // The discard lists generations.
    let store = HookedStore(launch.store) { _, call in if call == .list { gate.pass() } }
    try await saveTree()
    let old = launch.storedBytes
    let keeper = try keeper(store)
    gate.holdUp()
    let discard = Task { try await keeper.discardState() }
    try await waitUntil("the discard is under way") { gate.isWaitedFor }
    let save = Task { _ = try await keeper.save([tree()]) }
    for _ in 0..<20 { await Task.yield() }
    gate.goOn()
    _ = try await (discard.value, save.value)
    await keeper.close()
    try await checkThatOnlyTheNewestHasSecrets(before: old)
  }

  func testTheSaveAfterAnythingThatFailedAtAnyCallStoresAllSecrets() async throws {
    delegate.onWillEncode = nil
    typealias Step = (StateKeeper, TrackedSensitiveNode) async throws -> Void
    let steps: [(String, Step)] = [
      ("forget all", { keeper, _ in try await keeper.forgetSecrets(.all) }),
      (
        "forget one",
        { keeper, _ in try await keeper.forgetSecrets(.below(RestorationPath(["root", "a"]))) }
      ),
      ("discard", { keeper, _ in try await keeper.discardState() }),
      (
        "decline",
        { [delegate] keeper, root in
          delegate.saves = false
          defer { delegate.saves = true }
          _ = try await keeper.save([root])
        }
      ),
    ]
    for (name, step) in steps {
      var call = 0
      var hasFailed = true
      while hasFailed {
        let disk = FaultyDisk(seed: UInt64(call))
        let process = disk.process()
        let keeper = try keeper(process)
        let root = TrackedSensitiveNode("root")
        root.restorationChildren = ["a", "b"].map { name in
          let node = TrackedSensitiveNode(name)
          node.encode = { $0.encode("value of \(name)", forKey: "s", sensitivity: .secret) }
          return node
        }
        _ = try await keeper.save([root])
        process.arm(.failure, after: call)
        do {
          try await step(keeper, root)
        } catch {
          // Whether it was done, nobody knows.
        }
        hasFailed = process.disarm()
        _ = try await keeper.save([root])
        await keeper.close()
        process.end()
        var found: [String: String] = [:]
        let again = TrackedSensitiveNode("root")
        again.restorationChildren = ["a", "b"].map { name in
          let node = TrackedSensitiveNode(name)
          node.decode = { found[name] = try $0.decodeIfPresent(forKey: "s") }
          return node
        }
        _ = try await self.keeper(disk.process()).restore(into: [again])
        XCTAssertEqual(found, ["a": "value of a", "b": "value of b"], "\(name), call \(call)")
        call += 1
      }
      XCTAssertGreaterThan(call, 5, name)
    }
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
    other.policy.instances = .single
    launch.keys.isLocked = false
    secretsBytes = [1]
    do {
      try await other.forgetSecrets(.all)
      XCTFail("another instance has the state")
    } catch {
      XCTAssertEqual(error.code, .inUse)
    }
  }

  func testForgettingOneSecretOfDamagedOnesWritesThoseThatAreKnown() async throws {
    let selection = SecretSelection.value(forKey: "s", at: RestorationPath(["top"]))
    for damage in [{ _ in [] }, { _ in [1] }, { $0.dropLast() }] as [([UInt8]) -> [UInt8]] {
      launch.storedBytes = nil
      secretsBytes = nil
      try await saveTree()
      let keeper = try keeper()
      try await restore(keeper)
      secretsBytes = damage(try XCTUnwrap(secretsBytes))
      try await keeper.forgetSecrets(selection)
      await keeper.close()
      let restored = try await restore()
      XCTAssertEqual(restored.found, all.filter { $0.key != "top" })
    }
    // Where none are known, none are left.
    secretsBytes = [1]
    let other = try keeper()
    try await other.forgetSecrets(selection)
    XCTAssertNil(secretsBytes)
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
}
