import RestorationKit
import TestSupport
import XCTest

@MainActor
final class ObjectTests: XCTestCase {
  private let launch = Launch()

  private func keeper(registering objects: [(TestObject, String)]) throws -> StateKeeper {
    let keeper = try launch.keeper()
    try keeper.register(restorationClass: TestObjectFactory.self)
    for (object, identifier) in objects {
      keeper.registerObject(object, restorationIdentifier: identifier)
    }
    return keeper
  }

  private func node(_ identifier: String, refersTo object: (any StateRestoring)?) -> TestNode {
    let node = TestNode(identifier)
    node.onEncode = { $0.encode(object, forKey: "object") }
    return node
  }

  /// Restores a node and returns what its reference names.
  private func reference(
    _ identifier: String, _ keeper: StateKeeper
  ) async throws -> (object: (any StateRestoring)?, report: RestorationReport) {
    let back = TestNode(identifier)
    var object: (any StateRestoring)?
    back.onDecode = { object = try $0.decodeObject((any StateRestoring).self, forKey: "object") }
    let report = try await keeper.restore(into: [back])
    return (object, report)
  }

  func testARegisteredObjectThatNobodyRefersToIsNotSaved() async throws {
    let filter = TestObject("f")
    filter.onEncode = { _ in XCTFail("It was asked.") }
    let report = try await keeper(registering: [(filter, "filter")]).save([TestNode("a")])
    XCTAssertEqual(report.savedPaths, ["a"])
    XCTAssertEqual(try launch.storedPaths(), ["a"])
  }

  // Seed: Restoring your app's state
  func testAnObjectThatIsReferredToHasOneRecordAndComesBackAsOne() async throws {
    let filter = TestObject("f")
    let tree = TestNode("root", children: ["a", "b"].map { node($0, refersTo: filter) })
    let saved = try await keeper(registering: [(filter, "filter")]).save([tree])
    XCTAssertEqual(saved.savedPaths, ["root", "root/a", "root/b", "filter"])
    XCTAssertEqual(saved.entries.last?.kind, .object)
    let stored = try XCTUnwrap(try launch.storedRecords())
    XCTAssertEqual(stored.paths, ["root", "root/a", "root/b", "filter"])
    XCTAssertEqual(stored["filter"]?.kind, "object")
    XCTAssertEqual(try stored["filter"]?.value, "f")
    for node in ["root/a", "root/b"] {
      XCTAssertEqual(try stored.paths(referredToFrom: node, forKey: "object"), ["filter"])
    }

    let back = TestObject()
    let children = ["a", "b"].map { TestNode($0) }
    var found: [TestObject?] = []
    for child in children {
      child.onDecode = { found.append(try $0.decodeObject(forKey: "object")) }
    }
    _ = try await keeper(registering: [(back, "filter")])
      .restore(into: [TestNode("root", children: children)])
    XCTAssertEqual(found.count, 2)
    XCTAssertTrue(found.allSatisfy { $0 === back })
    XCTAssertEqual(back.value, "f")
    XCTAssertTrue(back.wasFinished)
  }

  func testReferencesInArraysAndDictionariesComeBack() async throws {
    func setUp(_ node: TestNode, _ one: TestObject, _ two: TestObject) {
      node.onEncode = { coder in
        coder.encode([one, two, one], forKey: "list")
        coder.encode(["first": one, "second": two], forKey: "named")
      }
    }
    let (one, two) = (TestObject("1"), TestObject("2"))
    let saved = TestNode("a")
    setUp(saved, one, two)
    _ = try await keeper(registering: [(one, "one"), (two, "two")]).save([saved])
    let (backOne, backTwo) = (TestObject(), TestObject())
    let back = TestNode("a")
    var list: [TestObject] = []
    var named: [String: TestObject] = [:]
    back.onDecode = { coder in
      list = try coder.decodeObjects(forKey: "list")
      named = try coder.decodeObjectDictionary(forKey: "named")
    }
    _ = try await keeper(registering: [(backOne, "one"), (backTwo, "two")]).restore(into: [back])
    XCTAssertTrue(list.elementsEqual([backOne, backTwo, backOne]) { $0 === $1 })
    XCTAssertTrue(named["first"] === backOne && named["second"] === backTwo && named.count == 2)
  }

