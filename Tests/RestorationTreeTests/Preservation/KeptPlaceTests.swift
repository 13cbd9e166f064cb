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
