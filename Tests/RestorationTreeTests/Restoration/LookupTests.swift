import RestorationKit
import TestSupport
import XCTest

@MainActor
final class LookupTests: XCTestCase {
  private let launch = Launch()
  private let trace = Trace()

  /// Saves `root > node` and forgets what was called.
  private func save(
    _ node: TestNode, registering storyboard: Storyboard? = nil,
    prepare: (StateKeeper) throws -> Void = { _ in }
  ) async throws {
    let keeper = try launch.keeper()
    if let storyboard { try keeper.register(storyboard) }
    try prepare(keeper)
    _ = try await keeper.save([TestNode("root", children: [node])])
    trace.clear()
  }

  private func nodeWithClass(_ identifier: String = "a", children: [TestNode] = []) -> TestNode {
    let node = TestNode(identifier, value: "saved", children: children)
    node.restorationClass = TestFactory.self
    return node
  }

  private func storyboard() -> Storyboard {
    let storyboard = Storyboard("Main")
    storyboard.register("a") { [trace] in
      trace.add("storyboard")
      return TestNode("a", trace: trace)
    }
    return storyboard
  }

  private func delegateAnswering(_ node: TestNode?) -> TestDelegate {
    let delegate = TestDelegate(trace)
    delegate.onNode = { path, _ in path.identifier == "a" ? node : nil }
    return delegate
  }

  // Seed: About the UI restoration process
  func testARestorationClassThatAnswersIsTheOnlyOneAsked() async throws {
    let storyboard = storyboard()
    let node = try XCTUnwrap(storyboard.instantiate("a") as? TestNode)
    node.value = "saved"
    node.restorationClass = TestFactory.self
    try await save(node, registering: storyboard)
    let made = TestNode("a")
    TestFactory.make = { _, _ in made }
    let existing = TestNode("a", trace: trace)
    let delegate = delegateAnswering(TestNode("a"))
    let keeper = try launch.keeper(delegate: delegate)
    try keeper.register(storyboard)
    let report = try await keeper.restore(into: [TestNode("root", children: [existing])])
    XCTAssertEqual(report.outcome(of: "root/a"), .restored(by: .restorationClass))
    XCTAssertEqual(made.value, "saved")
    XCTAssertEqual(trace.events, ["shouldRestore", "delegate root", "didDecode"])
  }

  // Seed: About the UI restoration process
  func testANilFromTheRestorationClassIsAVetoAndNobodyElseIsAsked() async throws {
    let storyboard = storyboard()
    let node = try XCTUnwrap(storyboard.instantiate("a") as? TestNode)
    node.restorationClass = TestFactory.self
    try await save(node, registering: storyboard)
    TestFactory.make = { _, _ in nil }
    let existing = TestNode("a", trace: trace)
    let delegate = delegateAnswering(TestNode("a", trace: trace))
    let keeper = try launch.keeper(delegate: delegate)
    try keeper.register(storyboard)
    let report = try await keeper.restore(into: [TestNode("root", children: [existing])])
    XCTAssertEqual(report.outcome(of: "root/a"), .vetoed)
    XCTAssertEqual(trace.events, ["shouldRestore", "delegate root", "didDecode"])
  }

  func testBelowAVetoNoFactoryIsCalled() async throws {
    try await save(nodeWithClass(children: [nodeWithClass("child")]))
    var asked: [String] = []
    TestFactory.make = { path, _ in
      asked.append(path.description)
      return nil
    }
    let report = try await launch.keeper().restore(into: [TestNode("root")])
    XCTAssertEqual(asked, ["root/a"])
    XCTAssertEqual(
      report.outcome(of: "root/a/child"), .parentMissing(RestorationPath(["root", "a"])))
  }

  func testTheDelegateIsAskedWhereThereIsNoRestorationClass() async throws {
    let storyboard = storyboard()
    let node = try XCTUnwrap(storyboard.instantiate("a") as? TestNode)
    node.value = "saved"
    try await save(node, registering: storyboard)
    let answer = TestNode("a")
    let delegate = delegateAnswering(answer)
    let keeper = try launch.keeper(delegate: delegate)
    try keeper.register(storyboard)
    let existing = TestNode("a", trace: trace)
    let report = try await keeper.restore(into: [TestNode("root", children: [existing])])
    XCTAssertEqual(report.outcome(of: "root/a"), .restored(by: .delegate))
    XCTAssertEqual(answer.value, "saved")
    XCTAssertEqual(
      trace.events, ["shouldRestore", "delegate root", "delegate root/a", "didDecode"])
  }

