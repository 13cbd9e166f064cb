import RestorationKit
import TestSupport
import XCTest

/// The numbers under which a file has the classes of its elements.
@MainActor
final class FormNumberTests: XCTestCase {
  private func roots(_ first: String, _ second: String) -> [String: TestNode] {
    ["a": TestNode("a", value: first), "b": SpecialTestNode("b", value: second)]
  }

  private func list(_ nodes: [String: TestNode], _ names: [String]) -> [any RestorableNode] {
    names.compactMap { nodes[$0] }
  }

  func testAStateThatIsPutBackHasItsOwnNumbersOfClassesInTheSavesThatFollow() async throws {
    let launch = Launch()
    let first = try launch.keeper()
    _ = try await first.save(list(roots("1", "2"), ["a", "b"]))
    await first.close()

    // A save before any restore begins anew, with the same classes in another order.
    let second = try launch.keeper()
    _ = try await second.save(list(roots("3", "4"), ["b", "a"]))
    let moments = try await second.history()
    try await second.putBack(try XCTUnwrap(moments.first))
    let nodes = roots("5", "6")
    let report = try await second.restore(into: list(nodes, ["a", "b"]))
    XCTAssertEqual(report.outcome, .restored)
    XCTAssertEqual(nodes["a"]?.value, "1")
    nodes["a"]?.value = "7"
    _ = try await second.save(list(nodes, ["a", "b"]))
    await second.close()

    let back = roots("8", "9")
    _ = try await launch.keeper().restore(into: list(back, ["a", "b"]))
    XCTAssertEqual(back["a"]?.value, "7")
    XCTAssertEqual(back["b"]?.value, "2")
  }
}