  func testPlainCodableValuesComeBackAsCopies() async throws {
    final class Plain: Codable {
      var count = 1
    }
    let value = Plain()
    let tree = TestNode("root", children: [TestNode("a"), TestNode("b")])
    for case let child as TestNode in tree.restorationChildren {
      child.onEncode = { try $0.encode(value, forKey: "plain") }
    }
    _ = try await launch.keeper().save([tree])
    XCTAssertEqual(try launch.storedPaths(), ["root", "root/a", "root/b"])
    let back = TestNode("root", children: [TestNode("a"), TestNode("b")])
    var values: [Plain] = []
    for case let child as TestNode in back.restorationChildren {
      child.onDecode = { values.append(try $0.decode(forKey: "plain")) }
    }
    _ = try await launch.keeper().restore(into: [back])
    XCTAssertEqual(values.map(\.count), [1, 1])
    values[0].count = 2
    XCTAssertEqual(values.map(\.count), [2, 1])
  }

  func testNodesAndViewsHaveNoRestorationParentToName() {
    let parts: [any StateRestoring] = [TestNode("a"), TestView("v"), TestList("l", rows: [])]
    XCTAssertEqual(parts.count { $0 is any RestorableObject }, 0)
    XCTAssertTrue((TestObject() as any StateRestoring) is any RestorableObject)
  }

  func testAnObjectWithoutStateIsReferredTo() async throws {
    let stateless = StatelessObject()
    let saving = try launch.keeper()
    saving.registerObject(stateless, restorationIdentifier: "s")
    _ = try await saving.save([node("a", refersTo: stateless)])
    let back = StatelessObject()
    let restoring = try launch.keeper()
    restoring.registerObject(back, restorationIdentifier: "s")
    let (object, report) = try await reference("a", restoring)
    XCTAssertTrue(object === back)
    XCTAssertEqual(report.problems, [])
  }

  /// An object that could be stored as a value, too.
  private final class EncodableObject: @MainActor RestorableObject, Encodable {
    nonisolated func encode(to encoder: any Encoder) throws { XCTFail("It was stored as a value.") }
  }

  func testAnObjectThatIsEncodableIsReferredTo() async throws {
    let object = EncodableObject()
    let holder = TestNode("holder")
    holder.onEncode = { $0.encode(object, forKey: "object") }
    let keeper = try keeper(registering: [])
    keeper.registerObject(object, restorationIdentifier: "filter")
    _ = try await keeper.save([holder])
    let stored = try XCTUnwrap(try launch.storedRecords())
    XCTAssertEqual(try stored.paths(referredToFrom: "holder", forKey: "object"), ["filter"])
  }

  func testObjectsOfDifferentParentsMayHaveOneIdentifier() async throws {
    func tree(_ value: (String) -> String?) -> (TestNode, [(TestObject, String)]) {
      let children = ["a", "b"].map { TestNode($0) }
      let objects = children.map { child in
        let object = TestObject(value(child.restorationIdentifier ?? ""), parent: child)
        child.onEncode = { $0.encode(object, forKey: "object") }
        return (object, "filter")
      }
      return (TestNode("root", children: children), objects)
    }
    let (saved, savedObjects) = tree { $0 }
    let report = try await keeper(registering: savedObjects).save([saved])
    XCTAssertEqual(
      report.savedPaths, ["root", "root/a", "root/b", "root/a/filter", "root/b/filter"])
    XCTAssertEqual(report.problems, [])
    let stored = try XCTUnwrap(try launch.storedRecords())
    XCTAssertEqual(
      stored.paths, ["root", "root/a", "root/a/filter", "root/b", "root/b/filter"])
    XCTAssertEqual(try stored["root/a/filter"]?.value, "a")
    let (back, objects) = tree { _ in nil }
    _ = try await keeper(registering: objects).restore(into: [back])
    XCTAssertEqual(objects.map(\.0.value), ["a", "b"])
  }

  func testAParentThatIsNotPreservedScopesNothing() async throws {
    let filter = TestObject("f", parent: StatelessObject())
    let saved = try await keeper(registering: [(filter, "filter")])
      .save([node("a", refersTo: filter)])
    XCTAssertEqual(saved.savedPaths, ["a", "filter"])
    XCTAssertEqual(saved.problems, [])
    XCTAssertEqual(try launch.storedPaths(), ["a", "filter"])
    let back = TestObject(parent: StatelessObject())
    let (object, _) = try await reference("a", keeper(registering: [(back, "filter")]))
    XCTAssertTrue(object === back)
  }