  func testAfterADelegateWithoutOpinionTheExistingNodeIsUsed() async throws {
    let storyboard = storyboard()
    let node = try XCTUnwrap(storyboard.instantiate("a") as? TestNode)
    node.value = "saved"
    try await save(node, registering: storyboard)
    let existing = TestNode("a", trace: trace)
    let delegate = delegateAnswering(nil)
    let keeper = try launch.keeper(delegate: delegate)
    try keeper.register(storyboard)
    let report = try await keeper.restore(into: [TestNode("root", children: [existing])])
    XCTAssertEqual(report.outcome(of: "root/a"), .restored(by: .existing))
    XCTAssertEqual(existing.value, "saved")
    XCTAssertEqual(
      trace.events,
      [
        "shouldRestore", "delegate root", "delegate root/a", "load a", "decode a", "didDecode",
        "finished a",
      ])
  }

  // Seed: About the UI restoration process
  func testTheStoryboardIsTheLastToBeAsked() async throws {
    let storyboard = storyboard()
    let node = try XCTUnwrap(storyboard.instantiate("a") as? TestNode)
    node.value = "saved"
    try await save(node, registering: storyboard)
    let keeper = try launch.keeper()
    try keeper.register(storyboard)
    let root = TestNode("root")
    var restored: TestNode?
    root.onDecode = { restored = $0.restoredChildren.first as? TestNode }
    let report = try await keeper.restore(into: [root])
    XCTAssertEqual(report.outcome(of: "root/a"), .restored(by: .storyboard))
    XCTAssertEqual(trace.events, ["storyboard", "load a", "decode a", "finished a"])
    XCTAssertEqual(restored?.value, "saved")
  }

  func testANodeThatNobodyProvidesIsMissingAndReported() async throws {
    try await save(TestNode("a", value: "saved"))
    let root = TestNode("root", value: "default")
    let report = try await launch.keeper().restore(into: [root])
    XCTAssertEqual(report.outcome(of: "root/a"), .notFound)
    XCTAssertEqual(report.outcome(of: "root"), .restored(by: .existing))
  }

  func testAnExistingNodeWithAnotherParentIsNotUsed() async throws {
    try await save(TestNode("a", value: "saved"))
    let elsewhere = TestNode("a")
    let report = try await launch.keeper().restore(into: [
      TestNode("root"), TestNode("other", children: [elsewhere]), elsewhere,
    ])
    XCTAssertEqual(report.outcome(of: "root/a"), .notFound)
    XCTAssertNil(elsewhere.value)
  }

  func testAnIdentifierThatIsGoneFromTheStoryboardIsReported() async throws {
    let storyboard = storyboard()
    let node = try XCTUnwrap(storyboard.instantiate("a") as? TestNode)
    try await save(node, registering: storyboard)
    let keeper = try launch.keeper()
    try keeper.register(Storyboard("Main"))
    let report = try await keeper.restore(into: [TestNode("root")])
    XCTAssertEqual(report.outcome(of: "root/a"), .notInStoryboard("Main", identifier: "a"))
  }

  func testARestorationClassThatMakesNoNodesIsReportedAndNotRestored() async throws {
    try await save(nodeWithClass())
    let keeper = try StateKeeper(
      application: Launch.application, directory: launch.store, keys: launch.keys)
    try keeper.register(UnrelatedNode.self, as: "TestFactory")
    let existing = TestNode("a")
    let report = try await keeper.restore(into: [TestNode("root", children: [existing])])
    XCTAssertEqual(report.outcome(of: "root/a"), .unknownRestorationClass("TestFactory"))
    XCTAssertNil(existing.value)
  }

