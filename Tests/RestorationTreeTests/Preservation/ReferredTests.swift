import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// Saves of changes of what only references reach.
@MainActor
final class ReferredTests: ChangeTestCase {
  private let root = TrackedNode("root")

  private func keeper(
    registering objects: KeyValuePairs<String, any RestorableObject>
  ) throws -> StateKeeper {
    let keeper = try launch.keeper()
    for (name, object) in objects { keeper.registerObject(object, restorationIdentifier: name) }
    return keeper
  }

  private func assertASaveWritesNothing(_ keeper: StateKeeper, line: UInt = #line) async throws {
    let report = try await keeper.save([root])
    XCTAssertEqual(report.writtenByteCount, 0, line: line)
    XCTAssertEqual(try launch.storedRecords()?.strays, [], line: line)
  }

  func testAnObjectThatSaysNothingOfItsChangesIsAskedInEachSaveAfterALaunch() async throws {
    let object = TestObject("before")
    root.references = [object]
    for value in ["first", "second"] {
      let keeper = try self.keeper(registering: ["object": object])
      _ = try await keeper.restore(into: [root])
      _ = try await keeper.save([root])
      object.value = value
      _ = try await keeper.save([root])
      XCTAssertEqual(try self.value(of: "object"), value)
      await keeper.close()
    }
  }

  func testANodeThatSaysNothingIsAskedAlsoBelowOneThatOnlyAReferenceReaches() async throws {
    let (friend, below) = (TrackedNode("friend"), PlainNode("below"))
    root.references = [friend]
    friend.below = [TrackedNode("between")]
    (friend.below.first as? TrackedNode)?.below = [below]
    let keeper = try launch.keeper()
    for value in ["a", "b", "c"] {
      below.value = value
      _ = try await keeper.save([root])
      XCTAssertEqual(try self.value(of: "root/friend/between/below"), value)
    }
  }

  func testANodeThatTheApplicationRefersToIsAskedWhereverItLies() async throws {
    let (friend, below) = (TrackedNode("friend"), PlainNode("below"))
    friend.below = [below]
    root.references = [friend]
    let delegate = TestDelegate()
    delegate.onWillEncode = { $0.encode([below] as [any StateRestoring], forKey: "nodes") }
    let keeper = try launch.keeper(delegate: delegate)
    for value in ["a", "b", "c"] {
      below.value = value
      _ = try await keeper.save([root])
      XCTAssertEqual(try self.value(of: "root/friend/below"), value)
    }
  }

  func testOneOfTwoWhoLetsGoOfANodeKeepsNoSaveFromAskingIt() async throws {
    let (a, b, friend) = (TrackedNode("a"), TrackedNode("b"), PlainNode("friend"))
    root.below = [a, b]
    a.references = [friend]
    b.references = [friend]
    let keeper = try launch.keeper()
    _ = try await keeper.save([root])
    b.references = []
    friend.value = "later"
    _ = try await keeper.save([root])
    XCTAssertEqual(try value(of: "root/a/friend"), "later")
  }

  func testAnApplicationThatRefersToANodeOfTheTreeChangesNothingInTheNextSaves() async throws {
    let node = PlainNode("node")
    root.below = [node]
    let delegate = TestDelegate()
    delegate.onWillEncode = { $0.encode([node] as [any StateRestoring], forKey: "nodes") }
    let keeper = try launch.keeper(delegate: delegate)
    _ = try await keeper.save([root])
    for _ in 0..<2 { try await assertASaveWritesNothing(keeper) }
    let stored = try XCTUnwrap(launch.storedRecords())
    let application = try XCTUnwrap(stored.application)
    XCTAssertEqual(try stored.paths(in: application, forKey: "nodes"), ["root/node"])
  }

  func testWhatRefersToAViewOrANameThatIsTakenWritesTheSameEachTime() async throws {
    let (plain, view) = (PlainNode("plain"), TestView("of nobody"))
    let objects = [TestObject("first"), TestObject("second")]
    plain.references = [view] + objects
    root.below = [plain]
    let keeper = try launch.keeper()
    for object in objects { keeper.registerObject(object, restorationIdentifier: "object") }
    _ = try await keeper.save([root])
    // The second one is stored, too, and a restore does not find it.
    XCTAssertEqual(try launch.storedPaths(), ["root", "root/plain", "object", "object[1]"])
    for _ in 0..<2 { try await assertASaveWritesNothing(keeper) }
    root.views = [view]
    _ = try await keeper.save([root])
    XCTAssertEqual(
      try launch.storedRecords()?.paths(referredToFrom: "root/plain", forKey: "references").first,
      "root/of nobody")
  }

