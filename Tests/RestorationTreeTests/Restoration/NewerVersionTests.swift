import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// A newer version of the app saves, an older one runs for a while, and the
/// newer one comes back.
@MainActor
final class NewerVersionTests: XCTestCase {
  /// A node of a class whose state has versions.
  private final class Screen: @MainActor RestorableNode, @MainActor RestorableTextSelection {
    var restorationIdentifier: String?
    var restorationChildren: [any RestorableNode] = []
    var restorationPresented: (any RestorableNode)?
    var restorationViews: [any RestorableView] = []
    var selectedTextRange: Range<Int>?
    let textLength = 100
    var value: String?
    var friend: (any RestorableNode)?
    var wasEncoded = false
    var wasDecoded = false
    var wasFinished = false

    init(_ identifier: String, _ value: String? = nil, _ children: [any RestorableNode] = []) {
      restorationIdentifier = identifier
      restorationChildren = children
      self.value = value
    }

    func encodeRestorableState(with coder: StateEncoder) throws {
      wasEncoded = true
      coder.encode(value, forKey: "value")
      coder.encode(friend, forKey: "friend")
      coder.encodeContainer(forKey: "box") { $0.encode(friend, forKey: "friend") }
    }

    func decodeRestorableState(with coder: StateDecoder) throws {
      wasDecoded = true
      value = try coder.decodeIfPresent(forKey: "value")
      friend = try coder.decodeObject(forKey: "friend")
      let inner = try coder.container(forKey: "box")?.decodeObject(
        (any RestorableNode).self, forKey: "friend")
      XCTAssertTrue(inner === friend)
    }

    func applicationFinishedRestoringState() { wasFinished = true }
  }

  private final class Stack: @MainActor RestorableStack {
    let restorationIdentifier: String? = "stack"
    var restorationChildren: [any RestorableNode] = []
    func restoreStack(_ nodes: [any RestorableNode]) { restorationChildren = nodes }
  }

  private final class Field: @MainActor RestorableView {
    let restorationIdentifier: String? = "field"
    var value: String?
    init(_ value: String? = nil) { self.value = value }
    func encodeRestorableState(with coder: StateEncoder) { coder.encode(value, forKey: "value") }
    func decodeRestorableState(with coder: StateDecoder) throws {
      value = try coder.decodeIfPresent(forKey: "value")
    }
  }

  private func keeper(
    _ launch: Launch, version: Int, endsLast: Bool = true,
    factory: ((RestorationPath, StateDecoder) throws -> (any RestorableNode)?)? = nil
  ) throws -> StateKeeper {
    let keeper = try launch.keeper(endsLast: endsLast)
    let steps = migrations(to: version)
    try keeper.register(Screen.self, version: version, migrations: steps, restoration: factory)
    return keeper
  }

  func testANewerStateIsReportedAndNobodySeesIt() async throws {
    let launch = Launch()
    let child = Screen("b", "child")
    _ = try await keeper(launch, version: 3).save([Screen("a", "newer", [child])])

    let older = try keeper(launch, version: 2)
    let node = Screen("a", "default", [Screen("b")])
    let report = try await older.restore(into: [node])
    XCTAssertEqual(
      report.outcome(of: "a"), .newerVersion(by: .existing, stored: 3, known: 2))
    XCTAssertEqual(
      report.outcome(of: "a/b"), .newerVersion(by: .existing, stored: 3, known: 2))
    XCTAssertEqual(
      report.problems.first?.description,
      "a (Screen): already there, but its state has version 3, newer than 2; nothing was decoded,"
        + " and saves keep the state as it is stored")
    XCTAssertEqual(node.value, "default")
    XCTAssertFalse(node.wasDecoded)
    XCTAssertTrue(node.wasFinished, "it is back")
  }

  func testSavesWriteANewerStateBackUnchanged() async throws {
    let launch = Launch()
    let saved = Screen("a", "newer")
    saved.selectedTextRange = 3..<7
    _ = try await keeper(launch, version: 3).save([saved])

    let older = try keeper(launch, version: 2)
    let node = Screen("a", "default")
    _ = try await older.restore(into: [node])
    for _ in 0..<3 {
      let report = try await older.save([Screen("new"), node])
      XCTAssertEqual(report.outcome(of: "a"), .keptAsStored)
      XCTAssertEqual(report.outcome(of: "new"), .saved)
      XCTAssertEqual(report.problems, [])
    }

    let back = Screen("a")
    let report = try await keeper(launch, version: 3).restore(into: [back])
    XCTAssertEqual(report.outcome(of: "a"), .restored(by: .existing))
    XCTAssertEqual(back.value, "newer")
    XCTAssertEqual(back.selectedTextRange, 3..<7)
  }

