import RestorationKit
import TestSupport
import XCTest

/// What is registered by its class, and what by a restoration class.
@MainActor
final class RegistrationTests: XCTestCase {
  private let launch = Launch()

  /// Saves `root > node` by one keeper and restores it by another, without it.
  private func roundTrip(
    _ node: any RestorableNode, delegate: TestDelegate? = nil,
    _ register: (StateKeeper) throws -> Void
  ) async throws -> (saved: PreservationReport, outcome: RestorationReport.NodeOutcome?) {
    let saving = try launch.keeper()
    try register(saving)
    let saved = try await saving.save([TestNode("root", children: [node])])
    let restoring = try launch.keeper(delegate: delegate)
    try register(restoring)
    let restored = try await restoring.restore(into: [TestNode("root")])
    return (saved, restored.outcome(of: "root/a"))
  }

  func testAClassThatIsRegisteredByItsOwnConformanceMakesItsNodes() async throws {
    let (saved, outcome) = try await roundTrip(SelfMade("a")) { try $0.register(SelfMade.self) }
    XCTAssertEqual(saved.problems, [])
    XCTAssertEqual(outcome, .restored(by: .restorationClass))
  }

  func testAConformanceThatAnInheritedOneDoesNotKnowIsFoundToo() async throws {
    // The conformance of its superclass says that it has no restoration class.
    XCTAssertNil((Derived("a") as any RestorableNode).restorationClass)
    let (saved, outcome) = try await roundTrip(Derived("a")) { try $0.register(Derived.self) }
    XCTAssertEqual(saved.problems, [])
    XCTAssertEqual(outcome, .restored(by: .restorationClass))
  }

  func testANodeThatNamesNoClassIsMadeByItsOwnAfterAllOthersWereAsked() async throws {
    let delegate = TestDelegate()
    var asked: [String] = []
    delegate.onNode = { path, _ in
      asked.append(path.description)
      return nil
    }
    let (_, made) = try await roundTrip(Derived("a"), delegate: delegate) {
      try $0.register(Derived.self)
    }
    XCTAssertEqual(made, .restored(by: .restorationClass))
    XCTAssertEqual(asked, ["root", "root/a"])

    let keeper = try launch.keeper()
    try keeper.register(Derived.self)
    let report = try await keeper.restore(
      into: [TestNode("root", children: [Derived("a")])])
    XCTAssertEqual(report.outcome(of: "root/a"), .restored(by: .existing))
  }

  func testAClosureGoesBeforeTheConformance() async throws {
    var made: [String] = []
    let (saved, outcome) = try await roundTrip(SelfMade("a")) { keeper in
      try keeper.register(SelfMade.self) { path, _ in
        made.append(path.description)
        return SelfMade(path.identifier)
      }
    }
    XCTAssertEqual(saved.problems, [])
    XCTAssertEqual(outcome, .restored(by: .restorationClass))
    XCTAssertEqual(made, ["root/a"])
  }

  func testAClassWithNeitherHasOnlyItsNames() async throws {
    let (saved, outcome) = try await roundTrip(TestNode("a")) {
      try $0.register(TestNode.self, as: "Screen")
    }
    XCTAssertEqual(saved.entries.last?.className, "Screen")
    XCTAssertEqual(saved.problems, [])
    XCTAssertEqual(outcome, .notFound)
  }

  func testAClassMayHaveTheNameOfAKeyThatTheLibraryWrites() async throws {
    for name in ["roots", "snapshot", "node", "state", "class", "restorationClass", "offset"] {
      let (saved, outcome) = try await roundTrip(SelfMade("a")) {
        try $0.register(SelfMade.self, as: name)
      }
      XCTAssertEqual(saved.entries.last?.className, name)
      XCTAssertEqual(saved.entries.last?.notes, [], name)
      XCTAssertEqual(outcome, .restored(by: .restorationClass), name)
    }
  }

  func testARestorationClassIsNotTheMakerOfAClassThatHasItsName() async throws {
    _ = try await launch.keeper().save([TestNode("a")])
    let keeper = try StateKeeper(
      application: Launch.application, directory: launch.store, keys: launch.keys)
    launch.endProcess()
    try keeper.register(restorationClass: TestFactory.self, as: "TestNode")
    TestFactory.make = { _, _ in
      XCTFail("It was asked.")
      return nil
    }
    defer { TestFactory.make = { _, _ in nil } }
    let report = try await keeper.restore()
    XCTAssertEqual(report.outcome(of: "a"), .notFound)
  }

  func testObjectsAreMadeByTheirClassOrByAClosure() async throws {
    let closure = { (_: RestorationPath, _: StateDecoder) -> SelfMadeObject? in SelfMadeObject() }
    let registrations: [(StateKeeper) throws -> Void] = [
      { try $0.register(SelfMadeObject.self) },
      { try $0.register(restorationClass: SelfMadeObject.self) },
      { try $0.register(SelfMadeObject.self, restoration: closure) },
    ]
    for register in registrations {
      let launch = Launch()
      let object = SelfMadeObject()
      object.value = 5
      let saving = try launch.keeper()
      try register(saving)
      saving.registerObject(object, restorationIdentifier: "object")
      let node = TestNode("a")
      node.onEncode = { $0.encode(object, forKey: "object") }
      let saved = try await saving.save([node])
      XCTAssertEqual(saved.problems, [])

      let restoring = try launch.keeper()
      try register(restoring)
      let back = TestNode("a")
      var made: SelfMadeObject?
      back.onDecode = { made = try $0.decodeObject(forKey: "object") }
      let report = try await restoring.restore(into: [back])
      XCTAssertEqual(report.outcome(of: "object"), .restored(by: .restorationClass))
      XCTAssertEqual(made?.value, 5)
    }
  }

