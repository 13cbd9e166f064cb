import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

@MainActor
final class CodableStateTests: XCTestCase {
  struct Cursor: Codable, Equatable {
    var line: Int
    var marks: Set<String> = []
  }

  final class CodableNode: @MainActor RestorableNode, Codable {
    let restorationIdentifier: String?
    init() { restorationIdentifier = "codable" }
  }

  func testANodeKeepsCodableValues() async throws {
    let launch = Launch()
    let node = TestNode("a", value: "v")
    node.onEncode = { coder in
      try coder.encode(Cursor(line: 3, marks: ["x"]), forKey: "cursor")
      try coder.encode([Cursor(line: 1)], forKey: "cursors")
      try coder.encode(nil as Cursor?, forKey: "none")
    }
    _ = try await launch.keeper().save([node])
    let restored = TestNode("a")
    restored.onDecode = { coder in
      XCTAssertEqual(
        try coder.decode(Cursor.self, forKey: "cursor"), Cursor(line: 3, marks: ["x"]))
      XCTAssertEqual(try coder.decode(forKey: "cursors"), [Cursor(line: 1)])
      XCTAssertNil(try coder.decodeIfPresent(Cursor.self, forKey: "none"))
      XCTAssertThrowsError(try coder.decode(Cursor.self, forKey: "cursors")) { error in
        guard case DecodingError.typeMismatch(_, let context) = error else {
          return XCTFail("\(error)")
        }
        XCTAssertEqual(context.codingPath.map(\.stringValue), ["cursors"])
        XCTAssertEqual(context.debugDescription, "found array, expected keyed container")
      }
      XCTAssertThrowsError(try coder.decode(Cursor.self, forKey: "none")) { error in
        XCTAssertEqual(error as? ArchiveError, ArchiveError(.keyNotFound, path: ["none"]))
      }
    }
    _ = try await launch.keeper().restore(into: [restored])
    XCTAssertEqual(restored.value, "v")
  }

  func testACodableNodeIsAReferenceAndNotAValue() async throws {
    let launch = Launch()
    let target = CodableNode()
    let node = TestNode("a", children: [target])
    node.onEncode = { $0.encode(target, forKey: "target") }
    _ = try await launch.keeper().save([node])
    let back = CodableNode()
    let restored = TestNode("a", children: [back])
    var found: CodableNode?
    restored.onDecode = { found = try $0.decodeObject(forKey: "target") }
    _ = try await launch.keeper().restore(into: [restored])
    XCTAssertIdentical(found, back)
  }
}
