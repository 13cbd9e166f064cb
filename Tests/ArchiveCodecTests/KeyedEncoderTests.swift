import ArchiveCodec
import TestSupport
import XCTest

final class KeyedEncoderTests: XCTestCase {
  private func archives() throws -> TestArchives { try TestArchives() }

  func testNilIsAbsent() throws {
    let decoder = try archives().record { $0.encode(nil as String?, forKey: "a") }
    XCTAssertFalse(decoder.contains("a"))
    XCTAssertNil(try decoder.decodeIfPresent(String.self, forKey: "a"))
    let error = archiveError { _ = try decoder.decode(String.self, forKey: "a") }
    XCTAssertEqual(error, ArchiveError(.keyNotFound, path: ["a"]))
    XCTAssertEqual(error?.path, ["a"])
  }

  func testTheLastValueOfAKeyStays() throws {
    let decoder = try archives().record { encoder in
      encoder.encode(1, forKey: "a")
      encoder.encode("b", forKey: "b")
      encoder.encode("last", forKey: "a")
    }
    XCTAssertEqual(try decoder.decode(String.self, forKey: "a"), "last")
    XCTAssertEqual(try decoder.decode(String.self, forKey: "b"), "b")
    XCTAssertEqual(decoder.keys.sorted(), ["a", "b"])
  }

  func testKeysInAnyOrderComeBack() throws {
    let archives = try archives()
    var generator = SeededGenerator()
    let keys = (0..<50).map { "key \($0)" }
    let bytes = try archives.bytes { builder in
      for record in 1...20 as ClosedRange<UInt64> {
        try builder.append(record: record) { encoder in
          for key in keys.shuffled(using: &generator).prefix(30) {
            encoder.encode("\(record) \(key)", forKey: key)
          }
        }
      }
    }
    let archive = try archives.verified(bytes)
    for record in 1...20 as ClosedRange<UInt64> {
      let decoder = try XCTUnwrap(try archive.record(record))
      XCTAssertEqual(decoder.keys.count, 30, "seed \(generator.seed)")
      for key in decoder.keys {
        XCTAssertEqual(
          try decoder.decode(String.self, forKey: key), "\(record) \(key)",
          "seed \(generator.seed)")
      }
    }
  }

  func testContainersHaveKeysOfTheirOwn() throws {
    let decoder = try archives().record { encoder in
      encoder.encode(1, forKey: "a")
      encoder.encodeContainer(forKey: "inner") { inner in
        inner.encode(2, forKey: "a")
        inner.encodeContainer(forKey: "inner") { $0.encode(3, forKey: "a") }
      }
      encoder.encode(4, forKey: "b")
    }
    let inner = try XCTUnwrap(try decoder.container(forKey: "inner"))
    let innermost = try XCTUnwrap(try inner.container(forKey: "inner"))
    XCTAssertEqual(try decoder.decode(Int.self, forKey: "a"), 1)
    XCTAssertEqual(try inner.decode(Int.self, forKey: "a"), 2)
    XCTAssertEqual(try innermost.decode(Int.self, forKey: "a"), 3)
    XCTAssertEqual(try decoder.decode(Int.self, forKey: "b"), 4)
    XCTAssertNil(try decoder.container(forKey: "none"))
  }

  private struct Failure: Error {}

  func testAContainerThatThrowsLeavesNoTrace() throws {
    func encode(_ encoder: KeyedEncoder, failing: Bool) {
      encoder.encode(1, forKey: "a")
      if failing {
        try? encoder.encodeContainer(forKey: "half") { inner in
          inner.encode(String(repeating: "x", count: 1 << 25), forKey: "too large")
          throw Failure()
        }
      }
      encoder.encode(2, forKey: "b")
    }
    func contents(failing: Bool) throws -> Int {
      let builder = RecordBuilder()
      try builder.append(record: 1) { encode($0, failing: failing) }
      return try builder.finish().byteCount
    }
    XCTAssertEqual(try contents(failing: true), try contents(failing: false))
    let decoder = try archives().record { encode($0, failing: true) }
    XCTAssertEqual(decoder.keys, ["a", "b"])
  }

