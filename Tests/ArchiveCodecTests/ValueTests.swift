import ArchiveCodec
import Foundation
import TestSupport
import XCTest

final class ValueTests: XCTestCase {
  private func roundTrip<Value: ArchiveValue & Equatable>(
    _ value: Value, file: StaticString = #filePath, line: UInt = #line
  ) throws {
    let decoder = try TestArchives().record { $0.encode(value, forKey: "value") }
    XCTAssertEqual(
      try decoder.decode(Value.self, forKey: "value"), value, file: file, line: line)
  }

  func testEveryScalarTypeComesBack() throws {
    try roundTrip(true)
    try roundTrip(false)
    try roundTrip("")
    try roundTrip("Grüße, 世界 👩‍👩‍👧 \u{0} e\u{301}")
    try roundTrip(Float.pi)
    try roundTrip(Double.pi)
    try roundTrip(Date(timeIntervalSinceReferenceDate: -0.000_001))
    try roundTrip(Date.distantFuture)
    try roundTrip(UUID())
    try roundTrip(try XCTUnwrap(URL(string: "https://example.org/a?b=c#d")))
    try roundTrip(Data([0, 255, 7]))
    try roundTrip(Data())
  }

  func testIntegersComeBackAtEveryEdge() throws {
    let edges: [Int64] = [
      0, 63, 64, 127, 128, 1 << 14 - 1, 1 << 14, 1 << 31, .max, -1, -16, -17, -128, .min,
    ]
    for edge in edges { try roundTrip(edge) }
    for shift in 0..<63 as Range<Int64> {
      try roundTrip(Int64(1) << shift)
      try roundTrip(-(Int64(1) << shift))
    }
    try roundTrip(UInt64.max)
    try roundTrip(UInt64(Int64.max) + 1)
    try roundTrip(Int8.min)
    try roundTrip(UInt16.max)
  }

  func testArraysAndDictionariesComeBack() throws {
    try roundTrip([Int]())
    try roundTrip([Int.min, 0, Int.max])
    try roundTrip([UInt64.max, 0])
    try roundTrip([Int8.min, Int8.max])
    try roundTrip([UInt8.min, UInt8.max])
    try roundTrip([Double]())
    try roundTrip([1.5, -0.25])
    try roundTrip([Float(1.5)])
    try roundTrip([true, false])
    try roundTrip(["a", "", String(repeating: "x", count: 100)])
    try roundTrip([[1], [], [2, 3]])
    try roundTrip(["b": 1, "a": 2, "": 3])
    try roundTrip(["list": ["x", "y"], "empty": []])
    try roundTrip((0..<1000).map { "\($0)" })
  }

  func testFloatingPointNumbersKeepEveryBit() throws {
    let doubles: [Double] = [
      .nan, .signalingNaN, -.nan, Double(nan: 5, signaling: false), .infinity, -.infinity, -0.0,
      .leastNonzeroMagnitude, .greatestFiniteMagnitude,
    ]
    for value in doubles {
      let decoder = try TestArchives().record { $0.encode(value, forKey: "value") }
      XCTAssertEqual(
        try decoder.decode(Double.self, forKey: "value").bitPattern, value.bitPattern)
    }
  }

  func testALongStringOfEveryLengthAroundTheInlineLimitComesBack() throws {
    for count in 0..<130 { try roundTrip(String(repeating: "x", count: count)) }
  }

  func testATextOfEveryLengthComesBackWhereverTheMemoryOfItsRecordGrows() throws {
    let texts = (0...40).flatMap { count in
      [
        String(repeating: "0123456789", count: 4).prefix(count),
        (String(repeating: "x", count: count % 2) + String(repeating: "é", count: count / 2))[...],
      ].map(String.init)
    }
    let archives = try TestArchives()
    // A builder begins with memory for 512 bytes, and takes twice as much each time.
    for padding in 0..<64 {
      let decoder = try archives.record { encoder in
        encoder.encode(String(repeating: "p", count: padding), forKey: "padding")
        for (place, text) in texts.enumerated() { encoder.encode(text, forKey: "\(place)") }
      }
      for (place, text) in texts.enumerated() {
        XCTAssertEqual(
          try decoder.decode(String.self, forKey: "\(place)"), text, "after \(padding) bytes")
      }
    }
  }

  func testAnIntegerIsReadAtAnyWidthThatFits() throws {
    let decoder = try TestArchives().record { encoder in
      encoder.encode(127, forKey: "fits")
      encoder.encode(128, forKey: "wide")
      encoder.encode(-1, forKey: "negative")
      encoder.encode(UInt64.max, forKey: "largest")
      encoder.encode([1, 300], forKey: "array")
    }
    XCTAssertEqual(try decoder.decode(Int8.self, forKey: "fits"), 127)
    XCTAssertEqual(try decoder.decode([UInt16].self, forKey: "array"), [1, 300])
    XCTAssertEqual(
      archiveError { _ = try decoder.decode(Int8.self, forKey: "wide") },
      ArchiveError(.numberOutOfRange, offset: 19, path: ["wide"], subject: "Int8"))
    XCTAssertEqual(
      archiveError { _ = try decoder.decode(UInt.self, forKey: "negative") },
      ArchiveError(.numberOutOfRange, offset: 21, path: ["negative"], subject: "UInt"))
    XCTAssertEqual(
      archiveError { _ = try decoder.decode(Int.self, forKey: "largest") },
      ArchiveError(.numberOutOfRange, offset: 32, path: ["largest"], subject: "Int"))
    XCTAssertEqual(
      archiveError { _ = try decoder.decode([UInt8].self, forKey: "array") },
      ArchiveError(.numberOutOfRange, offset: 36, path: ["array"], subject: "UInt8"))
  }