  func testAClosureOfAClassOfObjectsMakesThoseThatNameNoClass() async throws {
    let object = StatelessObject()
    func keeper() throws -> StateKeeper {
      let keeper = try launch.keeper()
      try keeper.register(StatelessObject.self) { _, _ in StatelessObject() }
      return keeper
    }
    let saving = try keeper()
    saving.registerObject(object, restorationIdentifier: "object")
    let node = TestNode("a")
    node.onEncode = { $0.encode(object, forKey: "object") }
    _ = try await saving.save([node])
    let report = try await keeper().restore(into: [TestNode("a")])
    XCTAssertEqual(report.outcome(of: "object"), .restored(by: .restorationClass))
  }

  func testARestorationClassThatIsNotRegisteredSaysHowToRegisterIt() async throws {
    let report = try await launch.keeper().save([SelfMade("a")])
    XCTAssertEqual(
      report.problems.flatMap(\.notes).map(\.description),
      [
        "SelfMade is not registered. Call keeper.register(restorationClass: SelfMade.self)."
      ])
  }

  /// All of this is here to be compiled; each call means what it seems to mean.
  func testClassesOfAllKindsAreRegisteredInAllForms() async throws {
    let keeper = try launch.keeper()
    let make: (RestorationPath, StateDecoder) throws -> (any RestorableNode)? = { path, _ in
      SelfMade(path.identifier)
    }
    let none: ((RestorationPath, StateDecoder) throws -> (any RestorableNode)?)? = nil
    func made(at path: RestorationPath, coder: StateDecoder) throws -> SelfMade? {
      SelfMade(path.identifier)
    }
    // The last one of a class counts.
    try keeper.register(SelfMade.self)
    try keeper.register(SelfMade.self, aliases: ["ProductScreen"])
    try keeper.register(SelfMade.self) { _, _ in nil }
    try keeper.register(SelfMade.self) { path, coder in
      guard coder.contains("value") else { return nil }
      return SelfMade(path.identifier)
    }
    try keeper.register(SelfMade.self) { (path: RestorationPath, _: StateDecoder) -> SelfMade? in
      SelfMade(path.identifier)
    }
    try keeper.register(SelfMade.self, restoration: none)
    try keeper.register(SelfMade.self, restoration: make)
    try keeper.register(SelfMade.self, version: 2, restoration: made)
    try keeper.register(TestView.self)
    try keeper.register(TestObject.self, version: 1, migrations: [:])
    try keeper.register(Unisolated.self)
    try keeper.register(Unisolated.self) { _, _ in Unisolated() }
    try keeper.register(restorationClass: Unisolated.self, aliases: ["Old"])
    try keeper.register(UnisolatedView.self, aliases: ["OldView"])

    let report = try await keeper.save([SelfMade("a"), Unisolated()])
    XCTAssertEqual(report.problems, [])
    let stored = try XCTUnwrap(try launch.storedRecords())
    XCTAssertEqual(stored.paths, ["a", "unisolated"])
    let restored = try await keeper.restore()
    XCTAssertEqual(
      restored.entries.map(\.outcome),
      [.restored(by: .restorationClass), .restored(by: .restorationClass)])
  }
}

@MainActor
private final class SelfMade: @MainActor RestorableNode, @MainActor RestorationClass {
  let restorationIdentifier: String?

  init(_ identifier: String?) { restorationIdentifier = identifier }

  static func object(
    at path: RestorationPath, coder: StateDecoder
  ) throws -> (any StateRestoring)? { SelfMade(path.identifier) }
}

@MainActor
private class Base: @MainActor RestorableNode {
  let restorationIdentifier: String?

  init(_ identifier: String?) { restorationIdentifier = identifier }
}

@MainActor
private final class Derived: Base, @MainActor RestorationClass {
  static func object(
    at path: RestorationPath, coder: StateDecoder
  ) throws -> (any StateRestoring)? { Derived(path.identifier) }
}

@MainActor
private final class SelfMadeObject: @MainActor RestorableObject, @MainActor RestorationClass {
  var value = 0

  func encodeRestorableState(with coder: StateEncoder) throws {
    coder.encode(value, forKey: "value")
  }

  func decodeRestorableState(with coder: StateDecoder) throws {
    value = try coder.decode(forKey: "value")
  }

  static func object(
    at path: RestorationPath, coder: StateDecoder
  ) throws -> (any StateRestoring)? { SelfMadeObject() }
}

private final class Unisolated: RestorableNode, RestorationClass {
  let restorationIdentifier: String? = "unisolated"

  static func object(
    at path: RestorationPath, coder: StateDecoder
  ) throws -> (any StateRestoring)? { Unisolated() }
}

private final class UnisolatedView: RestorableView {
  let restorationIdentifier: String? = "view"
}
