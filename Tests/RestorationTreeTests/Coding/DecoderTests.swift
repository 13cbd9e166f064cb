import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// What a decoder says of what is stored.
@MainActor
final class DecoderTests: XCTestCase {
  private let launch = Launch()

  func testADecoderKnowsTheKeysThatWereEncoded() async throws {
    let node = TestNode("a", value: "saved")
    node.onEncode = { $0.encode(nil as Int?, forKey: "nothing") }
    _ = try await launch.keeper().save([node])
    var known: [Bool] = []
    node.onDecode = { decoder in
      known = ["value", "other", "timestamp"].map { decoder.contains($0) }
      XCTAssertFalse(decoder.hasRawListPositions, "It is no list.")
    }
    _ = try await launch.keeper().restore(into: [node])
    XCTAssertEqual(known, [true, false, false])
  }

  func testAnAbsentKeyThrowsAlsoForAnOptionalTypeUnlessItMayBeAbsent() async throws {
    _ = try await launch.keeper().save([TestNode("a")])
    let node = TestNode("a")
    var thrown: [ArchiveError?] = []
    node.onDecode = { decoder in
      thrown = [
        archiveError { let _: Int? = try decoder.decode(forKey: "count") },
        archiveError { let _: Int = try decoder.decode(forKey: "count") },
      ]
      XCTAssertNil(try decoder.decodeIfPresent(Int.self, forKey: "count"))
      XCTAssertNil(try decoder.decodeIfPresent([Int: Int].self, forKey: "count"))
      XCTAssertNil(try decoder.decodeObject(TestNode.self, forKey: "count"))
    }
    _ = try await launch.keeper().restore(into: [node])
    XCTAssertEqual(thrown, Array(repeating: ArchiveError(.keyNotFound, path: ["count"]), count: 2))
  }

  func testTheReportSaysHowLongTheWalkTook() async throws {
    _ = try await launch.keeper().save([TestNode("a")])
    let report = try await launch.keeper().restore(into: [TestNode("a")])
    XCTAssertGreaterThan(report.walkDuration, .zero)
  }
}
