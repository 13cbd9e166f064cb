import RestorationKit
import TestSupport
import XCTest

@MainActor
final class UnreadKeyTests: XCTestCase {
  private let launch = Launch()

  /// What is not read when a node writes and reads so.
  private func unread(
    _ write: @escaping (StateEncoder) throws -> Void,
    _ read: @escaping (StateDecoder) throws -> Void
  ) async throws -> [ReportNote]? {
    let node = TestNode("root")
    node.onEncode = write
    _ = try await launch.keeper().save([node])
    let back = TestNode("root")
    back.onDecode = read
    return try await launch.keeper().restore(into: [back]).entries.first?.notes
  }

  func testAKeyThatIsReadAnyWayIsRead() async throws {
    let ways: [(String, (StateEncoder) throws -> Void, (StateDecoder) throws -> Void)] = [
      (
        "decode", { $0.encode(1, forKey: "a") },
        { _ = try $0.decode(Int.self, forKey: "a") }
      ),
      (
        "decodeIfPresent", { $0.encode(1, forKey: "a") },
        { _ = try $0.decodeIfPresent(Int.self, forKey: "a") }
      ),
      (
        "decode Codable", { try $0.encode(Pair(left: 1, right: 2), forKey: "a") },
        { _ = try $0.decode(Pair.self, forKey: "a") }
      ),
      (
        "decodeIfPresent Codable", { try $0.encode(Pair(left: 1, right: 2), forKey: "a") },
        { _ = try $0.decodeIfPresent(Pair.self, forKey: "a") }
      ),
      ("contains", { $0.encode(1, forKey: "a") }, { _ = $0.contains("a") }),
      (
        "container", { $0.encodeContainer(forKey: "a") { $0.encode(1, forKey: "b") } },
        { _ = try $0.container(forKey: "a")?.decode(Int.self, forKey: "b") }
      ),
      (
        "object", { $0.encode(TestNode("other"), forKey: "a") },
        { _ = try $0.decodeObject(TestNode.self, forKey: "a") }
      ),
      (
        "objects", { $0.encode([TestNode("other")], forKey: "a") },
        { _ = try $0.decodeObjects(TestNode.self, forKey: "a") }
      ),
      (
        "named objects", { $0.encode(["x": TestNode("other")], forKey: "a") },
        { _ = try $0.decodeObjectDictionary(TestNode.self, forKey: "a") }
      ),
      (
        "another type", { $0.encode(1, forKey: "a") },
        { coder in XCTAssertThrowsError(try coder.decode(String.self, forKey: "a")) }
      ),
    ]
    for (name, write, read) in ways {
      let left = try await unread(write, { _ in })
      XCTAssertEqual(left, [.unreadKeys(["a"])], name)
      let none = try await unread(write, read)
      XCTAssertEqual(none, [], name)
    }
  }

  func testKeysComeInStoredOrderAndThoseOfContainersAfterThem() async throws {
    let keys = try await unread(
      { coder in
        for key in ["d", "c", "b"] { coder.encode(1, forKey: key) }
        coder.encodeContainer(forKey: "a") {
          $0.encode(1, forKey: "x")
          $0.encode(1, forKey: "y")
        }
      },
      { coder in
        _ = try coder.decode(Int.self, forKey: "c")
        _ = try coder.container(forKey: "a")?.decode(Int.self, forKey: "x")
      })
    XCTAssertEqual(keys, [.unreadKeys(["d", "b"])])
  }

  func testOfMoreThanSixtyFourKeysEachCounts() async throws {
    let names = (0..<70).map { "key \($0)" }
    for skipped in names {
      let keys = try await unread(
        { coder in for name in names { coder.encode(1, forKey: name) } },
        { coder in
          for name in names where name != skipped { _ = try coder.decode(Int.self, forKey: name) }
        })
      XCTAssertEqual(keys, [.unreadKeys([skipped])])
    }
  }

  func testAKeyThatIsNotStoredIsNotMissed() async throws {
    let keys = try await unread(
      { $0.encode(1, forKey: "a") },
      { coder in
        _ = try coder.decodeIfPresent(Int.self, forKey: "never")
        _ = coder.applicationVersion
      })
    XCTAssertEqual(keys, [.unreadKeys(["a"])])
  }

  func testWhatTheFactoryOrTheLastHookReadIsRead() async throws {
    let node = TestNode("root")
    node.restorationClass = TestFactory.self
    node.onEncode = {
      $0.encode(1, forKey: "made")
      $0.encode(1, forKey: "left")
    }
    _ = try await launch.keeper().save([node])
    TestFactory.make = { path, coder in
      _ = try coder.decode(Int.self, forKey: "made")
      return TestNode(path.identifier)
    }
    let report = try await launch.keeper().restore()
    XCTAssertEqual(report.notes, [.unreadKeys(["left"])])
    XCTAssertEqual(report.problems, report.entries)
  }

  func testAKeyIsMissedAlsoBeforeANodeOfWhichAllIsRead() async throws {
    let saved = ["a", "b"].map { TestNode($0, value: "saved") }
    saved[0].onEncode = { $0.encode(1, forKey: "left") }
    _ = try await launch.keeper().save(saved)
    let report = try await launch.keeper().restore(into: [TestNode("a"), TestNode("b")])
    XCTAssertEqual(report.entries.map(\.notes), [[.unreadKeys(["left"])], []])
  }

  func testANodeThatIsNotDecodedMissesNothing() async throws {
    let node = TestNode("root", value: "x")
    _ = try await launch.keeper().save([node])
    let report = try await launch.keeper().restore(into: [UnrelatedNode("root")])
    XCTAssertEqual(report.entries.map(\.notes), [[]])
  }

  func testWhatTheGateReadTheDelegateHasRead() async throws {
    let delegate = TestDelegate()
    delegate.onWillEncode = { coder in
      for key in ["gate", "did", "nobody"] { coder.encode(1, forKey: key) }
    }
    _ = try await launch.keeper(delegate: delegate).save([])
    let reader = TestDelegate()
    reader.onShouldRestore = { XCTAssertTrue($0.contains("gate")) }
    reader.onDidDecode = { XCTAssertTrue($0.contains("did")) }
    let report = try await launch.keeper(delegate: reader).restore()
    XCTAssertEqual(report.entries.map(\.kind), [.application])
    XCTAssertEqual(report.notes, [.unreadKeys(["nobody"])])
    XCTAssertEqual(report.problems, report.entries)
    XCTAssertEqual(
      report.description,
      """
      Restored 0 of 0 nodes.
        application:
          problem: Nobody read what is stored under “nobody”. Compare how the key and the hook are \
      spelled.
      """)
    let without = try await launch.keeper().restore()
    XCTAssertEqual(without.entries, [], "Without a delegate nobody is there to read them.")
  }

  func testAContainerThatIsOpenedOftenIsNotKeptEachTime() async throws {
    let node = TestNode("root")
    node.onEncode = { $0.encodeContainer(forKey: "rows") { $0.encode(1, forKey: "height") } }
    _ = try await launch.keeper().save([node])
    var alive = 0
    let back = TestNode("root")
    back.onDecode = { coder in
      let opened = try (0..<1_000).map { _ in
        let container = try coder.container(forKey: "rows")
        _ = try container?.decodeIfPresent(Int.self, forKey: "height")
        return WeakCoder(coder: container)
      }
      alive = opened.count { $0.coder != nil }
    }
    _ = try await launch.keeper().restore(into: [back])
    XCTAssertLessThan(alive, 10)
  }
}

private struct Pair: Codable {
  var left: Int
  var right: Int
}

private struct WeakCoder {
  weak var coder: StateDecoder?
}
