import ArchiveCodec
import Foundation
import XCTest

/// The values of the archive `golden-values`, at the edges of every form.
enum GoldenValues {
  /// A value under a key: how it is written, and how it is found again.
  struct Entry {
    let encode: (KeyedEncoder) -> Void
    let check: (KeyedDecoder) throws -> Void

    init<Value: ArchiveValue & Equatable>(_ key: String, _ value: Value) {
      encode = { $0.encode(value, forKey: key) }
      check = { XCTAssertEqual(try $0.decode(Value.self, forKey: key), value, key) }
    }

    /// Compares what tells one NaN and one zero from another.
    init<Value: ArchiveValue, Bits: Equatable>(
      _ key: String, _ value: Value, by bits: @escaping (Value) -> Bits
    ) {
      encode = { $0.encode(value, forKey: key) }
      check = { XCTAssertEqual(bits(try $0.decode(Value.self, forKey: key)), bits(value), key) }
    }
  }

  /// The record with references, containers and dictionaries.
  static let structure: UInt64 = 6

  static var records: [(UInt64, [Entry])] {
    [
      (1, integers), (2, numbers), (3, texts), (4, scalars), (5, arrays), (.max, []),
    ]
  }

  private static var integers: [Entry] {
    [
      0, 1, 63, 64, 127, 128, 255, 256, 16_383, 16_384, 1 << 21 - 1, 1 << 21, 1 << 28, 1 << 35,
      1 << 42, 1 << 49, 1 << 56 - 1, 1 << 56, .max, -1, -16, -17, -128, -129, -144, -145, -16_400,
      .min, .min + 1,
    ].map { (value: Int64) in Entry("int \(value)", value) } + [Entry("uint max", UInt64.max)]
  }

  private static var numbers: [Entry] {
    [
      0, -0.0, 1.5, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude,
      Double(bitPattern: 0x7FF8_0000_0000_1234), Double(bitPattern: 0xFFF0_0000_0000_0001),
    ].enumerated().map { place, value in Entry("double \(place)", value, by: \.bitPattern) }
      + [0, -0.0, 0.1, .infinity, Float(bitPattern: 0x7FC0_BEEF), Float(bitPattern: 0x7F80_0001)]
      .enumerated().map { place, value in Entry("float \(place)", value, by: \.bitPattern) }
  }

  private static var texts: [Entry] {
    [0, 1, 47, 48, 127, 128].map { count in
      Entry("ascii \(count)", String(repeating: "x", count: count))
    } + [
      Entry("marks", "\"\\\n\t\u{0}\u{7f}"), Entry("accent", "e\u{301} \u{e9}"),
      Entry("planes", "\u{d7ff}\u{e000}\u{fffd}\u{1f9ed}\u{10ffff}"),
      Entry("url", URL(fileURLWithPath: "/tmp/a b", isDirectory: false)),
      Entry("url query", URL(string: "https://example.org/a?b=c#d") ?? URL(fileURLWithPath: "/")),
    ]
  }

  private static var scalars: [Entry] {
    [
      Entry("false", false), Entry("true", true), Entry("no bytes", Data()),
      Entry("bytes", Data(0...255)), Entry("byte array", [1, 2, 255] as [UInt8]),
      Entry("date", Date(timeIntervalSinceReferenceDate: 800_000_000.5)),
      Entry("date before", Date(timeIntervalSinceReferenceDate: -0.25)),
      Entry("uuid", UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255))),
    ]
  }

  private static var arrays: [Entry] {
    [
      Entry("empty", [] as [Int]), Entry("int8", [-128, 0, 127]), Entry("int16", [128, -32768]),
      Entry("int32", [32768, Int(Int32.min)]), Entry("int64", [Int.max, .min]),
      Entry("uint64", [0, UInt64.max]), Entry("float", [1.5, -0.0] as [Float]),
      Entry("double", [0.1, .infinity]), Entry("no strings", [] as [String]),
      Entry("15 strings", (1...15).map { "\($0)" }), Entry("16 strings", (1...16).map { "\($0)" }),
      Entry("bools", [true, false]), Entry("nested", [[1], [], [300, 2]]),
      Entry("nothing", [:] as [String: Int]), Entry("dictionary", ["b": 1, "a": 2, "é": 3, "": 4]),
      Entry("15 entries", Dictionary(uniqueKeysWithValues: (1...15).map { ("key \($0)", $0) })),
      Entry("16 entries", Dictionary(uniqueKeysWithValues: (1...16).map { ("key \($0)", $0) })),
      Entry("dictionaries", ["a": ["x": [1.5]], "b": [:]]),
    ]
  }

  static func encode(_ builder: RecordBuilder) throws {
    for (record, entries) in records {
      try builder.append(record: record) { encoder in
        for entry in entries { entry.encode(encoder) }
      }
    }
    try builder.append(record: structure) { encoder in
      encoder.encodeReference(to: 1, forKey: "one")
      encoder.encodeReferences(to: [1, 128, .max], forKey: "many")
      encoder.encodeContainer(forKey: "map") { encoder in
        encoder.encode("before one in this map, after it in symbol order", forKey: "text")
        encoder.encodeContainer(forKey: "map") { $0.encode(1, forKey: "one") }
        encoder.encodeContainer(forKey: "empty") { _ in }
      }
    }
  }
}
