import ArchiveCodec
import Foundation
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// Values of other types and forms, and those of a state that is not gone on from.
extension ValueRecordTests {
  private func text(_ key: String) -> RestoredValue<String> { RestoredValue(key, default: "") }

  /// Appends records as another version of the library may.
  private func append(_ record: UInt64, _ body: (KeyedEncoder) -> Void) throws {
    let writer = try ArchiveWriter.open(
      directory.memory(named: "main"), key: try XCTUnwrap(try keys.key(creating: false)),
      context: ArchiveContext([Self.application, "main"]))
    let builder = writer.builder()
    try builder.append(record: record) { body($0) }
    try writer.append(builder.finish())
  }

  func testARestoreThatTheAppDeclinesLosesNoValue() async throws {
    try await launch { keeper in
      (value("a").value, value("b").value) = (1, 2)
      try await keeper.save([])
    }
    let delegate = TestDelegate()
    delegate.restores = false
    try await launch(prepare: { $0.delegate = delegate }) { keeper in
      value("b").value = 3
      try await keeper.save([])
    }
    XCTAssertEqual(try stored(), ["a": 1, "b": 3])
  }

  func testARemovedValueThatDidNotFitDoesNotComeBack() async throws {
    try await launch { keeper in
      text("a").value = "A"
      try await keeper.save([])
    }
    try await launch { keeper in
      value("a").value = 1
      value("a").remove()
      try await keeper.save([])
    }
    XCTAssertEqual(try stored(), [:])
  }

  func testEachOfTwoVersionsHasItsOwnValueAfterBothHaveSetIt() async throws {
    try await launch { keeper in
      text("a").value = "A"
      try await keeper.save([])
    }
    try await launch { keeper in
      value("a").value = 1
      try await keeper.save([])
    }
    try await launch { keeper in
      XCTAssertEqual(text("a").value, "A")
      text("a").value = "B"
      try await keeper.save([])
    }
    try await launch { keeper in
      XCTAssertEqual(value("a").value, 1)
      value("a").value = 2
      try await keeper.save([])
    }
    try await launch { _ in XCTAssertEqual(self.text("a").value, "B") }
    try await launch { _ in XCTAssertEqual(self.value("a").value, 2) }
  }

  func testANewKeyTakesNoRecordOfAnotherForm() async throws {
    try await launch { keeper in
      value("a").value = 1
      try await keeper.save([])
    }
    try append(6 << 61 + 1) { $0.encode(7, forKey: "key") }
    try await launch { keeper in
      value("b").value = 2
      try await keeper.save([])
    }
    let record = try XCTUnwrap(try archive()?.record(6 << 61 + 1))
    XCTAssertEqual(try record.decode(Int.self, forKey: "key"), 7)
    try await launch { _ in
      XCTAssertEqual([self.value("a").value, self.value("b").value], [1, 2])
    }
  }

  func testANewKeyBehindTheLastPossibleRecordComesBack() async throws {
    try await launch { keeper in
      value("a").value = 1
      try await keeper.save([])
    }
    try append(7 << 61 - 1) { coder in
      coder.encode("z", forKey: "key")
      coder.encode(3, forKey: "value")
    }
    try await launch { keeper in
      value("b").value = 2
      try await keeper.save([])
    }
    XCTAssertEqual(try stored(), ["a": 1, "b": 2, "z": 3])
  }

  func testTheEndOfAnObjectMayReadTheValueThatHadIt() async throws {
    try await launch { _ in
      let value = RestoredValue<ReadingAtEnd?>("a", default: nil)
      value.value = ReadingAtEnd()
      value.remove()
      XCTAssertTrue(ReadingAtEnd.hasRead.withLock(\.self))
    }
  }
}

private final class ReadingAtEnd: Codable, Sendable {
  static let hasRead = Mutex(false)

  deinit {
    let isNil = RestoredValue<ReadingAtEnd?>("a", default: nil).value == nil
    Self.hasRead.withLock { $0 = isNil }
  }
}
