import ArchiveCodec
import Foundation
import TestSupport
import XCTest

/// Codable values that cannot be encoded or decoded say where and why.
final class CodableErrorTests: XCTestCase {
  private func encodingError(
    _ message: String = "", file: StaticString = #filePath, line: UInt = #line,
    _ body: (KeyedEncoder) throws -> Void
  ) throws -> (value: Any, context: EncodingError.Context)? {
    do {
      try RecordBuilder().append(record: 1, body)
      XCTFail("did not throw \(message)", file: file, line: line)
    } catch EncodingError.invalidValue(let value, let context) {
      return (value, context)
    }
    return nil
  }

  private func decodingError<Value: Decodable>(
    _ type: Value.Type, _ value: some Encodable, file: StaticString = #filePath, line: UInt = #line
  ) throws -> DecodingError? {
    let record = try TestArchives().record { try $0.encode(value, forKey: "bag") }
    do {
      _ = try record.decode(type, forKey: "bag")
      XCTFail("did not throw", file: file, line: line)
    } catch let error as DecodingError {
      return error
    }
    return nil
  }

  private func names(_ path: [any CodingKey]?) -> [String]? { path?.map(\.stringValue) }

  struct Inner: Codable { var number: Int }
  struct Outer: Codable { var list: [Inner], dictionary: [String: Inner] = [:] }
  struct TextInner: Codable { var number: String }
  struct TextOuter: Codable { var list: [TextInner], dictionary: [String: TextInner] = [:] }

  func testAMismatchSaysWhereAndWhat() throws {
    let texts = TextOuter(list: [TextInner(number: "a"), TextInner(number: "b")])
    guard case .typeMismatch(let type, let context)? = try decodingError(Outer.self, texts) else {
      return XCTFail("another error")
    }
    XCTAssertTrue(type == Int.self)
    XCTAssertEqual(names(context.codingPath), ["bag", "list", "Index 0", "number"])
    XCTAssertEqual(context.codingPath[2].intValue, 0)
    XCTAssertTrue(context.debugDescription.contains("found string, expected integer"))
    XCTAssertEqual(
      (context.underlyingError as? ArchiveError),
      ArchiveError(.typeMismatch, subject: "found string, expected integer"))
    let dictionary = TextOuter(list: [], dictionary: ["b": TextInner(number: "secret")])
    guard case .typeMismatch(_, let inner)? = try decodingError(Outer.self, dictionary) else {
      return XCTFail("another error")
    }
    XCTAssertEqual(names(inner.codingPath), ["bag", "dictionary", "b", "number"])
    XCTAssertFalse("\(inner)".contains("secret"))
  }