  func testARecordThatThrowsIsLeftOut() throws {
    let archives = try archives()
    let bytes = try archives.bytes { builder in
      try builder.append(record: 1) { $0.encode(1, forKey: "a") }
      XCTAssertThrowsError(
        try builder.append(record: 2) {
          $0.encode(2, forKey: "new key")
          throw Failure()
        })
      try builder.append(record: 3) { $0.encode(3, forKey: "a") }
    }
    let archive = try archives.verified(bytes)
    XCTAssertEqual(try archive.recordIdentifiers(), [1, 3])
    XCTAssertNil(try archive.record(2))
    XCTAssertEqual(try archive.record(3)?.decode(Int.self, forKey: "a"), 3)
  }

  func testWhatIsTooLargeIsRefused() throws {
    func code(_ body: (KeyedEncoder) throws -> Void) -> ArchiveError.Code? {
      archiveError { try RecordBuilder().append(record: 1, body) }?.code
    }
    let limits = ArchiveLimits.standard
    XCTAssertEqual(
      code { $0.encode(1, forKey: String(repeating: "k", count: limits.keyByteCount + 1)) },
      .limitExceeded)
    XCTAssertEqual(
      code { $0.encode(String(repeating: "x", count: limits.stringByteCount + 1), forKey: "a") },
      .limitExceeded)
    XCTAssertEqual(
      code { encoder in
        for key in ["a", "b"] {
          encoder.encode(String(repeating: "x", count: limits.recordByteCount / 2), forKey: key)
        }
      }, .limitExceeded)
    XCTAssertEqual(
      code {
        $0.encode([String(repeating: "k", count: limits.keyByteCount + 1): 1], forKey: "a")
      }, .limitExceeded)
  }

  func testTheDeepestContainerThatCanBeWrittenCanBeRead() throws {
    func nest(_ encoder: KeyedEncoder, _ depth: Int) {
      guard depth > 0 else { return encoder.encode(1, forKey: "leaf") }
      encoder.encodeContainer(forKey: "inner") { nest($0, depth - 1) }
    }
    let deepest = ArchiveLimits.standard.depth - 1
    var decoder = try archives().record { nest($0, deepest) }
    for _ in 0..<deepest {
      decoder = try XCTUnwrap(try decoder.container(forKey: "inner"))
    }
    XCTAssertEqual(try decoder.decode(Int.self, forKey: "leaf"), 1)
    XCTAssertEqual(
      archiveError { try RecordBuilder().append(record: 1) { nest($0, deepest + 1) } }?.code,
      .limitExceeded)
  }

  func testMoreKeysThanTheSymbolTableHoldsComeBack() throws {
    let archives = try archives()
    let count = ArchiveLimits.standard.symbolCount + 100
    let bytes = try archives.bytes { builder in
      for start in stride(from: 0, to: count, by: 1000) {
        try builder.append(record: UInt64(start / 1000 + 1)) { encoder in
          for number in start..<min(start + 1000, count) {
            encoder.encode(number, forKey: "k\(number)")
          }
        }
      }
      try builder.append(record: 1000) { encoder in
        encoder.encode("inline first", forKey: "k\(count - 1)")
        encoder.encode("symbol", forKey: "k0")
        encoder.encode("inline", forKey: "k\(count - 2)")
        encoder.encode("again", forKey: "k\(count - 2)")
      }
    }
    let archive = try archives.verified(bytes)
    let last = try XCTUnwrap(try archive.record(UInt64((count - 1) / 1000 + 1)))
    XCTAssertEqual(try last.decode(Int.self, forKey: "k\(count - 1)"), count - 1)
    let mixed = try XCTUnwrap(try archive.record(1000))
    XCTAssertEqual(mixed.keys, ["k0", "k\(count - 2)", "k\(count - 1)"])
    XCTAssertEqual(try mixed.decode(String.self, forKey: "k\(count - 2)"), "again")
  }

