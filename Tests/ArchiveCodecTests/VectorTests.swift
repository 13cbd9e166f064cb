import ArchiveCodec
import Foundation
import XCTest

/// What is in `Vectors/` must be read like this for ever.
final class VectorTests: XCTestCase {
  func testEveryVectorHasItsOutcome() throws {
    for (name, vector) in try VectorFile.all() {
      try check(vector, .strict, vector.expect, name)
      try check(vector, .recover, vector.recover ?? vector.expect, "\(name), recovering")
    }
  }

  private func check(
    _ vector: VectorFile, _ recovery: ArchiveRecovery, _ outcome: String, _ name: String
  ) throws {
    let opened = try vector.open(recovery)
    XCTAssertEqual(opened.outcome, outcome, name)
    guard case .archive(let archive) = opened else { return }
    let verifyCode = VectorFile.verifyCode(archive)
    XCTAssertEqual(verifyCode, vector.verify, "\(name), verified")
    guard verifyCode == nil else { return }
    XCTAssertEqual(try VectorFile.content(of: archive), vector.content, name)
    let identifiers = try archive.recordIdentifiers()
    XCTAssertEqual(try archive.readAll().map(\.identifier).sorted(), identifiers, name)
    for identifier in identifiers { XCTAssertNotNil(try archive.record(identifier), name) }
  }

  func testOnlyArchivesThatOpenHaveContent() throws {
    for (name, vector) in try VectorFile.all() {
      let opens = [vector.expect, vector.recover ?? ""].contains { $0.hasPrefix("opens") }
      XCTAssertEqual(opens && vector.verify == nil, !vector.content.isEmpty, name)
      XCTAssertEqual(try VectorFile(parsing: vector.text).text, vector.text, name)
    }
  }

  func testEveryErrorThatAnArchiveCanGiveHasAVector() throws {
    let outcomes = try VectorFile.all().flatMap { _, vector in
      [vector.expect, vector.recover, vector.verify].compactMap(\.self)
    }
    let codes: [ArchiveError.Code] = [
      .notAnArchive, .unsupportedVersion, .unsupportedFeature, .truncated, .damaged, .wrongKey,
      .wrongPassphrase, .wrongContext, .malformed, .limitExceeded,
    ]
    for outcome in codes.map(\.description) + ["opens", "opens, dropping damaged"] {
      XCTAssert(outcomes.contains(outcome), outcome)
    }
  }

  func testALineThatNobodyKnowsIsRefused() throws {
    let text = try VectorFile.named("golden-one-record").text
    XCTAssertThrowsError(try VectorFile(parsing: "colour: red\n" + text))
    XCTAssertThrowsError(try VectorFile(parsing: "expect: opens\n" + text))
    XCTAssertThrowsError(try VectorFile(parsing: "key: 00\n\n00\n"))
    XCTAssertThrowsError(try VectorFile(parsing: text + "0\n"))
  }

  func testTheGoldenValuesComeBackAsTheTypesTheyWere() throws {
    guard case .archive(let archive) = try VectorFile.named("golden-values").open(.strict) else {
      return XCTFail("golden-values does not open")
    }
    for (record, values) in GoldenValues.records {
      let decoder = try XCTUnwrap(try archive.record(record))
      XCTAssertEqual(decoder.keys.count, values.count, "record \(record)")
      for value in values { try value.check(decoder) }
    }
    let references = try XCTUnwrap(try archive.record(GoldenValues.structure))
    XCTAssertEqual(try references.reference(forKey: "one"), 1)
    XCTAssertEqual(try references.references(forKey: "many"), [1, 128, .max])
    let inner = try references.container(forKey: "map")?.container(forKey: "map")
    XCTAssertEqual(try inner?.decode(Int.self, forKey: "one"), 1)
  }

  func testTheGoldenCodableValuesComeBackAsTheTypesTheyWere() throws {
    guard case .archive(let archive) = try VectorFile.named("golden-codable").open(.strict) else {
      return XCTFail("golden-codable does not open")
    }
    try GoldenCodable.check(try XCTUnwrap(try archive.record(1)))
  }
}
