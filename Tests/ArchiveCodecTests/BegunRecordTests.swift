import ArchiveCodec
import TestSupport
import XCTest

/// Records and containers that are begun and ended without closures.
final class BegunRecordTests: XCTestCase {
  private struct Failure: Error {}

  func testWhatIsBegunAndEndedIsWhatTheClosuresWrite() throws {
    let closures = RecordBuilder()
    let calls = RecordBuilder()
    for record in 1...3 as ClosedRange<UInt64> {
      try closures.append(record: record) { encoder in
        encoder.encode("a", forKey: "text")
        encoder.encodeContainer(forKey: "outer") { outer in
          outer.encode(1, forKey: "number")
          outer.encodeContainer(forKey: "inner") { _ in }
          outer.encodeReferences(to: [3, 1], forKey: "records")
        }
        encoder.encode(2, forKey: "last")
      }
      let encoder = try calls.begin(record: record)
      encoder.encode("a", forKey: "text")
      let outer = encoder.beginContainer(forKey: "outer")
      encoder.encode(1, forKey: "number")
      let inner = encoder.beginContainer(forKey: "inner")
      encoder.endContainer(inner)
      encoder.encodeReferences(to: [3, 1], forKey: "records")
      encoder.endContainer(outer)
      encoder.encode(2, forKey: "last")
      try calls.end()
    }
    XCTAssertEqual(try calls.finish().plaintext, try closures.finish().plaintext)
  }

  /// Begins containers and attempts in one another, which every bit says, and calls the body in the last one.
  private func open(
    _ kinds: Int, depth: Int, _ encoder: KeyedEncoder, _ body: () throws -> Void
  ) throws {
    guard depth > 0 else { return try body() }
    func goOn() throws {
      encoder.encode(depth, forKey: "number \(depth)")
      encoder.encode(name: "name \(depth)", forKey: "name")
      try open(kinds >> 1, depth: depth - 1, encoder, body)
    }
    if kinds & 1 == 0 {
      _ = encoder.beginContainer(forKey: "container \(depth)")
      try goOn()
    } else {
      try encoder.attempt(goOn)
    }
  }

  func testARecordThatIsAbandonedInAnyNestingLeavesNoTrace() throws {
    func plaintext(_ abandon: (RecordBuilder) throws -> Void) throws -> [UInt8] {
      let builder = RecordBuilder()
      try builder.append(record: 1) { $0.encode(1, forKey: "a") }
      try abandon(builder)
      try builder.append(record: 2) { encoder in
        encoder.encodeContainer(forKey: "inner") { $0.encode(name: "other", forKey: "name") }
        encoder.encode(name: "name 1", forKey: "name")
        encoder.encode(2, forKey: "a")
      }
      return try builder.finish().plaintext
    }
    let expected = try plaintext { _ in }
    for depth in 0...4 {
      for kinds in 0..<1 << depth {
        let found = try plaintext { builder in
          try? open(kinds, depth: depth, try builder.begin(record: 2)) { throw Failure() }
          builder.abandon()
        }
        XCTAssertEqual(found, expected, "\(depth) levels of \(kinds)")
      }
    }
  }

  func testWhatIsUndoneInAnyNestingLeavesNoTrace() throws {
    func plaintext(_ body: (KeyedEncoder) -> Void) throws -> [UInt8] {
      let builder = RecordBuilder()
      try builder.append(record: 1) { encoder in
        encoder.encode(1, forKey: "a")
        body(encoder)
        encoder.encode(2, forKey: "b")
      }
      return try builder.finish().plaintext
    }
    let expected = try plaintext { _ in }
    for depth in 0...4 {
      for kinds in 0..<1 << depth {
        let withoutContainer = try plaintext { encoder in
          let container = encoder.beginContainer(forKey: "undone")
          try? open(kinds, depth: depth, encoder) {}
          encoder.undoContainer(container)
        }
        XCTAssertEqual(withoutContainer, expected, "\(depth) levels of \(kinds) in a container")
        let withoutAttempt = try plaintext { encoder in
          try? encoder.attempt {
            try open(kinds, depth: depth, encoder) { throw Failure() }
          }
        }
        XCTAssertEqual(withoutAttempt, expected, "\(depth) levels of \(kinds) in an attempt")
      }
    }
  }

  func testAnAttemptThatHoldsTooMuchThrowsWhereItEnds() throws {
    let builder = RecordBuilder(limits: ArchiveLimits(stringByteCount: 10))
    let encoder = try builder.begin(record: 1)
    encoder.encode(1, forKey: "a")
    XCTAssertEqual(
      archiveError {
        try encoder.attempt {
          encoder.encodeContainer(forKey: "inner") { inner in
            inner.encode("longer than ten", forKey: "text")
          }
        }
      },
      ArchiveError(.limitExceeded, path: ["inner", "text"], subject: "bytes of a string"))
    encoder.encode(2, forKey: "b")
    try builder.end()
    let expected = RecordBuilder()
    try expected.append(record: 1) { encoder in
      encoder.encode(1, forKey: "a")
      encoder.encode(2, forKey: "b")
    }
    XCTAssertEqual(try builder.finish().plaintext, try expected.finish().plaintext)
  }