  func testAnEncoderThatIsKeptFailsTheRecordItIsUsedIn() throws {
    let builder = RecordBuilder()
    var kept: KeyedEncoder?
    try builder.append(record: 1) { kept = $0 }
    let error = archiveError {
      try builder.append(record: 2) { _ in kept?.encode(1, forKey: "stray") }
    }
    XCTAssertEqual(error, ArchiveError(.encoderClosed, path: ["stray"]))
    kept?.encode(1, forKey: "between two records")
    try builder.append(record: 3) { $0.encode(3, forKey: "a") }
    XCTAssertEqual(try builder.finish().count, 2)
  }

  func testARecordInsideARecordIsRefused() throws {
    let archives = try archives()
    let bytes = try archives.bytes { builder in
      try builder.append(record: 1) { encoder in
        encoder.encode(1, forKey: "a")
        XCTAssertEqual(
          archiveError { try builder.append(record: 2) { _ in } },
          ArchiveError(.encoderClosed, subject: "a record inside a record"))
        encoder.encode(2, forKey: "b")
      }
    }
    let decoder = try XCTUnwrap(try archives.verified(bytes).record(1))
    XCTAssertEqual(decoder.keys, ["a", "b"])
  }

  func testAnAttemptThatIsTooLargeLeavesNoTrace() throws {
    let decoder = try archives().record { encoder in
      encoder.encode(1, forKey: "a")
      XCTAssertEqual(
        archiveError {
          try encoder.attempt {
            encoder.encode(String(repeating: "x", count: 1 << 24), forKey: "large")
          }
        }, ArchiveError(.limitExceeded, path: ["large"], subject: "bytes of a string"))
      encoder.encode(2, forKey: "b")
    }
    XCTAssertEqual(decoder.keys, ["a", "b"])
  }

  func testAStringOfAnyLengthKeepsTheLimit() throws {
    let builder = RecordBuilder(limits: ArchiveLimits(stringByteCount: 10))
    XCTAssertNoThrow(try builder.append(record: 1) { $0.encode("1234567890", forKey: "a") })
    XCTAssertEqual(
      archiveError { try builder.append(record: 2) { $0.encode("12345678901", forKey: "a") } },
      ArchiveError(.limitExceeded, path: ["a"], subject: "bytes of a string"))
  }

  func testARecordIdentifierIsUsedOnce() throws {
    let builder = RecordBuilder()
    for identifier in [5, 7, 5] as [UInt64] { try builder.append(record: identifier) { _ in } }
    XCTAssertEqual(
      archiveError { _ = try builder.finish() },
      ArchiveError(.malformed, subject: "record 5 is not unique"))
  }

  func testReferencesComeBack() throws {
    let decoder = try archives().record { encoder in
      encoder.encodeReference(to: .max, forKey: "one")
      encoder.encodeReferences(to: [3, 1, 1 << 40], forKey: "many")
      encoder.encodeReferences(to: [], forKey: "none")
    }
    XCTAssertEqual(try decoder.reference(forKey: "one"), .max)
    XCTAssertEqual(try decoder.references(forKey: "many"), [3, 1, 1 << 40])
    XCTAssertEqual(try decoder.references(forKey: "none"), [])
    XCTAssertNil(try decoder.references(forKey: "absent"))
  }

  func testNamesTakeFewBytesAndComeBack() throws {
    let builder = RecordBuilder()
    let name = String(repeating: "ProductDetailScreen", count: 4)
    for record in 1...100 as ClosedRange<UInt64> {
      try builder.append(record: record) { encoder in
        encoder.encode(name: record.isMultiple(of: 2) ? name : "Other", forKey: "class")
        encoder.encode(name: nil, forKey: "absent")
      }
    }
    let (maps, symbols) = try builder.finish().unsealed
    XCTAssertEqual(maps.count, 100)
    for (place, map) in maps.enumerated() {
      XCTAssertEqual(map.count, 5)
      let record = try KeyedDecoder(unsealed: map, symbols: symbols)
      XCTAssertEqual(try record.name(forKey: "class"), place.isMultiple(of: 2) ? "Other" : name)
      XCTAssertNil(try record.name(forKey: "absent"))
    }
  }
}