  func testANewerStateSurvivesSeveralLaunchesOfTheOlderVersion() async throws {
    let launch = Launch()
    _ = try await keeper(launch, version: 3).save([Screen("a", "newer")])
    for _ in 0..<3 {
      let older = try keeper(launch, version: 1)
      let node = Screen("a", "default")
      let report = try await older.restore(into: [node])
      XCTAssertEqual(
        report.outcome(of: "a"), .newerVersion(by: .existing, stored: 3, known: 1))
      _ = try await older.save([node])
    }
    let back = Screen("a")
    _ = try await keeper(launch, version: 3).restore(into: [back])
    XCTAssertEqual(back.value, "newer")
  }

  func testReferencesOfASetAsideStateNameTheSameNodes() async throws {
    let launch = Launch()
    let saved = Screen("a", "newer")
    saved.friend = Screen("b", "friend")
    _ = try await keeper(launch, version: 2).save([saved, saved.friend].compactMap(\.self))

    let older = try keeper(launch, version: 1)
    let (node, friend) = (Screen("a"), Screen("b"))
    _ = try await older.restore(into: [node, friend])
    // Other records get other numbers now.
    _ = try await older.save([Screen("x"), Screen("y"), friend, node])

    let (back, backFriend) = (Screen("a"), Screen("b"))
    _ = try await keeper(launch, version: 2).restore(into: [back, backFriend])
    XCTAssertIdentical(back.friend, backFriend)
    XCTAssertEqual(backFriend.value, "friend")
  }

  func testAReferenceOfASetAsideStateToWhatIsGoneBecomesAbsent() async throws {
    let launch = Launch()
    let saved = Screen("a", "newer")
    let friend = Screen("b", "friend")
    saved.friend = friend
    _ = try await keeper(launch, version: 2).save([saved, friend])
    let older = try keeper(launch, version: 1)
    let node = Screen("a")
    do {
      let friend = Screen("b")
      _ = try await older.restore(into: [node, friend])
    }
    _ = try await older.save([node])
    let back = Screen("a")
    let report = try await keeper(launch, version: 2).restore(into: [back])
    XCTAssertEqual(report.problems, [])
    XCTAssertEqual(back.value, "newer")
    XCTAssertNil(back.friend)
  }

  func testAFactoryIsAskedWithACoderWithoutValues() async throws {
    let launch = Launch()
    _ = try await keeper(launch, version: 2) { _, _ in nil }.save([Screen("a", "newer")])
    let made = Screen("a")
    var keys: [String]?
    let older = try keeper(launch, version: 1) { _, coder in
      keys = coder.keys
      return made
    }
    let report = try await older.restore()
    XCTAssertEqual(keys, [])
    XCTAssertEqual(
      report.outcome(of: "a"), .newerVersion(by: .restorationClass, stored: 2, known: 1))
  }

  func testWhatIsNotBackIsKeptWithAllBelowItAndItsReferences() async throws {
    let launch = Launch()
    let root = Screen("root", "root")
    let (lost, below, deep) = (Screen("lost", "lost"), Screen("below", "below"), Screen("deep"))
    let presented = Screen("presented", "presented")
    deep.value = "deep"
    deep.friend = root
    lost.friend = deep
    root.restorationChildren = [Screen("first"), lost]
    lost.restorationChildren = [below]
    below.restorationChildren = [deep]
    below.restorationPresented = presented
    lost.restorationViews = [Field("typed")]
    root.friend = deep
    _ = try await keeper(launch, version: 2).save([root])

    let older = try keeper(launch, version: 1)
    let olderRoot = Screen("root", nil, [Screen("first")])
    let report = try await older.restore(into: [olderRoot])
    XCTAssertEqual(
      report.outcome(of: "root/lost"), .newerVersion(by: nil, stored: 2, known: 1))
    XCTAssertEqual(
      report.outcome(of: "root/lost/below/deep"),
      .parentMissing(RestorationPath(["root", "lost", "below"])))
    for _ in 0..<2 {
      let saved = try await older.save([Screen("new"), olderRoot])
      XCTAssertEqual(saved.problems, [])
      XCTAssertEqual(saved.outcome(of: "root/lost/below/deep"), .keptAsStored)
      XCTAssertEqual(saved.entries.count, 8)
    }

    let field = Field()
    let back = Screen("root", nil, [Screen("first"), Screen("lost", nil, [Screen("below")])])
    let newLost = try XCTUnwrap(back.restorationChildren.last as? Screen)
    newLost.restorationViews = [field]
    let newBelow = try XCTUnwrap(newLost.restorationChildren.first as? Screen)
    let newDeep = Screen("deep")
    newBelow.restorationChildren = [newDeep]
    let newPresented = Screen("presented")
    newBelow.restorationPresented = newPresented
    let last = try await keeper(launch, version: 2).restore(into: [back])
    XCTAssertEqual(last.problems.map(\.path.description), ["new"])
    XCTAssertEqual(newLost.value, "lost")
    XCTAssertEqual(field.value, "typed")
    XCTAssertEqual(newDeep.value, "deep")
    XCTAssertEqual(newPresented.value, "presented")
    XCTAssertIdentical(newLost.friend, newDeep)
    XCTAssertIdentical(newDeep.friend, back)
    XCTAssertIdentical(back.friend, newDeep)
  }

