import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

@MainActor
final class EphemeralValueTests: XCTestCase {
  private let launch = Launch()

  /// The state that is stored of a node with these values.
  private func stored(_ encode: @escaping (StateEncoder) throws -> Void) async throws
    -> KeyedDecoder?
  {
    _ = try await launch.keeper().save([SensitiveNode("node", encode: encode)])
    return try launch.storedRecords()?["node"]?.state
  }

  func testAnEphemeralValueIsInNoRecord() async throws {
    let state = try await stored {
      $0.encode("plain", forKey: "a")
      $0.encode("gone-for-ever", forKey: "b", sensitivity: .ephemeral)
    }
    XCTAssertEqual(state?.keys, ["a"])
    let key = try XCTUnwrap(try launch.keys.key(creating: false))
    for name in try launch.store.names() {
      let archive = try XCTUnwrap(
        try Archive.open(
          launch.store.memory(named: name), key: key,
          context: ArchiveContext([Launch.application, name])))
      for record in try archive.readAll() {
        let frame = try record.content.get().unsealed.frame
        XCTAssertFalse(String(decoding: frame, as: UTF8.self).contains("gone-for-ever"))
      }
    }
  }

  func testARestoreFindsTheKeyOfAnEphemeralValueAbsent() async throws {
    _ = try await launch.keeper().save([
      SensitiveNode("node") { $0.encode(3, forKey: "n", sensitivity: .ephemeral) }
    ])
    var isThere: Bool?
    let node = SensitiveNode("node")
    node.decode = {
      isThere = try $0.contains("n") || $0.decodeIfPresent(Int.self, forKey: "n") != nil
    }
    let report = try await launch.keeper().restore(into: [node])
    XCTAssertEqual(isThere, false)
    XCTAssertEqual(report.notes, [])
  }

  func testAnEphemeralValueIsNotEvenEncoded() async throws {
    struct Counting: Encodable {
      let count: () -> Void
      func encode(to encoder: any Encoder) throws { count() }
    }
    var count = 0
    _ = try await stored {
      try $0.encode(Counting { count += 1 }, forKey: "n", sensitivity: .ephemeral)
    }
    XCTAssertEqual(count, 0)
  }

  func testTheLastValueOfAKeyStaysWithItsSensitivity() async throws {
    let state = try await stored {
      $0.encode(1, forKey: "a")
      $0.encode(2, forKey: "b")
      $0.encode("é", forKey: "c")
      $0.encode(4, forKey: "a", sensitivity: .ephemeral)
      $0.encode(5, forKey: "c", sensitivity: .ephemeral)
      $0.encode(6, forKey: "d", sensitivity: .ephemeral)
      $0.encode(7, forKey: "d")
      $0.encode(8, forKey: "e", sensitivity: .ephemeral)
    }
    XCTAssertEqual(Set(state?.keys ?? []), ["b", "d"])
    XCTAssertEqual(try state?.decode(Int.self, forKey: "b"), 2)
    XCTAssertEqual(try state?.decode(Int.self, forKey: "d"), 7)
  }

  func testNilLeavesAnEarlierValueAsItIs() async throws {
    let state = try await stored {
      $0.encode(1, forKey: "a")
      $0.encode(nil as Int?, forKey: "a", sensitivity: .ephemeral)
      $0.encode(2, forKey: "b", sensitivity: .ephemeral)
      $0.encode(nil as Int?, forKey: "b")
    }
    XCTAssertEqual(state?.keys, ["a"])
  }

  func testAContainerHasKeysOfItsOwn() async throws {
    let state = try await stored { coder in
      coder.encode(1, forKey: "a")
      coder.encodeContainer(forKey: "inner") {
        $0.encode(2, forKey: "a")
        $0.encode(3, forKey: "b")
        $0.encode(4, forKey: "a", sensitivity: .ephemeral)
      }
      coder.encode(5, forKey: "b")
    }
    XCTAssertEqual(state?.keys.sorted(), ["a", "b", "inner"])
    XCTAssertEqual(try state?.container(forKey: "inner")?.keys, ["b"])
  }

  func testAnEphemeralValueTakesTheKeyOfAContainer() async throws {
    let state = try await stored { coder in
      coder.encodeContainer(forKey: "a") { $0.encode(1, forKey: "b") }
      coder.encode(2, forKey: "a", sensitivity: .ephemeral)
      coder.encode(3, forKey: "c", sensitivity: .ephemeral)
      coder.encodeContainer(forKey: "c") { $0.encode(4, forKey: "d") }
    }
    XCTAssertEqual(state?.keys, ["c"])
    XCTAssertEqual(try state?.container(forKey: "c")?.keys, ["d"])
  }

  func testAContainerThatThrowsTakesNoValueAway() async throws {
    struct Failure: Error {}
    let state = try await stored { coder in
      coder.encodeContainer(forKey: "a") { $0.encode(1, forKey: "b") }
      do {
        try coder.encodeContainer(forKey: "a") { inner in
          inner.encode(2, forKey: "b", sensitivity: .ephemeral)
          throw Failure()
        }
      } catch {}
    }
    XCTAssertEqual(try state?.container(forKey: "a")?.decode(Int.self, forKey: "b"), 1)
  }

  func testTheApplicationHasEphemeralValuesToo() async throws {
    let delegate = TestDelegate()
    delegate.onWillEncode = {
      $0.encode(1, forKey: "a")
      $0.encode(2, forKey: "a", sensitivity: .ephemeral)
      $0.encode(3, forKey: "b")
    }
    _ = try await launch.keeper(delegate: delegate).save([])
    XCTAssertEqual(try launch.storedRecords()?.application?.keys, ["b"])
  }
}