  func testAViewScopesNothingAndItsObjectsComeBack() async throws {
    let launch = Launch()
    func tree(_ value: String?) -> (node: TestNode, object: TestObject) {
      let view = TestView("list", value: value)
      let object = TestObject(value, parent: view)
      let node = TestNode("root", value: value)
      node.restorationViews = [view]
      node.onEncode = { $0.encode(object, forKey: "object") }
      return (node, object)
    }
    let (node, object) = tree("saved")
    let keeper = try launch.keeper()
    keeper.registerObject(object, restorationIdentifier: "filter")
    for value in ["saved", "again"] {
      object.value = value
      let report = try await keeper.save([node])
      XCTAssertEqual(report.notes, [])
      XCTAssertEqual(Set(try launch.storedPaths()), ["root", "root/list", "filter"])
    }
    let (back, shared) = tree(nil)
    let next = try launch.keeper()
    next.registerObject(shared, restorationIdentifier: "filter")
    let report = try await next.restore(into: [back])
    XCTAssertEqual(report.outcome(of: "filter"), .restored(by: .existing))
    XCTAssertEqual(shared.value, "again")
    // Where it is not registered, it is kept with or without the view.
    for hasView in [true, false] {
      let other = try launch.keeper()
      let node = TestNode("root")
      node.restorationViews = hasView ? [TestView("list")] : []
      _ = try await other.restore(into: [node])
      _ = try await other.save([node])
      XCTAssertTrue(try launch.storedPaths().contains("filter"), "\(hasView)")
    }
  }

  func testAScopeOfAScopeIsPreservedFirst() async throws {
    let root = TestNode("root")
    let outer = TestObject("outer", parent: root)
    let inner = TestObject("inner", parent: outer)
    root.onEncode = { $0.encode(inner, forKey: "object") }
    let report = try await keeper(registering: [(outer, "outer"), (inner, "inner")]).save([root])
    XCTAssertEqual(report.savedPaths, ["root", "root/outer", "root/outer/inner"])
    XCTAssertEqual(try launch.storedPaths(), ["root", "root/outer", "root/outer/inner"])
  }

  func testCyclesOfReferencesAndOfScopesEnd() async throws {
    let (one, two) = (TestObject("1"), TestObject("2"))
    (one.restorationParent, two.restorationParent) = (two, one)
    let tree = node("a", refersTo: one)
    one.onEncode = { $0.encode(tree, forKey: "node") }
    two.onEncode = { $0.encode(two, forKey: "self") }
    let report = try await keeper(registering: [(one, "one"), (two, "two")]).save([tree])
    XCTAssertEqual(Set(report.savedPaths), ["a", "two", "two/one"])

    let (backOne, backTwo) = (TestObject(), TestObject())
    (backOne.restorationParent, backTwo.restorationParent) = (backTwo, backOne)
    var found: TestNode?
    backOne.onDecode = { found = try $0.decodeObject(forKey: "node") }
    let back = TestNode("a")
    _ = try await keeper(registering: [(backOne, "one"), (backTwo, "two")]).restore(into: [back])
    (one.restorationParent, backOne.restorationParent) = (nil, nil)
    XCTAssertTrue(found === back)
    XCTAssertEqual(backOne.value, "1")
  }

  // MARK: Restoration classes

  private func saveMadeByClass() async throws {
    let filter = TestObject("f")
    filter.objectRestorationClass = TestObjectFactory.self
    _ = try await keeper(registering: [(filter, "filter")]).save([node("a", refersTo: filter)])
  }

  func testWhenItsClassReturnsNilAReferenceIsNil() async throws {
    try await saveMadeByClass()
    TestObjectFactory.make = { _, _ in nil }
    let twin = TestObject()
    let (object, report) = try await reference("a", keeper(registering: [(twin, "filter")]))
    XCTAssertNil(object)
    XCTAssertFalse(twin.wasDecoded || twin.wasFinished)
    XCTAssertEqual(report.outcome(of: "filter"), .vetoed)
  }

  func testTheClassIsAskedAndNotARegisteredTwin() async throws {
    try await saveMadeByClass()
    let made = TestObject()
    var value: String?
    TestObjectFactory.make = { path, coder in
      XCTAssertEqual(path.description, "filter")
      value = try coder.decode(forKey: "value")
      return made
    }
    let twin = TestObject()
    let (object, _) = try await reference("a", keeper(registering: [(twin, "filter")]))
    XCTAssertTrue(object === made)
    XCTAssertEqual(made.value, "f")
    XCTAssertEqual(value, "f")
    XCTAssertFalse(twin.wasDecoded || twin.wasFinished)
    XCTAssertTrue(made.wasFinished)
  }