  func testWithoutItsRestorationClassANodeIsNotBackAndNobodyElseIsAsked() async throws {
    try await save(nodeWithClass())
    let keeper = try StateKeeper(
      application: Launch.application, directory: launch.store, keys: launch.keys)
    let delegate = delegateAnswering(TestNode("a", trace: trace))
    keeper.delegate = delegate
    let existing = TestNode("a", trace: trace)
    let report = try await keeper.restore(into: [TestNode("root", children: [existing])])
    XCTAssertEqual(report.outcome(of: "root/a"), .unknownRestorationClass("TestFactory"))
    XCTAssertEqual(report.problems.map(\.path.description), ["root/a"])
    XCTAssertNil(existing.value)
    XCTAssertEqual(trace.events, ["shouldRestore", "delegate root", "didDecode"])
  }

  func testARenamedRestorationClassIsFoundByItsAlias() async throws {
    enum Renamed: @MainActor RestorationClass {
      @MainActor static func object(
        at path: RestorationPath, coder: StateDecoder
      ) throws -> (any StateRestoring)? { TestNode(path.identifier) }
    }
    try await save(nodeWithClass())
    let keeper = try StateKeeper(
      application: Launch.application, directory: launch.store, keys: launch.keys)
    try keeper.register(restorationClass: Renamed.self, aliases: ["TestFactory"])
    let report = try await keeper.restore(into: [TestNode("root")])
    XCTAssertEqual(report.outcome(of: "root/a"), .restored(by: .restorationClass))
  }

  func testAnUnregisteredRestorationClassIsReportedWhenItIsSaved() async throws {
    let keeper = try StateKeeper(
      application: Launch.application, directory: launch.store, keys: launch.keys)
    let report = try await keeper.save([nodeWithClass()])
    XCTAssertEqual(report.notes, [.restorationClassNotRegistered("TestFactory")])
  }

  func testAFactoryGetsTheIdentifiersOfAllAncestorsAndItsOwn() async throws {
    let deep = nodeWithClass("c")
    try await save(TestNode("b", children: [deep]))
    var components: [String] = []
    TestFactory.make = { path, _ in
      components = path.components
      return TestNode("c")
    }
    _ = try await launch.keeper().restore(
      into: [TestNode("root", children: [TestNode("b")])])
    XCTAssertEqual(components, ["root", "b", "c"])
  }

  func testAFactorySeesTheValuesBeforeDecodeIsCalled() async throws {
    try await save(nodeWithClass())
    TestFactory.make = { [trace] path, coder in
      trace.add("factory \(try coder.decode(String.self, forKey: "value"))")
      return TestNode(path.identifier, trace: trace)
    }
    _ = try await launch.keeper().restore(into: [TestNode("root")])
    XCTAssertEqual(
      trace.events, ["factory saved", "load a", "decode a", "finished a"])
  }

  func testAnExistingNodeThatAFactoryReturnsIsTheOneThatIsDecoded() async throws {
    try await save(nodeWithClass())
    let existing = TestNode("a")
    TestFactory.make = { _, _ in existing }
    let root = TestNode("root", children: [existing])
    var restored: [any RestorableNode] = []
    root.onDecode = { restored = $0.restoredChildren }
    _ = try await launch.keeper().restore(into: [root])
    XCTAssertEqual(restored.count, 1)
    XCTAssertIdentical(restored.first, existing)
    XCTAssertEqual(existing.value, "saved")
  }

  func testANodeOfAnUnrelatedClassIsKeptAndNotDecoded() async throws {
    try await save(nodeWithClass())
    let unrelated = UnrelatedNode("a")
    TestFactory.make = { _, _ in unrelated }
    let root = TestNode("root")
    var restored: [any RestorableNode] = []
    root.onDecode = { restored = $0.restoredChildren }
    let report = try await launch.keeper().restore(into: [root])
    XCTAssertEqual(
      report.outcome(of: "root/a"),
      .classMismatch(by: .restorationClass, found: "UnrelatedNode"))
    XCTAssertIdentical(restored.first, unrelated)
    XCTAssertFalse(unrelated.wasDecoded)
    XCTAssertFalse(unrelated.wasFinished)
  }

  func testANodeOfASubclassIsDecoded() async throws {
    try await save(nodeWithClass())
    let special = SpecialTestNode("a")
    TestFactory.make = { _, _ in special }
    let report = try await launch.keeper().restore(into: [TestNode("root")])
    XCTAssertEqual(report.outcome(of: "root/a"), .restored(by: .restorationClass))
    XCTAssertEqual(special.value, "saved")
  }

