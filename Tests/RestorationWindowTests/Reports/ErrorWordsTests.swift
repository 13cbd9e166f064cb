import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// What reports say of the errors that an app throws: never what is in them.
@MainActor
final class ErrorWordsTests: XCTestCase {
  private let launch = Launch()

  private static let secret = "what the user typed"

  /// Errors, and what a report says of each.
  private let errors: [(any Error, String)] = [
    (Typed(text: secret), "Typed"),
    (Cased.text(secret), "Cased.text"),
    (Cased.plain, "Cased.plain"),
    (Worded(text: secret), "The note is locked."),
    (Localized(text: secret), "The note is gone."),
    (Unworded(text: secret), "Unworded"),
    (Debugged.plain, "Debugged"),
    (
      EncodingError.invalidValue(
        secret,
        EncodingError.Context(codingPath: [Key("a"), Key("b")], debugDescription: secret)),
      "A String cannot be encoded at a/b."
    ),
    (
      DecodingError.keyNotFound(
        Key("b"), DecodingError.Context(codingPath: [Key("a")], debugDescription: secret)),
      "There is no value at a/b."
    ),
    (
      DecodingError.valueNotFound(
        Int.self, DecodingError.Context(codingPath: [], debugDescription: secret)),
      "A Int is missing."
    ),
    (
      CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: secret]),
      "Error Domain=NSCocoaErrorDomain Code=4"
    ),
    (
      DecodingError.typeMismatch(
        Int.self,
        DecodingError.Context(
          codingPath: [], debugDescription: secret,
          underlyingError: DecodingError.valueNotFound(
            Int.self, DecodingError.Context(codingPath: [], debugDescription: secret)))),
      "There is no Int."
    ),
    (
      DecodingError.typeMismatch(
        Int.self, DecodingError.Context(codingPath: [Key("a")], debugDescription: secret)),
      "There is no Int at a."
    ),
    (
      DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: [Key("a")], debugDescription: secret, underlyingError: Cased.text(secret))),
      "The value at a cannot be decoded. Cased.text"
    ),
    (
      ArchiveError(.storageFull),
      "The disk is full. Free some space and save again; the old file is unchanged."
    ),
  ]

  func testASaveSaysNoMore() async throws {
    for (error, words) in errors {
      let node = TestNode("root")
      node.onEncode = { _ in throw error }
      let delegate = TestDelegate()
      delegate.onWillEncode = { _ in throw error }
      let keeper = try launch.keeper(delegate: delegate)
      _ = try await keeper.restore()
      let report = try await keeper.save([node])
      XCTAssertEqual(report.notes, [.applicationNotEncoded(words), .encodeFailed(words)])
      XCTAssertFalse(report.description.contains(Self.secret))
    }
  }

  func testARestoreSaysNoMore() async throws {
    let made = TestNode("made")
    made.restorationClass = TestFactory.self
    _ = try await launch.keeper().save([TestNode("root", value: "x"), made, TestNode("asked")])
    for (error, words) in errors {
      let root = TestNode("root")
      root.onDecode = { _ in throw error }
      let delegate = TestDelegate()
      delegate.onDidDecode = { _ in throw error }
      delegate.onNode = { path, _ in
        if path.identifier == "asked" { throw error }
        return nil
      }
      TestFactory.make = { _, _ in throw error }
      let report = try await launch.keeper(delegate: delegate).restore(into: [root])
      let ofApplication = RestorationReport.NodeOutcome.decodeFailed(by: .delegate, words)
      XCTAssertEqual(
        report.entries.map(\.outcome),
        [
          ofApplication, .decodeFailed(by: .existing, words),
          .factoryFailed(.restorationClass, words),
          .factoryFailed(.delegate, words),
        ])
      XCTAssertFalse(report.description.contains(Self.secret))
    }
  }

  func testAMigrationSaysNoMore() async throws {
    _ = try await launch.keeper().save([TestNode("root", value: "x")])
    for (error, words) in errors {
      let keeper = try launch.keeper()
      try keeper.register(
        TestNode.self, version: 2,
        migrations: [1: { _ in throw error }])
      let report = try await keeper.restore(into: [TestNode("root")])
      XCTAssertEqual(
        report.entries.map(\.outcome), [.migrationFailed(by: .existing, from: 1, words)])
    }
  }

  func testWordsOfFoundationHoldNoValues() async throws {
    let errors: [any Error] = [
      NSError(domain: "notes", code: 1, userInfo: ["text": Self.secret]),
      CocoaError(.fileNoSuchFile, userInfo: ["text": Self.secret]),
      CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: "/notes/\(Self.secret)"]),
      CocoaError(.coderInvalidValue, userInfo: [NSDebugDescriptionErrorKey: Self.secret]),
      URLError(.badURL, userInfo: [NSURLErrorFailingURLErrorKey: Self.secret]),
    ]
    for error in errors {
      let node = TestNode("root")
      node.onEncode = { _ in throw error }
      let report = try await launch.keeper().save([node])
      XCTAssertFalse(report.description.contains(Self.secret), report.description)
    }
  }

  func testWordsOfAJSONErrorHoldNoValues() async throws {
    for json in ["[1234567890123456789012345678901234567890]", "[\"\\q\(Self.secret)\"]", "[#]"] {
      let node = TestNode("root")
      node.onEncode = { _ in _ = try JSONDecoder().decode([Int].self, from: Data(json.utf8)) }
      let report = try await launch.keeper().save([node])
      XCTAssertFalse(report.description.contains("1234567890"), report.description)
      XCTAssertFalse(report.description.contains("'#'"), report.description)
    }
  }
}

private struct Typed: Error {
  let text: String
}

private enum Cased: Error {
  case plain
  case text(String)
}

private struct Worded: Error, CustomStringConvertible {
  let text: String
  var description: String { "The note is locked." }
}

private struct Localized: LocalizedError {
  let text: String
  var errorDescription: String? { "The note is gone." }
}

private struct Unworded: LocalizedError {
  let text: String
}

private enum Debugged: Error, CustomDebugStringConvertible {
  case plain
  var debugDescription: String { "what the user typed" }
}

private struct Key: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }
  init(_ name: String) { stringValue = name }
  init?(stringValue: String) { self.init(stringValue) }
  init?(intValue: Int) { nil }
}