  func testAViewThatIsNotThereIsKeptBelowItsNode() async throws {
    let launch = Launch()
    let node = Screen("a", "node")
    node.restorationViews = [Field("typed")]
    let newer = try keeper(launch, version: 1)
    try newer.register(
      Field.self, version: 2, migrations: [1: { _ in }])
    _ = try await newer.save([node])

    for views in [[], [Field("default")]] {
      let older = try keeper(launch, version: 1)
      try older.register(Field.self)
      let olderNode = Screen("a")
      olderNode.restorationViews = views
      let report = try await older.restore(into: [olderNode])
      XCTAssertEqual(olderNode.value, "node")
      XCTAssertEqual(
        report.outcome(of: "a/field"),
        .newerVersion(by: views.isEmpty ? nil : .existing, stored: 2, known: 1))
      let saved = try await older.save([olderNode])
      XCTAssertEqual(saved.outcome(of: "a/field"), .keptAsStored)
      XCTAssertEqual(views.first?.value, views.isEmpty ? nil : "default")
    }
    let field = Field()
    let back = Screen("a")
    back.restorationViews = [field]
    let last = try keeper(launch, version: 1)
    try last.register(
      Field.self, version: 2, migrations: [1: { _ in }])
    let report = try await last.restore(into: [back])
    XCTAssertEqual(report.problems, [])
    XCTAssertEqual(field.value, "typed")
  }

  func testARootThatIsNotBackIsKept() async throws {
    let launch = Launch()
    _ = try await keeper(launch, version: 2).save([Screen("window", "newer", [Screen("pane")])])
    let older = try keeper(launch, version: 1)
    _ = try await older.restore(into: [Screen("other")])
    _ = try await older.save([Screen("other")])
    let back = Screen("window", nil, [Screen("pane")])
    let report = try await keeper(launch, version: 2).restore(into: [back, Screen("other")])
    XCTAssertEqual(report.problems, [])
    XCTAssertEqual(back.value, "newer")
  }

  func testWhatLayOnAKeptNodeOfAStackIsKeptToo() async throws {
    let launch = Launch()
    let stack = Stack()
    stack.restorationChildren = [TestNode("a"), Screen("b", "newer"), TestNode("c", value: "top")]
    _ = try await keeper(launch, version: 2).save([stack])

    let older = try keeper(launch, version: 1)
    let olderStack = Stack()
    olderStack.restorationChildren = [TestNode("a")]
    let report = try await older.restore(into: [olderStack])
    XCTAssertEqual(report.outcome(of: "stack/b"), .newerVersion(by: nil, stored: 2, known: 1))
    XCTAssertEqual(report.outcome(of: "stack/c"), .stackCut)
    _ = try await older.save([olderStack])

    let back = Stack()
    let (b, c) = (Screen("b"), TestNode("c"))
    back.restorationChildren = [TestNode("a"), b, c]
    let last = try await keeper(launch, version: 2).restore(into: [back])
    XCTAssertEqual(last.problems, [])
    XCTAssertEqual(back.restorationChildren.count, 3)
    XCTAssertEqual(b.value, "newer")
    XCTAssertEqual(c.value, "top")
  }

