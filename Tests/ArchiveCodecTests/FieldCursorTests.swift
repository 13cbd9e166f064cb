import ArchiveCodec
import Dispatch
import Foundation
import Synchronization
import TestSupport
import XCTest

/// Values are found where they are guessed, and elsewhere.
final class FieldCursorTests: XCTestCase {
  private func record(
    _ keys: [String], limits: ArchiveLimits = .standard
  ) throws -> KeyedDecoder {
    try KeyedDecoder.encoding(limits: limits) { encoder in
      for (number, key) in keys.enumerated() { encoder.encode(number, forKey: key) }
    }
  }

  /// Reads keys as a coder does that notes which ones were asked for.
  private func read(_ keys: some Sequence<String>, of record: KeyedDecoder) throws -> [Int?] {
    var cursor = FieldCursor(record)
    let stored = record.keys
    return try keys.map { key in
      var place = -1
      guard let offset = try cursor.offset(of: key, place: &place) else { return nil }
      XCTAssertEqual(stored[place], key)
      return try cursor.decode(Int.self, at: offset, forKey: key)
    }
  }

  func testACursorGoesPastValuesThatNobodyReads() throws {
    for count in [1, 12, 32, 33, 200] {
      let keys = (0..<count).map { "key \($0)" }
      var cursor = FieldCursor(try record(keys))
      for (number, key) in keys.enumerated() {
        var place = -1
        XCTAssertNotNil(try cursor.offset(of: key, place: &place))
        XCTAssertEqual(place, number)
      }
    }
  }

  func testACursorOverNothingFindsNothing() throws {
    var cursor = FieldCursor()
    var place = 0
    XCTAssertNil(try cursor.offset(of: "", place: &place))
    XCTAssertNil(try cursor.offset(of: "key", place: &place))
  }

  /// What is read at once, and what is left to the header of a value.
  func testEveryFormIsReadWhereItBeginsAsItIsByItsKey() throws {
    let integers =
      [0, 1, 63, 64, 127, 128, 8191, 8192, 1 << 20, .max].flatMap { [$0, -$0, -$0 - 1] } + [.min]
    let lengths = [0, 1, 15, 16, 46, 47, 48, 127, 128, 8191, 8192, 20_000]
    let texts = lengths.flatMap {
      [String(repeating: "a", count: $0), String(repeating: "é", count: $0)]
    }
    let record = try KeyedDecoder.encoding { encoder in
      for (number, value) in integers.enumerated() { encoder.encode(value, forKey: "i\(number)") }
      for (number, value) in texts.enumerated() {
        encoder.encode(value, forKey: "t\(number)")
        encoder.encode(Data(value.utf8), forKey: "d\(number)")
      }
      encoder.encode(integers, forKey: "integers")
      encoder.encode([Int8.min, .max], forKey: "bytes")
      encoder.encode([UInt64.max, 1], forKey: "words")
      encoder.encode([1, 70_000], forKey: "wide")
      encoder.encode(UInt64.max, forKey: "large")
      encoder.encode(true, forKey: "true")
      encoder.encode(false, forKey: "false")
      encoder.encode(-0.5, forKey: "double")
      encoder.encode(Float(0.25), forKey: "float")
      encoder.encode(Date(timeIntervalSinceReferenceDate: -1.5), forKey: "date")
      encoder.encode(nil as Int?, forKey: "nothing")
      encoder.encode(["a": 1], forKey: "map")
      encoder.encode(URL(filePath: "/a"), forKey: "url")
    }
    func check<Value: ArchiveValue & Equatable>(_ type: Value.Type) throws {
      var cursor = FieldCursor(record)
      for key in record.keys {
        func readHere() throws -> Value? {
          var place = 0
          guard let offset = try cursor.offset(of: key, place: &place) else { return nil }
          return try cursor.decode(type, at: offset, forKey: key)
        }
        let expected = Result { try record.decodeIfPresent(type, forKey: key) }
        switch Result(catching: readHere) {
        case .success(let value): XCTAssertEqual(value, try expected.get(), key)
        case .failure(let error):
          XCTAssertEqual(
            error as? ArchiveError, archiveError { _ = try record.decode(type, forKey: key) }, key)
        }
      }
    }
    try check(Int.self)
    try check(Int8.self)
    try check(UInt64.self)
    try check(Bool.self)
    try check(Float.self)
    try check(Double.self)
    try check(Date.self)
    try check(String.self)
    try check(Data.self)
    try check(URL.self)
    try check([Int].self)
    try check([UInt8].self)
    try check([UInt64].self)
    try check([Double].self)
    try check([String: Int].self)
    XCTAssertEqual(try record.decode([Int].self, forKey: "integers"), integers)
  }

