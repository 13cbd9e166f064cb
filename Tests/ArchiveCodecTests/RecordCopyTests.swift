import ArchiveCodec
import ArchiveForge
import Foundation
import TestSupport
import XCTest

/// Values that are copied from a record of one archive into one of another.
final class RecordCopyTests: XCTestCase {
  private struct Shape: Codable, Hashable {
    var name = "square"
    var sides: [Double?] = [1, nil, 2.5]
    var tags = ["b": [1, 2], "a": []]
    var nested: [Point] = [Point(x: 1, y: -1), Point(x: 300, y: 1 << 40)]
    var set: Set<String> = ["x", "y"]
  }

  private struct Point: Codable, Hashable {
    var x: Int
    var y: Int
  }

  private func encodeAllKinds(with encoder: KeyedEncoder) throws {
    encoder.encode(true, forKey: "true")
    encoder.encode(false, forKey: "false")
    for number in [0, 63, 64, -1, -16, -17, .max, .min] as [Int] {
      encoder.encode(number, forKey: "integer \(number)")
    }
    encoder.encode(UInt64.max, forKey: "large")
    encoder.encode(Float(1.5), forKey: "float")
    encoder.encode(Double.nan, forKey: "double")
    encoder.encode("", forKey: "empty")
    encoder.encode(String(repeating: "ü", count: 200), forKey: "text")
    encoder.encode(Data([1, 2, 3]), forKey: "bytes")
    encoder.encode(Date(timeIntervalSinceReferenceDate: 1.25), forKey: "date")
    encoder.encode(UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF"), forKey: "uuid")
    encoder.encode(URL(string: "https://example.org/a?b"), forKey: "url")
    encoder.encode([1, 1000, -70_000], forKey: "integers")
    encoder.encode([1.5, 2] as [Double], forKey: "doubles")
    encoder.encode([1.5] as [Float], forKey: "floats")
    encoder.encode(["a", "b"], forKey: "strings")
    encoder.encode([Int](), forKey: "none")
    encoder.encode(["k": 1, "é": 2, "integer 0": 3], forKey: "dictionary")
    encoder.encode(name: "kind", forKey: "name")
    encoder.encodeReference(to: 7, forKey: "reference")
    encoder.encodeReferences(to: [7, 8, 9], forKey: "references")
    try encoder.encode(Shape(), forKey: "shape")
    try encoder.encodeContainer(forKey: "container") { encoder in
      encoder.encode(1, forKey: "true")
      encoder.encodeContainer(forKey: "container") { $0.encode("deep", forKey: "deep") }
      encoder.encodeReference(to: 9, forKey: "reference")
      try encoder.encode(Shape(), forKey: "shape")
    }
  }

  /// The records of a batch in words; names stand where numbers do.
  private func notation(_ bytes: [UInt8], _ archives: TestArchives) throws -> [String] {
    try archives.verified(bytes).notation()
  }

  func testACopyOfAllKindsOfValuesIsTheSameInEveryByte() throws {
    let archives = try TestArchives()
    let builder = RecordBuilder()
    try builder.append(record: 1, encodeAllKinds)
    let original = try builder.finish()
    let decoder = try KeyedDecoder.encoding(encodeAllKinds)
    let copied = RecordBuilder()
    try copied.append(record: 1) { try $0.copyAll(from: decoder) }
    let copy = try copied.finish()
    XCTAssertEqual(copy.plaintext, original.plaintext)
    XCTAssertEqual(
      try notation(archives.bytes(sealing: copy), archives),
      try notation(archives.bytes(sealing: original), archives))
  }

  func testACopyIsTheSameWhateverNumbersItsNamesHave() throws {
    let archives = try TestArchives()
    let decoder = try archives.record(encodeAllKinds)
    var generator = SeededGenerator()
    let names = decoder.keys + ["name", "sides", "tags", "x", "y", "kind", "unrelated"]
    for _ in 0..<20 {
      let builder = RecordBuilder(keys: names.shuffled(using: &generator))
      try builder.append(record: 1) { try $0.copyAll(from: decoder) }
      let copy = try XCTUnwrap(
        try archives.verified(archives.bytes(sealing: builder.finish())).record(1))
      // Copied back, it has the numbers of the original again.
      let back = RecordBuilder()
      try back.append(record: 1) { encoder in
        for key in decoder.keys { try encoder.copy(key, from: copy) }
      }
      let again = RecordBuilder()
      try again.append(record: 1, encodeAllKinds)
      XCTAssertEqual(
        try back.finish().plaintext.count, try again.finish().plaintext.count,
        "seed \(generator.seed)")
      XCTAssertEqual(try copy.decode(Shape.self, forKey: "shape"), Shape())
      XCTAssertEqual(Set(copy.keys), Set(decoder.keys), "seed \(generator.seed)")
      XCTAssertEqual(try copy.decode([String: Int].self, forKey: "dictionary")["k"], 1)
    }
  }

  func testACopyIntoAFullTableHasItsKeysInline() throws {
    let archives = try TestArchives()
    let decoder = try archives.record(encodeAllKinds)
    let limits = ArchiveLimits.standard
    let full = RecordBuilder(keys: (0..<limits.symbolCount).map { "\($0)" })
    try full.append(record: 1) { try $0.copyAll(from: decoder) }
    let copy = try XCTUnwrap(
      try archives.verified(archives.bytes(sealing: full.finish())).record(1))
    XCTAssertEqual(copy.keys, decoder.keys.sorted())
    XCTAssertEqual(try copy.decode(Shape.self, forKey: "shape"), Shape())
    XCTAssertEqual(try copy.container(forKey: "container")?.reference(forKey: "reference"), 9)
    // And from there, where field names are inline, into a table with room.
    let roomy = RecordBuilder()
    try roomy.append(record: 1) { try $0.copyAll(from: copy) }
    let back = try XCTUnwrap(
      try archives.verified(archives.bytes(sealing: roomy.finish())).record(1))
    XCTAssertEqual(try back.decode(Shape.self, forKey: "shape"), Shape())
    XCTAssertEqual(
      try back.container(forKey: "container")?.decode(Int.self, forKey: "true"), 1)
  }

  func testReferencesAreMappedAndThoseToNothingAreLeftOut() throws {
    let decoder = try KeyedDecoder.encoding(encodeAllKinds)
    let copy = try KeyedDecoder.encoding { encoder in
      try encoder.copyAll(from: decoder) { $0 == 9 ? nil : $0 + 100 }
    }
    XCTAssertEqual(try copy.reference(forKey: "reference"), 107)
    XCTAssertEqual(try copy.references(forKey: "references"), [107, 108])
    let container = try XCTUnwrap(try copy.container(forKey: "container"))
    XCTAssertFalse(container.contains("reference"))
    XCTAssertEqual(try container.decode(Shape.self, forKey: "shape"), Shape())

    let none = try KeyedDecoder.encoding { try $0.copyAll(from: decoder) { _ in nil } }
    XCTAssertFalse(none.contains("reference"))
    XCTAssertEqual(try none.references(forKey: "references"), [])
  }

  func testAValueIsCopiedUnderAnotherKey() throws {
    let decoder = try KeyedDecoder.encoding(encodeAllKinds)
    let copy = try KeyedDecoder.encoding { encoder in
      encoder.encode(1, forKey: "first")
      try encoder.copy("shape", from: decoder, as: "form")
      try encoder.copy("absent", from: decoder)
    }
    XCTAssertEqual(copy.keys, ["first", "form"])
    XCTAssertEqual(try copy.decode(Shape.self, forKey: "form"), Shape())
  }

  func testAsDeepAValueAsTheFormatAllowsIsCopied() throws {
    func nest(_ encoder: KeyedEncoder, _ depth: Int) {
      guard depth > 0 else { return encoder.encode("bottom", forKey: "k") }
      encoder.encodeContainer(forKey: "k") { nest($0, depth - 1) }
    }
    let depth = ArchiveLimits.standard.depth - 1
    let decoder = try KeyedDecoder.encoding { nest($0, depth) }
    var copy = try KeyedDecoder.encoding { try $0.copyAll(from: decoder) }
    for _ in 0..<depth { copy = try XCTUnwrap(try copy.container(forKey: "k")) }
    XCTAssertEqual(try copy.decode(String.self, forKey: "k"), "bottom")

    let error = archiveError {
      _ = try KeyedDecoder.encoding { encoder in
        try encoder.encodeContainer(forKey: "more") { try $0.copyAll(from: decoder) }
      }
    }
    XCTAssertEqual(error, ArchiveError(.limitExceeded, path: ["more", "k"], subject: "depth"))
  }
}