  func testAChildThatItsNodeOnlyRefersToFromNowOnStaysWithAllBelowIt() async throws {
    let (node, below) = (TrackedNode("node"), TrackedNode("below"))
    node.below = [below]
    root.below = [node]
    let keeper = try launch.keeper()
    _ = try await keeper.save([root])
    root.below = []
    root.references = [node]
    (node.value, below.value) = ("now", "now")
    _ = try await keeper.save([root])
    XCTAssertEqual(try launch.storedPaths(), ["root", "root/node", "root/node/below"])
    XCTAssertEqual(try value(of: "root/node/below"), "now")
    try await assertASaveWritesNothing(keeper)
  }

  func testWhatGoesInTheSaveThatAsksItLeavesNoRecord() async throws {
    let (friend, below) = (TrackedNode("friend"), TrackedNode("below"))
    friend.below = [below]
    root.references = [friend]
    let keeper = try launch.keeper()
    _ = try await keeper.save([root])
    (friend.value, below.value) = ("later", "later")
    root.references = []
    _ = try await keeper.save([root])
    XCTAssertEqual(try launch.storedPaths(), ["root"])
    try await assertASaveWritesNothing(keeper)
  }

  func testWhatHasMovedBelowANodeThatGoesLeavesNoRecord() async throws {
    let (before, after) = (TrackedNode("before"), TrackedNode("after"))
    let (moving, below) = (TrackedNode("moving"), TrackedNode("below"))
    moving.below = [below]
    before.below = [moving]
    root.below = [before]
    root.references = [after]
    let keeper = try launch.keeper()
    _ = try await keeper.save([root])
    before.below = []
    after.below = [moving]
    root.references = []
    _ = try await keeper.save([root])
    XCTAssertEqual(try launch.storedPaths(), ["root", "root/before"])
    try await assertASaveWritesNothing(keeper)
  }

  func testANodeGoesThoughAReferenceLeadsToOneBelowIt() async throws {
    let (friend, below) = (TrackedNode("friend"), TrackedNode("below"))
    friend.below = [below]
    root.references = [friend, below]
    let keeper = try launch.keeper()
    _ = try await keeper.save([root])
    root.references = [below]
    _ = try await keeper.save([root])
    XCTAssertEqual(try launch.storedPaths(), ["root", "root/below"])
    try await assertASaveWritesNothing(keeper)
  }

  func testAnObjectThatScopedAnotherOneGoesWhenThatMoves() async throws {
    let (scope, object) = (TrackedObject("scope"), TrackedObject("object"))
    object.restorationParent = scope
    root.references = [object]
    let keeper = try self.keeper(registering: ["scope": scope, "object": object])
    _ = try await keeper.save([root])
    XCTAssertEqual(try launch.storedPaths(), ["root", "scope", "scope/object"])
    object.restorationParent = nil
    _ = try await keeper.save([root])
    XCTAssertEqual(try launch.storedPaths(), ["root", "object"])
    try await assertASaveWritesNothing(keeper)
  }

  func testWhatOnlyAnObjectThatGoesHasReferredToIsNotStored() async throws {
    let (one, new) = (TrackedObject("one"), TrackedObject("new"))
    let (a, b) = (TrackedNode("a"), TrackedNode("b"))
    root.below = [a, b]
    a.references = [one]
    let keeper = try self.keeper(registering: ["one": one, "new": new])
    _ = try await keeper.save([root])
    one.references = [new]
    a.references = []
    _ = try await keeper.save([root])
    XCTAssertEqual(try launch.storedPaths(), ["root", "root/a", "root/b"])
    try await assertASaveWritesNothing(keeper)
  }

