import ArchiveCodec
import Foundation
import TestSupport
import XCTest

/// Equal values have equal plaintext, however they were built.
final class CodableOrderTests: XCTestCase {
  private func plaintext(_ value: some Encodable) throws -> [UInt8] {
    let builder = RecordBuilder()
    try builder.append(record: 1) { try $0.encode(value, forKey: "value") }
    return try builder.finish().plaintext
  }

  /// One field or the other first, so that names come in the order of the
  /// elements.
  enum Element: Codable, Hashable {
    case number(Int)
    case text(String, of: Int)
    case group(Set<Element>)
  }

  struct Wide: Codable, Hashable {
    var a: Int?
    var b: Int?
    var c: Int?

    init(_ number: Int) {
      switch number % 3 {
      case 0: (a, b) = (number, 1)
      case 1: (b, c) = (number, 1)
      default: c = number
      }
    }
  }

  private func elements(_ count: Int) -> [Element] {
    (0..<count).map { number in
      switch number % 3 {
      case 0: .number(number)
      case 1: .text("\(number)", of: number)
      default: .group([.number(number), .text("in", of: number), .group([])])
      }
    }
  }

  func testEqualSetsAndDictionariesHaveEqualPlaintext() throws {
    var generator = SeededGenerator()
    let elements = elements(100)
    var plaintexts: [Set<[UInt8]>] = Array(repeating: [], count: 5)
    for round in 0..<20 {
      let shuffled = elements.shuffled(using: &generator)
      // The order of a hash table depends on its capacity, too.
      var set = Set<Element>(minimumCapacity: round * 50)
      var names = Set<String>(minimumCapacity: round * 50)
      var byName = [String: Wide](minimumCapacity: round * 50)
      var byNumber = [Int: Wide](minimumCapacity: round * 50)
      var byElement = [Element: Wide](minimumCapacity: round * 50)
      for element in shuffled {
        set.insert(element)
        let place = elements.firstIndex(of: element) ?? 0
        names.insert("name \(place)")
        byName["key \(place)"] = Wide(place)
        byNumber[place] = Wide(place)
        byElement[element] = Wide(place)
      }
      plaintexts[0].insert(try plaintext(set))
      plaintexts[1].insert(try plaintext(names))
      plaintexts[2].insert(try plaintext(byName))
      plaintexts[3].insert(try plaintext(byNumber))
      plaintexts[4].insert(try plaintext(byElement))
    }
    XCTAssertEqual(plaintexts.map(\.count), [1, 1, 1, 1, 1], "seed \(generator.seed)")
  }

  func testASetIsWrittenInTheOrderOfItsBytes() throws {
    let record = try TestArchives().record { encoder in
      try encoder.encode(Set([300, 5, -1, 63]), forKey: "set")
      try encoder.encode(["b": Wide(1), "a": Wide(2), "": Wide(0)], forKey: "dictionary")
      try encoder.encode([300: Wide(1), 5: Wide(2)], forKey: "numbers")
    }
    XCTAssertEqual(try record.decode([Int].self, forKey: "set"), [5, 63, -1, 300])
    XCTAssertEqual(try record.container(forKey: "dictionary")?.keys, ["", "a", "b"])
    XCTAssertEqual(try record.container(forKey: "numbers")?.keys, ["300", "5"])
  }

  func testDictionaryKeysAreNotSymbols() throws {
    let builder = RecordBuilder()
    try builder.append(record: 1) { encoder in
      try encoder.encode(["key of data": Wide(0), "other": Wide(1)], forKey: "value")
    }
    XCTAssertEqual(
      try builder.finish().unsealed.symbols, HostileContent.table(["value", "a", "b", "c"]))
  }

  func testPlaintextIsThatOfAnotherProcess() throws {
    let set = Set(elements(50))
    let dictionary = Dictionary(uniqueKeysWithValues: elements(50).map { ($0, Wide(1)) })
    let digest = try (plaintext(set) + plaintext(dictionary)).reduce(into: UInt64(5381)) {
      $0 = $0 &* 33 ^ UInt64($1)
    }
    // Of the process in which this was written: hashing is seeded anew in each.
    XCTAssertEqual(digest, 10_535_467_266_264_548_583)
  }
}