  func testADoubleIsReadAsAFloatOnlyWithoutLoss() throws {
    let decoder = try TestArchives().record { encoder in
      encoder.encode(0.5, forKey: "exact")
      encoder.encode(0.1, forKey: "inexact")
      encoder.encode(Float(0.1), forKey: "float")
    }
    XCTAssertEqual(try decoder.decode(Float.self, forKey: "exact"), 0.5)
    XCTAssertEqual(
      archiveError { _ = try decoder.decode(Float.self, forKey: "inexact") },
      ArchiveError(.numberOutOfRange, offset: 24, path: ["inexact"], subject: "Float"))
    XCTAssertEqual(try decoder.decode(Double.self, forKey: "float"), Double(Float(0.1)))
  }

  func testAURLThatNoTextGivesIsRefusedWhenItIsWritten() throws {
    let empty = try XCTUnwrap(URLComponents().url)
    XCTAssertNil(URL(string: empty.absoluteString))
    XCTAssertEqual(
      archiveError { _ = try TestArchives().record { $0.encode(empty, forKey: "a") } },
      ArchiveError(.malformed, subject: "url"))
    XCTAssertThrowsError(try TestArchives().record { try $0.encode([empty: 1], forKey: "a") }) {
      guard case EncodingError.invalidValue(_, let context) = $0 else { return XCTFail("\($0)") }
      XCTAssertEqual(
        context.underlyingError as? ArchiveError, ArchiveError(.malformed, subject: "url"))
    }
  }

  func testEveryTypeIsRefusedAsEveryOther() throws {
    let url = try XCTUnwrap(URL(string: "a"))
    let decoder = try TestArchives().record { encoder in
      func add<Value: ArchiveValue>(_ value: Value) {
        encoder.encode(value, forKey: "\(Value.self)")
      }
      add(true)
      add(1)
      add(1.5)
      add("a")
      add(Data([1]))
      add(Date.distantPast)
      add(UUID())
      add(url)
      add(["a"])
      add([1])
      add(["a": 1])
      encoder.encodeReference(to: 7, forKey: "reference")
    }
    XCTAssertEqual(decoder.keys.count, 12)
    func refused<Value: ArchiveValue>(_ type: Value.Type) {
      for key in decoder.keys where key != "\(type)" {
        XCTAssertEqual(
          archiveError("\(key) as \(type)") { _ = try decoder.decode(type, forKey: key) }?.code,
          .typeMismatch, "\(key) as \(type)")
      }
    }
    refused(Bool.self)
    refused(Int.self)
    refused(Double.self)
    refused(String.self)
    refused(Data.self)
    refused(Date.self)
    refused(UUID.self)
    refused(URL.self)
    refused([String].self)
    refused([Int].self)
    refused([String: Int].self)
    XCTAssertEqual(
      archiveError { _ = try decoder.reference(forKey: "Int") },
      ArchiveError(
        .typeMismatch, offset: 16, path: ["Int"],
        subject: "found integer, expected record reference"))
    XCTAssertEqual(
      archiveError { _ = try decoder.container(forKey: "Int") },
      ArchiveError(
        .typeMismatch, offset: 16, path: ["Int"], subject: "found integer, expected container"))
  }

  func testAPackedArrayIsOneOfItsNumbersAndOfNothingElseAlsoWhenItIsEmpty() throws {
    let decoder = try TestArchives().record { encoder in
      encoder.encode([] as [Int], forKey: "0 [Int]")
      encoder.encode([1], forKey: "1 [Int]")
      encoder.encode([] as [Float], forKey: "0 [Float]")
      encoder.encode([1] as [Float], forKey: "1 [Float]")
      encoder.encode([] as [Double], forKey: "0 [Double]")
      encoder.encode([1] as [Double], forKey: "1 [Double]")
    }
    func check<Value: ArchiveValue & Equatable>(_ type: Value.Type, _ one: [Value] = []) {
      for key in decoder.keys {
        let read = Result { try decoder.decode([Value].self, forKey: key) }
        let isOwn = key.hasSuffix("[\(type)]")
        let expected = isOwn ? (key.hasPrefix("0") ? [] : one) : nil
        XCTAssertEqual(try? read.get(), expected, "\(key) as [\(type)]")
      }
    }
    check(Int.self, [1])
    check(Float.self, [1])
    check(Double.self, [1])
    check(String.self)
    check(Bool.self)
    check(Date.self)
    check([Int].self)
  }

  func testAMismatchNamesTheKeyAndBothTypesAndNotTheValue() throws {
    let decoder = try TestArchives().record { $0.encode("secret", forKey: "name") }
    let error = archiveError { _ = try decoder.decode(Int.self, forKey: "name") }
    XCTAssertEqual(error?.path, ["name"])
    XCTAssertEqual(error?.subject, "found string, expected integer")
    XCTAssertFalse(error?.description.contains("secret") ?? true)
  }

  func testAMismatchInADictionaryDoesNotShowItsKeys() throws {
    let decoder = try TestArchives().record { encoder in
      encoder.encode(["alice@example.org": "x"], forKey: "people")
    }
    let error = archiveError { _ = try decoder.decode([String: Int].self, forKey: "people") }
    XCTAssertEqual(error?.path, ["people"])
    XCTAssertFalse(error?.description.contains("alice") ?? true)
  }

  func testDictionariesAreWrittenInTheOrderOfTheirKeys() throws {
    let keys = (0..<1000).map { "key \($0)" }
    let decoder = try TestArchives().record { encoder in
      encoder.encode(Dictionary(uniqueKeysWithValues: keys.map { ($0, 1) }), forKey: "d")
    }
    XCTAssertEqual(try decoder.container(forKey: "d")?.keys, keys.sorted())
  }
}