  func testANodeThatAClassMadeForAnObjectIsAMismatchAndNotRegistered() async throws {
    try await saveMadeByClass()
    let node = TestNode("made")
    TestObjectFactory.make = { _, _ in node }
    let keeper = try keeper(registering: [])
    let (object, report) = try await reference("a", keeper)
    XCTAssertTrue(object === node)
    XCTAssertEqual(
      report.outcome(of: "filter"), .classMismatch(by: .restorationClass, found: "TestNode"))
    let saved = try await keeper.save([self.node("a", refersTo: node)])
    XCTAssertEqual(saved.savedPaths, ["a", "a/made"])
  }

  func testAnObjectThatAClassMadeIsSavedAgain() async throws {
    try await saveMadeByClass()
    let made = TestObject()
    TestObjectFactory.make = { _, _ in made }
    let keeper = try keeper(registering: [])
    _ = try await keeper.restore(into: [TestNode("a")])
    let report = try await keeper.save([node("a", refersTo: made)])
    XCTAssertEqual(report.savedPaths, ["a", "filter"])
    XCTAssertEqual(report.problems, [])
  }

  func testAnObjectThatIsNotRegisteredAgainIsReported() async throws {
    let filter = TestObject("f")
    _ = try await keeper(registering: [(filter, "filter")]).save([node("a", refersTo: filter)])
    let (object, report) = try await reference("a", keeper(registering: []))
    XCTAssertNil(object)
    XCTAssertEqual(report.outcome(of: "filter"), .notRegistered)
  }

  func testAReferenceToAnObjectThatIsNotRegisteredIsReported() async throws {
    let report = try await launch.keeper().save([node("a", refersTo: TestObject())])
    XCTAssertEqual(
      report.notes, [.unstored("object", "TestObject")])
    XCTAssertEqual(report.savedPaths, ["a"])
  }

  func testAKeeperDoesNotKeepRegisteredObjectsAlive() throws {
    let keeper = try launch.keeper()
    weak var object: TestObject?
    do {
      let filter = TestObject()
      object = filter
      keeper.registerObject(filter, restorationIdentifier: "filter")
    }
    XCTAssertNil(object)
  }

  func testWhatIsReferredToMayBeDecodedAfterItsHolder() async throws {
    let filter = TestObject("f")
    _ = try await keeper(registering: [(filter, "filter")]).save([node("a", refersTo: filter)])
    let back = TestObject()
    let holder = TestNode("a")
    var seen: (object: TestObject?, isDecoded: Bool)?
    holder.onDecode = { coder in
      let object: TestObject? = try coder.decodeObject(forKey: "object")
      seen = (object, object?.wasDecoded ?? true)
    }
    _ = try await keeper(registering: [(back, "filter")]).restore(into: [holder])
    XCTAssertTrue(seen?.object === back)
    XCTAssertEqual(seen?.isDecoded, false)
    XCTAssertTrue(back.wasDecoded)
  }

  func testAChainOfFiftyThousandScopesComesBack() async throws {
    func chain(_ value: String?) -> [(TestObject, String)] {
      var objects: [(TestObject, String)] = []
      for _ in 0..<50_000 {
        objects.append((TestObject(value, parent: objects.last?.0), "o"))
      }
      return objects
    }
    let saved = chain("x")
    let report = try await keeper(registering: saved)
      .save([node("a", refersTo: saved.last?.0)])
    XCTAssertEqual(report.entries.count, 50_001)
    let back = chain(nil)
    _ = try await keeper(registering: back).restore(into: [TestNode("a")])
    XCTAssertTrue(back.allSatisfy { $0.0.value == "x" })
    for (object, _) in saved + back { object.restorationParent = nil }
  }

  func testAHundredThousandObjectsOfOneIdentifierComeBack() async throws {
    try LongTests.skipUnlessOn()
    func tree(_ value: String?) -> (TestNode, [(TestObject, String)]) {
      var objects: [(TestObject, String)] = []
      let nodes = (0..<100_000).map { number in
        let node = TestNode("n\(number)")
        let object = TestObject(value, parent: node)
        objects.append((object, "filter"))
        node.onEncode = { [weak object] in $0.encode(object, forKey: "object") }
        return node
      }
      return (TestNode("root", children: nodes), objects)
    }
    let (saved, savedObjects) = tree("x")
    let report = try await keeper(registering: savedObjects).save([saved])
    XCTAssertEqual(report.savedPaths.count, savedObjects.count * 2 + 1)
    let (back, objects) = tree(nil)
    _ = try await keeper(registering: objects).restore(into: [back])
    XCTAssertTrue(objects.allSatisfy { $0.0.value == "x" })
  }
}