  func testAMissingKeyAndNullAndTheEndOfAnArrayAreTold() throws {
    struct Loose: Codable { var list: [[String: Int?]] }
    guard
      case .keyNotFound(let key, let missing)? = try decodingError(
        Outer.self, Loose(list: [["other": 1]]))
    else { return XCTFail("another error") }
    XCTAssertEqual(key.stringValue, "number")
    XCTAssertEqual(names(missing.codingPath), ["bag", "list", "Index 0"])
    guard
      case .valueNotFound(let type, let null)? = try decodingError(
        Outer.self, Loose(list: [["number": nil]]))
    else { return XCTFail("another error") }
    XCTAssertTrue(type == Int.self)
    XCTAssertEqual(names(null.codingPath), ["bag", "list", "Index 0", "number"])
    struct Two: Decodable {
      init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        XCTAssertEqual(container.count, 1)
        for _ in 0..<2 { _ = try container.decode(Int.self) }
      }
    }
    for value in [[5], [5, nil].dropLast()] as [[Int?]] {
      guard case .valueNotFound(_, let end)? = try decodingError(Two.self, value) else {
        return XCTFail("another error")
      }
      XCTAssertEqual(names(end.codingPath), ["bag", "Index 1"])
    }
    let record = try TestArchives().record { $0.encode(1, forKey: "a") }
    XCTAssertThrowsError(try record.decode(Inner.self, forKey: "none")) {
      guard case DecodingError.keyNotFound(let key, _) = $0 else { return XCTFail("\($0)") }
      XCTAssertEqual(key.stringValue, "none")
    }
  }

  func testAContainerOfAnotherKindIsAMismatch() throws {
    for value in [["a": [1]], ["b": []]] {
      guard case .typeMismatch? = try decodingError([Inner].self, value) else {
        return XCTFail("another error")
      }
    }
    guard case .typeMismatch(_, let context)? = try decodingError(Inner.self, ["a"]) else {
      return XCTFail("another error")
    }
    XCTAssertEqual(names(context.codingPath), ["bag"])
    guard case .typeMismatch? = try decodingError(Inner.self, 1) else {
      return XCTFail("another error")
    }
  }

  func testANumberThatDoesNotFitIsCorrupt() throws {
    struct Wide: Codable { var number = 300 }
    struct Narrow: Codable { var number: UInt8 }
    guard case .dataCorrupted(let context)? = try decodingError(Narrow.self, Wide()) else {
      return XCTFail("another error")
    }
    XCTAssertEqual(names(context.codingPath), ["bag", "number"])
    XCTAssertEqual(
      (context.underlyingError as? ArchiveError),
      ArchiveError(.numberOutOfRange, offset: 19, subject: "UInt8"))
  }

  func testWhatIsTooLargeSaysWhere() throws {
    let huge = String(repeating: "x", count: 1 << 24)
    let error = try encodingError {
      try $0.encode(TextOuter(list: [TextInner(number: huge)]), forKey: "bag")
    }
    XCTAssertEqual(names(error?.context.codingPath), ["bag", "list", "Index 0", "number"])
    XCTAssertEqual(
      (error?.context.underlyingError as? ArchiveError),
      ArchiveError(.limitExceeded, subject: "bytes of a string"))
    XCTAssertEqual((error?.value as? String)?.count, huge.count)
    let key = String(repeating: "k", count: 1025)
    let keyed = try encodingError { try $0.encode([key: Inner(number: 1)], forKey: "bag") }
    XCTAssertEqual(
      (keyed?.context.underlyingError as? ArchiveError),
      ArchiveError(.limitExceeded, subject: "bytes of a key"))
  }

  struct Throwing: Codable {
    struct Failure: Error {}
    init() {}
    init(from decoder: any Decoder) throws {}
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(1, forKey: .half)
      var nested = container.nestedUnkeyedContainer(forKey: .list)
      try nested.encode(2)
      throw Failure()
    }
    enum Key: String, CodingKey { case half, list, good, bad }
  }

  /// Tries what fails, if it is to, in every kind of container.
  struct Trying: Encodable {
    var fails: Bool

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Throwing.Key.self)
      if fails { try? container.encode(Throwing(), forKey: .bad) }
      if fails { try? container.encode(String(repeating: "x", count: 1 << 24), forKey: .bad) }
      try container.encode(1, forKey: .good)
      var list = container.nestedUnkeyedContainer(forKey: .list)
      if fails { try? list.encode(Throwing()) }
      try list.encode(Inner(number: 5))
      if fails { try? container.encode([Throwing()], forKey: .good) }
      if fails { try? list.encode(["a": [Throwing()]]) }
      XCTAssertEqual(list.count, 1)
      try list.encode(Single(fails: fails))
    }
  }

  struct Single: Encodable {
    var fails: Bool

    func encode(to encoder: any Encoder) throws {
      let container = encoder.singleValueContainer()
      func attempt(_ container: any SingleValueEncodingContainer) {
        var container = container
        if fails { try? container.encode(Throwing()) }
      }
      attempt(container)
      var last = container
      try last.encode("single")
    }
  }

  func testAnAttemptThatThrowsLeavesNoTrace() throws {
    func content(_ fails: Bool) throws -> [UInt8] {
      let builder = RecordBuilder()
      try builder.append(record: 1) { encoder in
        if fails { try? encoder.encode(Throwing(), forKey: "gone") }
        try encoder.encode(Trying(fails: fails), forKey: "bag")
      }
      return try builder.finish().plaintext
    }
    XCTAssertEqual(try content(true), try content(false))
  }

  private final class Token: Sendable {}

  func testNothingOutlivesAnEncodingThatThrows() throws {
    struct Deep: Encodable {
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Throwing.Key.self)
        var list = container.nestedUnkeyedContainer(forKey: .list)
        try? list.encode(Throwing())
        var inner = list.nestedUnkeyedContainer()
        _ = inner.superEncoder()
        throw Throwing.Failure()
      }
    }
    let key = try XCTUnwrap(CodingUserInfoKey(rawValue: "token"))
    weak var token: Token?
    do {
      let kept = Token()
      token = kept
      XCTAssertThrowsError(
        try RecordBuilder().append(record: 1) {
          try $0.encode([Deep()], forKey: "a", userInfo: [key: kept])
        })
    }
    XCTAssertNil(token)
  }

  func testAChainOfNestedContainersEndsAtTheLimit() throws {
    struct Chain: Encodable {
      func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for _ in 0..<100_000 { container = container.nestedUnkeyedContainer() }
        try? container.encode(1)
      }
    }
    let error = try encodingError { try $0.encode(Chain(), forKey: "a") }
    XCTAssertEqual(
      (error?.context.underlyingError as? ArchiveError),
      ArchiveError(.limitExceeded, subject: "depth"))
  }

  func testOneEncoderInTwoKindsOfContainersThrows() throws {
    struct Both: Encodable {
      func encode(to encoder: any Encoder) throws {
        var keyed = encoder.container(keyedBy: Throwing.Key.self)
        try keyed.encode(1, forKey: .good)
        var list = encoder.unkeyedContainer()
        try? list.encode(2)
      }
    }
    struct Twice: Encodable {
      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(1)
        try container.encode(2)
      }
    }
    let error = try encodingError { try $0.encode([Both()], forKey: "bag") }
    XCTAssertEqual(names(error?.context.codingPath), ["bag", "Index 0"])
    XCTAssertNotNil(try encodingError { try $0.encode(Twice(), forKey: "bag") })
  }

  func testAnEncoderThatIsKeptThrowsAndChangesNothing() throws {
    final class Keeper: Encodable {
      var kept: (any Encoder)?
      var container: KeyedEncodingContainer<Throwing.Key>?
      func encode(to encoder: any Encoder) throws {
        kept = encoder
        container = encoder.container(keyedBy: Throwing.Key.self)
      }
    }
    let keeper = Keeper()
    let record = try TestArchives().record { encoder in
      try encoder.encode(keeper, forKey: "keeper")
      XCTAssertThrowsError(try keeper.container?.encode(1, forKey: .good))
      var other = keeper.kept?.unkeyedContainer()
      XCTAssertThrowsError(try other?.encode(1))
      encoder.encode(1, forKey: "a")
    }
    XCTAssertEqual(try record.container(forKey: "keeper")?.keys, [])
    XCTAssertEqual(try record.decode(Int.self, forKey: "a"), 1)
  }

  func testAValueThatUsesTheKeyedEncoderFailsTheRecord() throws {
    struct Sneaky: Encodable {
      let encoder: KeyedEncoder
      func encode(to other: any Encoder) throws {
        encoder.encode(1, forKey: "sneaky")
        var container = other.singleValueContainer()
        try container.encode(2)
      }
    }
    let error = try encodingError { try $0.encode(Sneaky(encoder: $0), forKey: "a") }
    XCTAssertEqual(
      (error?.context.underlyingError as? ArchiveError),
      ArchiveError(.encoderClosed, path: ["sneaky"]))
  }

  func testTheCodingPathIsRightWhileCoding() throws {
    struct Path: Codable {
      init() {}
      init(from decoder: any Decoder) throws {
        XCTAssertEqual(decoder.codingPath.map(\.stringValue), ["bag", "a", "Index 1"])
        let container = try decoder.container(keyedBy: Throwing.Key.self)
        XCTAssertEqual(container.codingPath.count, 3)
        var list = try container.nestedUnkeyedContainer(forKey: .list)
        XCTAssertEqual(list.codingPath.last?.stringValue, "list")
        let inner = try list.superDecoder()
        XCTAssertEqual(inner.codingPath.last?.intValue, 0)
      }
      func encode(to encoder: any Encoder) throws {
        XCTAssertEqual(encoder.codingPath.map(\.stringValue), ["bag", "a", "Index 1"])
        var container = encoder.container(keyedBy: Throwing.Key.self)
        var list = container.nestedUnkeyedContainer(forKey: .list)
        XCTAssertEqual(list.codingPath.last?.stringValue, "list")
        XCTAssertEqual(list.superEncoder().codingPath.last?.intValue, 0)
      }
    }
    let record = try TestArchives().record { try $0.encode(["a": [nil, Path()]], forKey: "bag") }
    XCTAssertEqual(try record.decode([String: [Path?]].self, forKey: "bag")["a"]?.count, 2)
  }

  func testEveryKeyAndPassphraseOfTheOneCallOpens() throws {
    let archives = try TestArchives()
    let bytes = try ArchiveEncoder().encode(
      ["a": [1]], slots: [.key(archives.key), try .cheap("first"), try .cheap("second")],
      context: archives.context)
    func decoded(_ credential: ArchiveCredential) throws -> [String: [Int]] {
      try ArchiveDecoder().decode(from: bytes, with: credential, context: archives.context)
    }
    XCTAssertEqual(try decoded(.key(archives.key)), ["a": [1]])
    XCTAssertEqual(try decoded(.passphrase(try Passphrase("first"))), ["a": [1]])
    XCTAssertEqual(try decoded(.passphrase(try Passphrase("second"))), ["a": [1]])
    XCTAssertEqual(
      archiveError { _ = try decoded(.passphrase(try Passphrase("third"))) },
      ArchiveError(.wrongPassphrase, location: "memory"))
    XCTAssertEqual(
      archiveError { _ = try ArchiveEncoder().encode(1, slots: [], context: archives.context) },
      ArchiveError(.lastSlot))
  }

  func testTheOneCallSaysWhyBytesDoNotOpen() throws {
    let archives = try TestArchives()
    let bytes = try ArchiveEncoder().encode(1, key: archives.key, context: archives.context)
    let other = try ArchiveKey()
    func code(_ bytes: [UInt8], _ key: ArchiveKey) -> ArchiveError.Code? {
      archiveError {
        _ = try ArchiveDecoder().decode(Int.self, from: bytes, key: key, context: archives.context)
      }?.code
    }
    XCTAssertEqual(code(bytes, other), .wrongKey)
    XCTAssertEqual(code([], archives.key), .truncated)
    XCTAssertEqual(code(Array(bytes.dropLast()), archives.key), .truncated)
    XCTAssertThrowsError(
      try ArchiveDecoder().decode(
        String.self, from: bytes, key: archives.key, context: archives.context)
    ) {
      guard case DecodingError.typeMismatch(_, let context) = $0 else { return XCTFail("\($0)") }
      XCTAssertEqual(context.codingPath.count, 0)
    }
  }
}