  func testWhatAContainerWouldHaveTakenInItsDecodingIsKeptWithIt() async throws {
    let launch = Launch()
    let pane = Screen("pane", "newer", [TestNode("child", value: "saved")])
    _ = try await keeper(launch, version: 2).save([pane])

    let older = try keeper(launch, version: 1)
    let olderPane = Screen("pane")
    let delegate = TestDelegate()
    delegate.onNode = { path, _ in path.identifier == "child" ? TestNode("child") : nil }
    older.delegate = delegate
    let report = try await older.restore(into: [olderPane])
    XCTAssertEqual(report.outcome(of: "pane/child"), .restored(by: .delegate))
    XCTAssertEqual(report.entries.map(\.notes), [[], [.notContained, .kept]])
    let saved = try await older.save([olderPane])
    XCTAssertEqual(saved.outcome(of: "pane/child"), .keptAsStored)
    await older.close()

    let child = TestNode("child")
    let newer = try keeper(launch, version: 2, endsLast: false)
    let last = try await newer.restore(into: [Screen("pane", nil, [child])])
    XCTAssertEqual(last.problems, [])
    XCTAssertEqual(child.value, "saved")
    await newer.close()

    // A child that is there by then is saved, and not the one that was stored.
    olderPane.restorationChildren = [TestNode("child", value: "shown")]
    _ = try await older.save([olderPane])
    await older.close()
    _ = try await keeper(launch, version: 2).restore(into: [Screen("pane", nil, [child])])
    XCTAssertEqual(child.value, "shown")
  }

  func testWhatAContainerCouldNotTakeMayBeContainedElsewhere() async throws {
    let launch = Launch()
    let pane = Screen("pane", "newer", [TestNode("child", value: "saved")])
    _ = try await keeper(launch, version: 2).save([pane])

    let older = try keeper(launch, version: 1)
    let (olderPane, child) = (Screen("pane"), TestNode("child"))
    let delegate = TestDelegate()
    delegate.onNode = { path, _ in path.identifier == "child" ? child : nil }
    older.delegate = delegate
    _ = try await older.restore(into: [olderPane])
    for _ in 0..<2 {
      let report = try await older.save([olderPane, child])
      XCTAssertEqual(report.outcome(of: "child"), .saved)
      XCTAssertEqual(report.outcome(of: "pane/child"), .keptAsStored)
    }
    await older.close()
    let back = TestNode("child")
    _ = try await keeper(launch, version: 2).restore(into: [Screen("pane", nil, [back])])
    XCTAssertEqual(back.value, "saved")
  }

  func testWhatTakesThePathOfANewerNodeIsRestoredFromThenOn() async throws {
    let launch = Launch()
    _ = try await keeper(launch, version: 2).save([Screen("a", "newer")])
    let older = try keeper(launch, version: 1)
    _ = try await older.restore()
    let report = try await older.save([Screen("a", "older")])
    XCTAssertEqual(report.entries.map(\.outcome), [.saved])
    XCTAssertEqual(report.notes, [])
    XCTAssertEqual(report.kept.map { $0.outcome.step != nil }, [true])
    XCTAssertEqual(report.kept.map(\.since), [launch.now])
    let back = Screen("a")
    _ = try await keeper(launch, version: 2).restore(into: [back])
    XCTAssertEqual(back.value, "older")
  }

  func testDiscardedAndDeclinedStatesAreNotKept() async throws {
    for declines in [false, true] {
      let launch = Launch()
      _ = try await keeper(launch, version: 2).save([Screen("a", "newer")])
      let older = try keeper(launch, version: 1)
      let node = Screen("a", "older")
      _ = try await older.restore(into: [node])
      if declines {
        let delegate = TestDelegate()
        delegate.saves = false
        older.delegate = delegate
        _ = try await older.save([node])
        older.delegate = nil
      } else {
        try await older.discardState()
      }
      let report = try await older.save([node])
      XCTAssertEqual(report.outcome(of: "a"), .saved)
    }
  }

  func testAnotherObjectUnderThePathIsSavedAnew() async throws {
    let launch = Launch()
    _ = try await keeper(launch, version: 2).save([Screen("a", "newer")])
    let older = try keeper(launch, version: 1)
    do {
      let node = Screen("a")
      _ = try await older.restore(into: [node])
    }
    let report = try await older.save([Screen("a", "older")])
    XCTAssertEqual(report.outcome(of: "a"), .saved)
  }
}