  func testANodeOfASubclassOfASubclassIsDecoded() async throws {
    try await save(nodeWithClass())
    let special = MoreSpecialTestNode("a")
    TestFactory.make = { _, _ in special }
    _ = try await launch.keeper().restore(into: [TestNode("root")])
    XCTAssertEqual(special.value, "saved")
  }

  func testAnIdentifierThatIsComputedIsReadWhenItIsNeeded() async throws {
    let saved = ComputedNode("late", value: "x")
    _ = try await launch.keeper().save([saved])
    let back = ComputedNode("early", value: nil)
    let keeper = try launch.keeper()
    back.name = "late"
    _ = try await keeper.restore(into: [back])
    XCTAssertEqual(back.value, "x")
  }

  func testANodeWithoutIdentifierOfItsOwnIsSavedAgainUnderTheOneItWasRestoredUnder() async throws {
    try await save(nodeWithClass())
    let made = TestNode(nil)
    TestFactory.make = { _, _ in made }
    let root = TestNode("root")
    root.onDecode = { root.restorationChildren = $0.restoredChildren }
    let keeper = try launch.keeper()
    _ = try await keeper.restore(into: [root])
    let report = try await keeper.save([root])
    XCTAssertEqual(report.savedPaths, ["root", "root/a"])
    XCTAssertEqual(try launch.storedPaths(), ["root", "root/a"])

    let again = try await launch.keeper().restore(into: [TestNode("root")])
    XCTAssertEqual(again.outcome(of: "root/a"), .restored(by: .restorationClass))
  }

  func testAFactoryThatThrowsLeavesOutItsNodeAlone() async throws {
    struct Failure: Error {}
    let sibling = TestNode("sibling", value: "kept")
    let keeper = try launch.keeper()
    _ = try await keeper.save([TestNode("root", children: [nodeWithClass(), sibling])])
    TestFactory.make = { _, _ in throw Failure() }
    let restored = TestNode("sibling")
    let report = try await launch.keeper()
      .restore(into: [TestNode("root", children: [restored])])
    XCTAssertEqual(
      report.outcome(of: "root/a"), .factoryFailed(.restorationClass, "Failure"))
    XCTAssertEqual(restored.value, "kept")
  }

  func testANodeThatIsARestorationClassIsMadeByItself() async throws {
    @MainActor
    final class Screen: @MainActor RestorableNode, @MainActor RestorationClass {
      let restorationIdentifier: String? = "screen"
      static func object(
        at path: RestorationPath, coder: StateDecoder
      ) throws -> (any StateRestoring)? { Screen() }
    }
    func keeper() throws -> StateKeeper {
      let keeper = try launch.keeper()
      try keeper.register(Screen.self)
      return keeper
    }
    let saved = try await keeper().save([Screen()])
    XCTAssertEqual(saved.problems, [])
    let report = try await keeper().restore()
    XCTAssertEqual(report.outcome(of: "screen"), .restored(by: .restorationClass))
  }

  func testANodeThatNamesNoRestorationClassKeepsTheOneItWasMadeBy() async throws {
    try await save(nodeWithClass())
    TestFactory.make = { path, _ in TestNode(path.identifier) }
    for generation in 1...3 {
      let root = TestNode("root")
      root.onDecode = { root.restorationChildren = $0.restoredChildren }
      let keeper = try launch.keeper()
      let report = try await keeper.restore(into: [root])
      XCTAssertEqual(
        report.outcome(of: "root/a"), .restored(by: .restorationClass), "launch \(generation)")
      let node = try XCTUnwrap(root.restorationChildren.first as? TestNode)
      XCTAssertEqual(node.value, "saved")
      _ = try await keeper.save([root])
    }
  }

