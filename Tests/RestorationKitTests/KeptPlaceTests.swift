import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// What is kept of nodes whose place or state is not like that of others.
@MainActor
final class KeptPlaceTests: XCTestCase {
  private let launch = Launch()

  override func tearDown() async throws {
    TestFactory.make = { _, _ in nil }
  }

  func testAPresentedNodeThatIsNotBackIsKeptThoughAnotherIsPresented() async throws {
    let root = TestPresenter("root")
    root.restorationPresented = TestNode("sheet", value: "typed")
    _ = try await launch.keeper().save([root])

    // A version that has another sheet instead.
    let second = try launch.keeper()
    let other = TestPresenter("root")
    _ = try await second.restore(into: [other])
    other.restorationPresented = TestNode("other")
    let saved = try await second.save([other])
    XCTAssertEqual(saved.outcome(of: "root/sheet"), .keptAsStored)

    let sheet = TestNode("sheet")
    TestFactory.make = { path, _ in path.identifier == "sheet" ? sheet : nil }
    let last = TestPresenter("root")
    last.restorationPresented = sheet
    let restored = try await launch.keeper().restore(into: [last])
    XCTAssertEqual(sheet.value, "typed")
    XCTAssertEqual(restored.entries.filter { $0.path.count == 0 }, [])
  }

  private final class Note: ImmutableArchiveObject {
    init() {}
    init(from decoder: ObjectDecoder) {}
    func encode(to encoder: KeyedEncoder) {}
  }

  func testASetAsideStateThatCannotBeCopiedIsLeftOutAndReported() async throws {
    let builder = RecordBuilder()
    try builder.classes.register(Note.self, name: "Note")
    try builder.append(record: 2) { $0.encodeReferences(to: [3], forKey: "roots") }
    try builder.append(record: 3) { encoder in
      encoder.encodeContainer(forKey: "node") { node in
        node.encode("gone", forKey: "identifier")
        node.encode(name: "TestNode", forKey: "class")
      }
      // The library stores no objects of the codec, which refer to one another in their record.
      encoder.encodeContainer(forKey: "state") { $0.encodeObject(Note(), forKey: "note") }
    }
    let key = try XCTUnwrap(try launch.keys.key(creating: true))
    _ = try Archive.write(
      try builder.finish(), to: launch.store.memory(named: "main"), key: key,
      context: ArchiveContext([Launch.application, "main"]))
    let keeper = try launch.keeper()
    _ = try await keeper.restore()
    let report = try await keeper.save([TestNode("a", value: "saved")])
    XCTAssertEqual(report.outcome(of: "gone"), .savedWithoutState)
    XCTAssertEqual(
      report.entries.map { "\($0.path): \($0.isProblem)" }, ["a: false", "gone: true"])
    let (a, gone) = (TestNode("a"), TestNode("gone"))
    let restored = try await launch.keeper().restore(into: [a, gone])
    XCTAssertEqual(a.value, "saved")
    XCTAssertNotNil(restored.outcome(of: "gone"))
  }

  func testARootThatIsProvidedAgainTakesThePlaceOfTheKeptOne() async throws {
    let both = [TestNode("a", value: "old"), TestNode("b", value: "b")]
    _ = try await launch.keeper().save(both)
    let keeper = try launch.keeper()
    let b = TestNode("b")
    _ = try await keeper.restore(into: [b])
    let saved = try await keeper.save([b, TestNode("a", value: "new")])
    XCTAssertEqual(
      saved.entries.map { "\($0.path): \($0.outcome)" },
      ["b: saved", "a: saved", "a: \(PreservationReport.NodeOutcome.replaced)"])
    let a = TestNode("a")
    let restored = try await launch.keeper().restore(into: [a, TestNode("b")])
    XCTAssertEqual(a.value, "new")
    XCTAssertEqual(restored.problems, [])
  }
}