  func testObjectsThatLieBelowWhatTheyReferToAndScopeEachOtherAreSaved() async throws {
    let (one, other) = (TrackedObject("one"), TrackedObject("other"))
    let friend = TrackedNode("friend")
    one.references = [friend]
    root.references = [one, other]
    let keeper = try self.keeper(registering: ["one": one, "other": other])
    _ = try await keeper.save([root])
    one.restorationParent = friend
    other.restorationParent = one
    one.value = "now"
    _ = try await keeper.save([root])
    one.restorationParent = other
    _ = try await keeper.save([root])
    let stored = try XCTUnwrap(launch.storedRecords())
    XCTAssertEqual(Set(stored.elements.map { $0.path.split(separator: "/").last }).count, 4)
    XCTAssertEqual(try stored.elements.first { $0.path.hasSuffix("one") }?.value, "now")
    try await assertASaveWritesNothing(keeper)
  }

  func testWhatHasChangedBelowANodeThatAReferenceTakesOverIsAskedInTheSameSave() async throws {
    let (node, between, below) = (PlainNode("node"), TrackedNode("between"), TrackedNode("below"))
    between.below = [below]
    node.below = [between]
    root.below = [node]
    let keeper = try launch.keeper()
    _ = try await keeper.save([root])
    root.below = []
    root.references = [node]
    below.value = "now"
    _ = try await keeper.save([root])
    XCTAssertEqual(try value(of: "root/node/between/below"), "now")
    try await assertASaveWritesNothing(keeper)
  }

  func testAnObjectLiesBelowTheOneThatScopesItAlsoIfThatComesLaterInTheSave() async throws {
    let (object, scope) = (TrackedObject("object"), TrackedNode("scope"))
    let (first, last) = (TrackedNode("first"), TrackedNode("last"))
    root.below = [first, last]
    first.references = [object]
    let keeper = try self.keeper(registering: ["object": object])
    _ = try await keeper.save([root])
    object.restorationParent = scope
    last.references = [scope]
    _ = try await keeper.save([root])
    XCTAssertEqual(
      Set(try launch.storedPaths()),
      ["root", "root/first", "root/last", "root/last/scope", "root/last/scope/object"])
    try await assertASaveWritesNothing(keeper)
  }

  func testAnObjectThatCouldSayNothingAndMovesInTheSameSaveGetsNothingBack() async throws {
    let (first, last, scope) = (TrackedNode("first"), TrackedNode("last"), TrackedNode("scope"))
    root.below = [first, last]
    let object = TestObject("object", parent: scope)
    object.onEncode = { _ in throw CancellationError() }
    first.references = [object]
    last.references = [scope]
    let saving = try keeper(registering: ["object": object])
    _ = try await saving.save([root])
    await saving.close()
    let delegate = TestDelegate()
    let back = TrackedNode("scope")
    delegate.onNode = { path, _ in path.identifier == "scope" ? back : nil }
    let keeper = try launch.keeper(delegate: delegate)
    let other = TestObject("own", parent: back)
    keeper.registerObject(other, restorationIdentifier: "object")
    _ = try await keeper.restore(into: [root])
    XCTAssertFalse(other.wasDecoded)
    XCTAssertEqual(other.value, "own")
  }

  func testANodeBelowOneThatOnlyReferencesReachStaysItsElementWhoeverRefersToIt() async throws {
    let (friend, between, below) = (PlainNode("friend"), TrackedNode("between"), PlainNode("below"))
    between.below = [below]
    friend.below = [between]
    let (first, second) = (PlainNode("first"), PlainNode("second"))
    root.below = [first, second]
    first.references = [friend]
    second.references = [below]
    let keeper = try launch.keeper()
    _ = try await keeper.save([root])
    for _ in 0..<2 { try await assertASaveWritesNothing(keeper) }
    first.references = [below, friend]
    second.references = []
    _ = try await keeper.save([root])
    try await assertASaveWritesNothing(keeper)
  }

  func testAnObjectIsAskedForASwappedStateAlsoIfWhoReferredToItDoesSoNoMore() async throws {
    let (object, other) = (TestObject("first"), TrackedNode("other"))
    root.below = [other]
    root.references = [object]
    other.references = [object]
    let keeper = try self.keeper(registering: ["object": object])
    _ = try await keeper.save([root])
    let older = launch.storedBytes
    object.value = "second"
    _ = try await keeper.save([root])
    root.references = []
    launch.storedBytes = older
    _ = try await keeper.save([root])
    XCTAssertEqual(
      try launch.storedRecords()?.elements.first { $0.kind == "object" }?.value, "second")
    try await assertASaveWritesNothing(keeper)
  }