  func testANodeThatIsRestoredAgainWithoutARestorationClassKeepsNone() async throws {
    let saved = TestNode("a", value: "by a class")
    saved.restorationClass = TestFactory.self
    _ = try await launch.keeper().save([saved])
    let byClass = launch.storedBytes
    (saved.restorationClass, saved.value) = (nil, "by none")
    _ = try await launch.keeper().save([saved])
    let byNone = launch.storedBytes

    launch.storedBytes = byClass
    let made = TestNode("a")
    TestFactory.make = { _, _ in made }
    defer { TestFactory.make = { _, _ in nil } }
    let keeper = try launch.keeper()
    let first = try await keeper.restore()
    XCTAssertEqual(first.outcome(of: "a"), .restored(by: .restorationClass))
    XCTAssertEqual(made.value, "by a class")
    launch.storedBytes = byNone
    let second = try await keeper.restore(into: [made])
    XCTAssertEqual(second.outcome(of: "a"), .restored(by: .existing))
    XCTAssertEqual(made.value, "by none")
    made.value = "saved again"
    _ = try await keeper.save([made])

    let back = TestNode("a")
    let last = try await launch.keeper().restore(into: [back])
    XCTAssertEqual(last.outcome(of: "a"), .restored(by: .existing))
    XCTAssertEqual(back.value, "saved again")
  }

  func testAMadeNodeThatNobodyTakesIsReported() async throws {
    let presented = nodeWithClass("sheet")
    let parent = TestNode("root", children: [nodeWithClass()])
    parent.restorationPresented = presented
    _ = try await launch.keeper().save([parent])
    TestFactory.make = { path, _ in TestNode(path.identifier) }

    let forgetful = try await launch.keeper().restore(into: [TestNode("root")])
    XCTAssertEqual(forgetful.problems.map(\.path.description), ["root/a", "root/sheet"])
    XCTAssertEqual(forgetful.problems.map(\.notes), [[.notContained], [.notContained]])
    XCTAssertEqual(
      forgetful.problems.first?.reason,
      "restored, made by what is registered for it. The node above it does not contain it. Take it"
        + " from coder.restoredChildren or in restorePresented(_:): the next save leaves it out,"
        + " unless it is kept.")
    let root = TestNode("root")
    root.onDecode = { coder in
      root.restorationChildren = coder.restoredChildren
      root.restorationPresented = coder.restoredPresented
    }
    let careful = try await launch.keeper().restore(into: [root])
    XCTAssertEqual(careful.problems, [])
  }

  func testADelegateThatThrowsLeavesOutItsNodeAlone() async throws {
    struct Failure: Error {}
    try await save(TestNode("a"))
    let delegate = TestDelegate()
    delegate.onNode = { path, _ in
      if path.identifier == "a" { throw Failure() }
      return nil
    }
    let existing = TestNode("a")
    let report = try await launch.keeper(delegate: delegate)
      .restore(into: [TestNode("root", children: [existing])])
    XCTAssertEqual(report.outcome(of: "root/a"), .factoryFailed(.delegate, "Failure"))
    XCTAssertEqual(report.outcome(of: "root"), .restored(by: .existing))
  }

  func testANameCannotBeRegisteredForTwoStoryboards() async throws {
    let keeper = try launch.keeper()
    let storyboard = Storyboard("Main")
    try keeper.register(storyboard)
    XCTAssertNoThrow(try keeper.register(storyboard))
    let other = Storyboard("Main")
    let error = await restorationError { try keeper.register(other) }
    XCTAssertEqual(
      error, WholeError(.nameTaken, "The name “Main” is registered for another storyboard."))
  }

  func testARegisteredFactoryMakesTheNodesOfItsClass() async throws {
    func keeper() throws -> StateKeeper {
      let keeper = try launch.keeper()
      try keeper.register(SpecialTestNode.self) { path, coder in
        try coder.decode(String.self, forKey: "value") == "gone"
          ? nil : SpecialTestNode(path.identifier)
      }
      return keeper
    }
    let nodes = [SpecialTestNode("a", value: "there"), SpecialTestNode("b", value: "gone")]
    _ = try await keeper().save([TestNode("root", children: nodes)])
    let report = try await keeper().restore(into: [TestNode("root", children: nodes)])
    XCTAssertEqual(report.outcome(of: "root/a"), .restored(by: .restorationClass))
    XCTAssertEqual(report.outcome(of: "root/b"), .vetoed)
  }

