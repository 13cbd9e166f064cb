import ArchiveCodec
import TestSupport
import XCTest

/// Values that try one type after the other get the right path each time.
final class CodingPathTests: XCTestCase {
  /// A string that says where it is, in arrays and dictionaries of any size.
  indirect enum Place: Codable {
    case leaf(String)
    case list([Place])
    case names([String: Place])

    init(_ path: String, _ sizes: ArraySlice<Int>) {
      guard let size = sizes.first else {
        self = .leaf(path)
        return
      }
      let rest = sizes.dropFirst()
      self =
        size < 0
        ? .names(
          Dictionary(
            uniqueKeysWithValues: (0 ..< -size).map { ("k\($0)", Place("\(path)/k\($0)", rest)) }))
        : .list((0..<size).map { Place("\(path)/Index \($0)", rest) })
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      XCTAssertFalse(container.decodeNil())
      let errors = [
        Self.failure { try container.decode(Bool.self) },
        Self.failure { try container.decode(Int.self) },
        Self.failure { try decoder.container(keyedBy: Name.self).nestedContainer(forName: "none") },
      ]
      if let path = try? container.decode(String.self) {
        self = .leaf(path)
        for error in errors { XCTAssertEqual(Self.text(Self.path(of: error)), path) }
        XCTAssertEqual(Self.text(decoder.codingPath), path)
      } else if let list = try? container.decode([Place].self) {
        self = .list(list)
      } else {
        self = .names(try container.decode([String: Place].self))
      }
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      switch self {
      case .leaf(let path): try container.encode(path)
      case .list(let list): try container.encode(list)
      case .names(let names): try container.encode(names)
      }
    }

    var leafCount: Int {
      switch self {
      case .leaf: 1
      case .list(let list): list.reduce(0) { $0 + $1.leafCount }
      case .names(let names): names.values.reduce(0) { $0 + $1.leafCount }
      }
    }

    private static func failure(_ body: () throws -> some Any) -> (any Error)? {
      do {
        _ = try body()
        return nil
      } catch {
        return error
      }
    }

    private static func path(of error: (any Error)?) -> [any CodingKey] {
      switch error as? DecodingError {
      case .typeMismatch(_, let context)?, .valueNotFound(_, let context)?,
        .keyNotFound(_, let context)?, .dataCorrupted(let context)?:
        context.codingPath
      default: []
      }
    }

    private static func text(_ path: [any CodingKey]) -> String {
      path.map(\.stringValue).joined(separator: "/")
    }
  }

  struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  func testEveryErrorOfAProbingValueHasThePathToIt() throws {
    // Sizes around those from which a container is not read from its beginning.
    let shapes = [
      [0], [1], [16], [17], [-16], [-17], [33, 2], [-33, -3], [3, 70], [-2, 40, -2], [200],
      [-200], [2, -20, 5], [1, 1, -1, 1, 40],
    ]
    for shape in shapes {
      let place = Place("place", shape[...])
      let record = try TestArchives().record { try $0.encode(place, forKey: "place") }
      let back = try record.decode(Place.self, forKey: "place")
      XCTAssertEqual(back.leafCount, place.leafCount, "\(shape)")
    }
  }

  /// Reads the fields of a large map from the last one to the first.
  private struct Backwards: Decodable {
    init(from decoder: any Decoder) throws {
      let fields = try decoder.container(keyedBy: Name.self)
      for name in fields.allKeys.reversed() {
        XCTAssertThrowsError(try fields.decode(Int.self, forKey: name)) { error in
          guard case DecodingError.typeMismatch(_, let context) = error else {
            return XCTFail("\(error)")
          }
          XCTAssertEqual(context.codingPath.map(\.stringValue), ["map", name.stringValue])
        }
        XCTAssertEqual(try fields.decode(String.self, forKey: name), name.stringValue)
      }
      XCTAssertEqual(fields.allKeys.count, 200)
    }
  }

  /// Keeps the decoders of all elements and asks for their paths in other orders.
  private struct Scattered: Decodable {
    init(from decoder: any Decoder) throws {
      var elements = try decoder.unkeyedContainer()
      var decoders: [any Decoder] = []
      while !elements.isAtEnd { decoders.append(try elements.superDecoder()) }
      XCTAssertEqual(decoders.count, 200)
      let orders = [
        Array(decoders.indices.reversed()), decoders.indices.map { $0 * 77 % 200 },
        [0, 199, 0, 16, 15, 17, 31, 33, 100, 199, 183, 184],
      ]
      for order in orders {
        for index in order {
          XCTAssertEqual(
            decoders[index].codingPath.map(\.stringValue), ["list", "Index \(index)"])
          var inner = try decoders[index].unkeyedContainer()
          let first = try inner.superDecoder()
          XCTAssertEqual(
            first.codingPath.map(\.stringValue), ["list", "Index \(index)", "Index 0"])
        }
      }
    }
  }

  func testPathsThatAreAskedForInAnyOrderAreRight() throws {
    let record = try TestArchives().record {
      $0.encode((0..<200).map { ["\($0)"] }, forKey: "list")
    }
    _ = try record.decode(Scattered.self, forKey: "list")
  }

  func testErrorsInReverseOrderHaveTheirPathsToo() throws {
    let names = (0..<200).map { "key \($0)" }
    let record = try TestArchives().record {
      $0.encode(Dictionary(uniqueKeysWithValues: zip(names, names)), forKey: "map")
    }
    _ = try record.decode(Backwards.self, forKey: "map")
  }
}

extension KeyedDecodingContainer where Key == CodingPathTests.Name {
  fileprivate func nestedContainer(forName name: String) throws -> Self {
    try nestedContainer(keyedBy: Key.self, forKey: Key(stringValue: name))
  }
}