  func testKeysAreFoundInAnyOrder() throws {
    for (count, symbolCount) in [(1, 9), (12, 100), (32, 100), (33, 100), (300, 1000), (300, 100)] {
      let keys = (0..<count).map { "key \($0)" }
      let record = try record(keys, limits: ArchiveLimits(symbolCount: symbolCount))
      XCTAssertEqual(try read(keys, of: record), Array(0..<count))
      XCTAssertEqual(try read(keys.reversed(), of: record), (0..<count).reversed())
      XCTAssertEqual(try read(["absent", keys[0], "absent"], of: record), [nil, 0, nil])
    }
  }

  /// A search that went through all keys would take minutes.
  func testAMapOfManyKeysIsReadInAnyOrder() throws {
    let keys = (0..<50_000).map { "key \($0)" }
    for limits in [.standard, ArchiveLimits(symbolCount: 100)] {
      let record = try record(keys, limits: limits)
      for (number, key) in keys.enumerated().reversed() {
        XCTAssertEqual(try record.decode(Int.self, forKey: key), number)
      }
      XCTAssertEqual(try read(keys.reversed(), of: record), keys.indices.reversed())
      let absent = try read(repeatElement("absent", count: keys.count), of: record)
      XCTAssertEqual(absent, Array(repeating: nil, count: keys.count))
    }
  }

  func testEveryKeyIsFoundAfterEveryOther() throws {
    for (count, symbolCount) in [(5, 9), (5, 3), (5, 0), (40, 60), (40, 20)] {
      let keys = (0..<count).map { "key \($0)" }
      let record = try record(keys, limits: ArchiveLimits(symbolCount: symbolCount))
      XCTAssertEqual(Set(record.keys), Set(keys))
      XCTAssertEqual(record.keyCount, count)
      for first in keys.indices {
        for second in keys.indices {
          XCTAssertEqual(try record.decode(Int.self, forKey: keys[first]), first)
          XCTAssertEqual(try record.decode(Int.self, forKey: keys[second]), second)
          XCTAssertEqual(try read([keys[first], keys[second]], of: record), [first, second])
          var cursor = FieldCursor(record)
          var place = -1
          XCTAssertNotNil(try cursor.offset(of: keys[first], place: &place))
          XCTAssertNotNil(try cursor.offset(of: keys[second], place: &place))
          XCTAssertEqual(record.keys[place], keys[second])
          XCTAssertEqual(try record.decode(Int.self, forKey: keys[second]), second)
          XCTAssert(record.contains(keys[first]))
        }
        XCTAssertNil(try record.decodeIfPresent(Int.self, forKey: "absent"))
      }
    }
  }

  func testAFieldOfAnotherTypeIsAnErrorWithItsKey() throws {
    let record = try record(["number"])
    let expected = archiveError { _ = try record.decode(String.self, forKey: "number") }
    XCTAssertEqual(expected?.path, ["number"])
    XCTAssertEqual(
      archiveError {
        var cursor = FieldCursor(record)
        var place = 0
        guard let offset = try cursor.offset(of: "number", place: &place) else { return }
        _ = try cursor.decode(String.self, at: offset, forKey: "number")
      }, expected)
  }

  /// Maps of one block share what they guess.
  func testManyThreadsReadManyMapsOfOneRecord() throws {
    let record = try KeyedDecoder.encoding { encoder in
      for map in 0..<8 {
        encoder.encodeContainer(forKey: "map \(map)") { inner in
          for key in 0..<12 { inner.encode(map * 100 + key, forKey: "key \(key)") }
        }
      }
    }
    let wrong = Mutex(0)
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for round in 0..<200 {
        let map = (thread + round) % 8
        for key in 0..<12 {
          let inner = try? record.container(forKey: "map \(map)")
          if (try? inner?.decode(Int.self, forKey: "key \(key)")) != map * 100 + key {
            wrong.withLock { $0 += 1 }
          }
        }
      }
    }
    XCTAssertEqual(wrong.withLock { $0 }, 0)
  }
}