  func testAClassThatIsRegisteredSinceTheSaveMakesWhatNobodyElseProvides() async throws {
    try await save(TestNode("a", value: "saved"))
    let keeper = try launch.keeper(delegate: delegateAnswering(nil))
    let made = TestNode("a")
    try keeper.register(TestNode.self) { _, _ in made }
    let report = try await keeper.restore(into: [TestNode("root")])
    XCTAssertEqual(report.outcome(of: "root/a"), .restored(by: .restorationClass))
    XCTAssertEqual(made.value, "saved")

    let existing = TestNode("a")
    let again = try launch.keeper()
    try again.register(TestNode.self) { _, _ in
      XCTFail("The node is there.")
      return nil
    }
    _ = try await again.restore(into: [TestNode("root", children: [existing])])
    XCTAssertEqual(existing.value, "saved")
  }

  func testANilForAClassThatIsRegisteredSinceTheSaveIsAVeto() async throws {
    try await save(TestNode("a", value: "saved"))
    let keeper = try launch.keeper()
    try keeper.register(TestNode.self) { _, _ in nil }
    let report = try await keeper.restore(into: [TestNode("root")])
    XCTAssertEqual(report.outcome(of: "root/a"), .vetoed)
  }

  func testAClassThatIsItsOwnRestorationClassMakesItsNodesHoweverItIsRegistered() async throws {
    let first = try launch.keeper()
    try first.register(SelfMadeNode.self)
    let saved = try await first.save([TestNode("root", children: [SelfMadeNode("a")])])
    XCTAssertEqual(saved.problems, [])
    let keeper = try launch.keeper()
    try keeper.register(SelfMadeNode.self, aliases: ["OldNode"])
    let report = try await keeper.restore(into: [TestNode("root")])
    XCTAssertEqual(report.outcome(of: "root/a"), .restored(by: .restorationClass))
  }

  func testWhatMakesNoNodesIsSaidInASentence() async throws {
    try await save(nodeWithClass())
    let keeper = try StateKeeper(
      application: Launch.application, directory: launch.store, keys: launch.keys)
    try keeper.register(UnrelatedNode.self, as: "TestFactory")
    launch.endProcess()
    let report = try await keeper.restore(into: [TestNode("root")])
    XCTAssertEqual(
      report.problems.map(\.reason),
      [
        "not back, the restoration class TestFactory is not registered, or makes no nodes;"
          + " register it, or its new name with TestFactory as an alias"
          + "; saves keep it as it is stored, until a node is saved in its place"
      ])
  }

  func testANameCannotBeRegisteredForTwoTypes() async throws {
    let keeper = try launch.keeper()
    let error = await restorationError {
      try keeper.register(UnrelatedNode.self, as: "TestFactory")
    }
    XCTAssertEqual(
      error,
      WholeError(
        .nameTaken,
        "The name “TestFactory” is registered for another type."
          + " Register one of them with register(_:as:) under another name."))
  }

  func testWhatTheClosureOfTheSavedClassMadeComesBackAgain() async throws {
    _ = try await launch.keeper().save([TestNode("root", value: "x")])
    var made: [any RestorableNode] = []
    for _ in 0..<2 {
      made = []
      let keeper = try launch.keeper()
      try keeper.register(TestNode.self) { path, _ in
        made.append(SpecialTestNode(path.identifier))
        return made.last
      }
      let report = try await keeper.restore()
      XCTAssertEqual(report.outcome(of: "root"), .restored(by: .restorationClass))
      _ = try await keeper.save(made)
    }
  }
}

/// Its identifier is never set, only computed.
@MainActor
private final class ComputedNode: @MainActor RestorableNode {
  var name: String
  var value: String?

  init(_ name: String, value: String?) {
    (self.name, self.value) = (name, value)
  }

  var restorationIdentifier: String? { name.lowercased() }

  func encodeRestorableState(with coder: StateEncoder) throws {
    coder.encode(value, forKey: "value")
  }

  func decodeRestorableState(with coder: StateDecoder) throws {
    value = try coder.decodeIfPresent(forKey: "value")
  }
}

@MainActor
private final class SelfMadeNode: @MainActor RestorableNode, @MainActor RestorationClass {
  let restorationIdentifier: String?

  init(_ identifier: String?) {
    restorationIdentifier = identifier
  }

  static func object(
    at path: RestorationPath, coder: StateDecoder
  ) throws -> (any StateRestoring)? { SelfMadeNode(path.identifier) }
}
