import ArchiveCodec
import Foundation
import TestSupport
import XCTest

/// Reading a record without knowing what was encoded.
final class ArchiveTokenTests: XCTestCase {
  private func tokens(_ body: (KeyedEncoder) throws -> Void) throws -> [ArchiveToken] {
    var tokens: [ArchiveToken] = []
    try TestArchives().record(body).forEachToken { tokens.append($0) }
    return tokens
  }

  func testTokensTellEveryKindOfValueInStoredOrder() throws {
    let id = UUID()
    let date = Date(timeIntervalSinceReferenceDate: 800_000_000.5)
    let url = try XCTUnwrap(URL(string: "https://example.org/a?b"))
    let tokens = try tokens { encoder in
      encoder.encode(true, forKey: "bool")
      encoder.encode(-17, forKey: "integer")
      encoder.encode(UInt64.max, forKey: "large")
      encoder.encode(Float(1.5), forKey: "float")
      encoder.encode(2.5, forKey: "double")
      encoder.encode(date, forKey: "date")
      encoder.encode(id, forKey: "uuid")
      encoder.encode(url, forKey: "url")
      encoder.encode("text", forKey: "string")
      encoder.encode(Data([1, 2]), forKey: "data")
      encoder.encode(name: "Name", forKey: "name")
      encoder.encodeReference(to: 7, forKey: "record")
    }
    XCTAssertEqual(
      tokens,
      [
        .key("bool"), .bool(true), .key("integer"), .integer(-17), .key("large"),
        .largeInteger(.max), .key("float"), .float(1.5), .key("double"), .double(2.5),
        .key("date"), .date(date), .key("uuid"), .uuid(id), .key("url"),
        .url("https://example.org/a?b"), .key("string"), .string("text"), .key("data"),
        .bytes([1, 2]), .key("name"), .name("Name"), .key("record"), .record(7),
      ])
  }

  func testTokensGoIntoContainersAndArraysOfAllKinds() throws {
    let tokens = try tokens { encoder in
      encoder.encode([1, -300, 70_000], forKey: "integers")
      encoder.encode([0.5, -1], forKey: "doubles")
      encoder.encode(["a", "b"], forKey: "texts")
      encoder.encodeContainer(forKey: "outer") { outer in
        outer.encodeContainer(forKey: "inner") { $0.encode(1, forKey: "one") }
        outer.encode([String](), forKey: "empty")
      }
    }
    XCTAssertEqual(
      tokens,
      [
        .key("integers"), .beginArray, .integer(1), .integer(-300), .integer(70_000), .endArray,
        .key("doubles"), .beginArray, .double(0.5), .double(-1), .endArray,
        .key("texts"), .beginArray, .string("a"), .string("b"), .endArray,
        .key("outer"), .beginContainer,
        .key("inner"), .beginContainer, .key("one"), .integer(1), .endContainer,
        .key("empty"), .beginArray, .endArray, .endContainer,
      ])
  }

  func testTheTokensOfAContainerAreThoseBelowItsKey() throws {
    let record = try TestArchives().record { encoder in
      encoder.encode(1, forKey: "before")
      encoder.encodeContainer(forKey: "container") { $0.encode(2, forKey: "in it") }
    }
    var tokens: [ArchiveToken] = []
    try record.container(forKey: "container")?.forEachToken { tokens.append($0) }
    XCTAssertEqual(tokens, [.key("in it"), .integer(2)])
  }

  func testWhatTheBodyThrowsEndsTheTokens() throws {
    struct Enough: Error {}
    var count = 0
    let record = try TestArchives().record { $0.encode([1, 2, 3], forKey: "numbers") }
    XCTAssertThrowsError(
      try record.forEachToken { _ in
        count += 1
        if count == 3 { throw Enough() }
      }
    ) { XCTAssert($0 is Enough, "\($0)") }
    XCTAssertEqual(count, 3)
  }
}