  func testARecordThatIsTooLargeIsGoneWhenItsEndThrows() throws {
    let builder = RecordBuilder(limits: ArchiveLimits(recordByteCount: 100))
    let encoder = try builder.begin(record: 1)
    encoder.encode(String(repeating: "x", count: 100), forKey: "a")
    XCTAssertEqual(
      archiveError { try builder.end() },
      ArchiveError(.limitExceeded, subject: "bytes of a record"))
    try builder.append(record: 2) { $0.encode(1, forKey: "b") }
    let batch = try builder.finish()
    XCTAssertEqual(batch.count, 1)
    XCTAssertEqual(batch.unsealed.symbols, HostileContent.table(["b"]))
  }

  func testARecordIsNotBegunInsideAnotherAndHasAnIdentifier() throws {
    let builder = RecordBuilder()
    let own = builder.makeEncoder()
    for begin in [
      { _ = try builder.begin(record: $0) }, { try builder.begin(record: $0, with: own) },
    ] as [(UInt64) throws -> Void] {
      XCTAssertEqual(
        archiveError { try begin(0) },
        ArchiveError(.malformed, subject: "record 0: identifiers begin at 1"))
      try begin(1)
      XCTAssertEqual(
        archiveError { try begin(2) },
        ArchiveError(.encoderClosed, subject: "a record inside a record"))
      XCTAssertEqual(
        archiveError { try builder.append(record: 2) { _ in } },
        ArchiveError(.encoderClosed, subject: "a record inside a record"))
      builder.abandon()
    }
  }

  func testABatchIsNotFinishedInsideARecord() throws {
    let builder = RecordBuilder()
    let error = archiveError {
      try builder.append(record: 1) { encoder in
        encoder.encode("text", forKey: "text")
        _ = try builder.finish()
      }
    }
    XCTAssertEqual(
      error, ArchiveError(.encoderClosed, subject: "the end of a batch inside a record"))
    XCTAssertEqual(try builder.finish().count, 0)
  }

  func testAnEncoderThatItsOwnerKeepsWritesEveryRecordAndNothingBetweenThem() throws {
    let builder = RecordBuilder()
    let expected = RecordBuilder()
    let own = builder.makeEncoder()
    for record in 1...3 as ClosedRange<UInt64> {
      try builder.begin(record: record, with: own)
      own.encode(record, forKey: "a")
      try builder.end()
      own.encode("stray", forKey: "between")
      try expected.append(record: record) { $0.encode(record, forKey: "a") }
    }
    try builder.append(record: 4) { encoder in
      XCTAssertFalse(encoder === own)
      encoder.encode(4, forKey: "a")
    }
    try expected.append(record: 4) { $0.encode(4, forKey: "a") }
    XCTAssertEqual(
      archiveError { try builder.append(record: 5) { _ in own.encode(5, forKey: "stray") } },
      ArchiveError(.encoderClosed, path: ["stray"]))
    XCTAssertEqual(try builder.finish().plaintext, try expected.finish().plaintext)
  }

  func testManyNamesKeepTheirNumbers() throws {
    let names = (0..<20).map { "name of a class that is long \($0)" }
    let archives = try TestArchives()
    let bytes = try archives.bytes { builder in
      for record in 1...200 as ClosedRange<UInt64> {
        try builder.append(record: record) { encoder in
          // Another string with the same bytes each time.
          encoder.encode(name: String(Array(names[Int(record * 7 % 20)])), forKey: "kind")
          encoder.encode(name: names[Int(record % 2)], forKey: "other")
        }
      }
    }
    let archive = try archives.verified(bytes)
    for record in 1...200 as ClosedRange<UInt64> {
      let decoder = try XCTUnwrap(try archive.record(record))
      XCTAssertEqual(try decoder.name(forKey: "kind"), names[Int(record * 7 % 20)])
      XCTAssertEqual(try decoder.name(forKey: "other"), names[Int(record % 2)])
    }
  }

  func testThousandsOfNamesKeepTheirNumbersWhileOthersAreAbandoned() throws {
    let builder = RecordBuilder()
    var names: [String] = []
    for round in 0..<20 as Range<UInt64> {
      names += (0..<150).map { "key \(round) \($0)" }
      try builder.append(record: 2 * round + 1) { encoder in
        for (value, name) in names.enumerated() { encoder.encode(value, forKey: name) }
      }
      XCTAssertThrowsError(
        try builder.append(record: 2 * round + 2) { encoder in
          for number in 0..<400 { encoder.encode(number, forKey: "gone \(number)") }
          throw Failure()
        })
    }
    let (key, context) = (try ArchiveKey(), ArchiveContext(["app"]))
    let storage = MemoryStorage()
    _ = try Archive.write(builder.finish(), to: storage, key: key, context: context)
    let archive = try XCTUnwrap(try Archive.open(storage, key: key, context: context))
    let record = try XCTUnwrap(try archive.record(39))
    for (value, name) in names.enumerated() {
      XCTAssertEqual(try record.decode(forKey: name), value, name)
    }
    XCTAssertNil(try record.decodeIfPresent(Int.self, forKey: "gone 0"))
    XCTAssertEqual(try archive.recordIdentifiers(), (0..<20).map { 2 * $0 + 1 })
  }
}