  func testAnObjectThatOnlyScopesAnotherOneFromNowOnIsAskedInEachSave() async throws {
    let (scope, object, other) = (
      TestObject("scope"), TrackedObject("object"), TrackedNode("other")
    )
    object.restorationParent = scope
    root.below = [other]
    root.references = [scope]
    other.references = [object]
    let keeper = try self.keeper(registering: ["scope": scope, "object": object])
    _ = try await keeper.save([root])
    root.references = []
    for value in ["first", "second"] {
      scope.value = value
      _ = try await keeper.save([root])
      XCTAssertEqual(try self.value(of: "scope"), value)
      XCTAssertTrue(try launch.storedPaths().contains("scope/object"))
    }
  }

  func testNodesThatContainEachOtherEndNoSaveAndStayWhileOneIsReferredTo() async throws {
    let (a, b) = (TrackedNode("a"), TrackedNode("b"))
    a.below = [b]
    root.below = [a]
    let keeper = try launch.keeper()
    _ = try await keeper.save([root])
    b.below = [a]
    root.below = []
    root.references = [b]
    _ = try await keeper.save([root])
    XCTAssertEqual(try launch.storedPaths(), ["root", "root/b", "root/b/a"])
    root.references = []
    _ = try await keeper.save([root])
    XCTAssertEqual(try launch.storedPaths(), ["root"])
    try await assertASaveWritesNothing(keeper)
  }

  func testANodeThatSaysNothingIsAskedBelowOneThatMovesInTheSaveInWhichItGetsIt() async throws {
    let (a, b, moving) = (TrackedNode("a"), TrackedNode("b"), TrackedNode("moving"))
    root.below = [a]
    a.references = [moving]
    let keeper = try launch.keeper()
    _ = try await keeper.save([root])
    root.below = [a, b]
    _ = try await keeper.save([root])
    let plain = PlainNode("plain")
    moving.below = [plain]
    b.below = [moving]
    _ = try await keeper.save([root])
    plain.value = "now"
    _ = try await keeper.save([root])
    XCTAssertEqual(try value(of: "root/b/moving/plain"), "now")
  }

  func testWhatIsTakenOutOfTheTreeStaysBelowAKeptNodeThatRefersToIt() async throws {
    let (away, other, friend) = (TrackedNode("away"), TrackedNode("other"), TrackedNode("friend"))
    root.below = [away, other]
    other.below = [friend]
    away.references = [friend]
    let saving = try launch.keeper()
    _ = try await saving.save([root])
    await saving.close()
    root.below = [other]
    let keeper = try launch.keeper()
    _ = try await keeper.restore(into: [root])
    _ = try await keeper.save([root])
    other.below = []
    friend.value = "now"
    _ = try await keeper.save([root])
    XCTAssertEqual(try value(of: "root/away/friend"), "now")
  }

  func testNodesOfOneNameClaimAKeptElementEach() async throws {
    let a = TrackedNode("a")
    root.below = [a]
    a.references = (0..<3).map { _ in PlainNode("friend") }
    let saving = try launch.keeper()
    _ = try await saving.save([root])
    await saving.close()
    let keeper = try launch.keeper()
    _ = try await keeper.restore(into: [root])
    let friends = (0..<3).map { _ in PlainNode("friend") }
    for (number, friend) in friends.enumerated() { friend.value = "new \(number)" }
    a.references = friends
    _ = try await keeper.save([root])
    let values = try launch.storedRecords()?.elements.map { try $0.value }.filter {
      $0?.hasPrefix("new") == true
    }
    XCTAssertEqual(values, ["new 0", "new 1", "new 2"])
  }

  func testANamelessNodeThatScopesAnObjectEndsNoSave() async throws {
    let (object, scope) = (TrackedObject("object"), NamelessScope())
    object.restorationParent = scope
    root.references = [object]
    let keeper = try self.keeper(registering: ["object": object, "scope": scope])
    _ = try await keeper.save([root])
    // A node without a name scopes nothing.
    XCTAssertEqual(try launch.storedPaths(), ["root", "object"])
  }
}

/// A registered object that is a node without a name, too.
@MainActor
private final class NamelessScope: @MainActor RestorableNode, @MainActor RestorableObject {
  var restorationIdentifier: String? { nil }
}
