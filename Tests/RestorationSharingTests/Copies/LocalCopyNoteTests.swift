import ArchiveCodec
import Foundation
import RestorationKit
import RestorationSharing
import TestSupport
import XCTest

/// The note of what the store has, as others may have written it.
@MainActor
final class LocalCopyNoteTests: XCTestCase {
  private static let name = "main.remote.launch"

  private func object(_ bytes: [UInt8]?) throws -> [String: Any] {
    let value = try JSONSerialization.jsonObject(with: Data(XCTUnwrap(bytes)))
    return try XCTUnwrap(value as? [String: Any])
  }

  private func bytes(_ object: [String: Any]) throws -> [UInt8] {
    Array(try JSONSerialization.data(withJSONObject: object))
  }

  /// What a note says, without its tag.
  private func content(_ note: [UInt8]?) throws -> [String: Any] {
    let text = try XCTUnwrap(object(note)["note"] as? String)
    return try object(Array(XCTUnwrap(Data(base64Encoded: text))))
  }

  func testAnOlderStateDoesNotPassForTheLastOneWithAnotherNote() async throws {
    for isTagged in [true, false] {
      let saved = try await SavedOften()
      let before = saved.base[bytes: "main"]
      let older = try XCTUnwrap(saved.older["main"])
      let note = saved.copy.memory(named: Self.name).bytes
      var forged = try content(note)
      let olderNote = try content(saved.older[Self.name])
      for key in ["archive", "sample", "byteCount"] { forged[key] = olderNote[key] }
      var base = try XCTUnwrap(forged["base"] as? [String: Any])
      base["byteCount"] = (olderNote["base"] as? [String: Any])?["byteCount"]
      forged["base"] = base
      if isTagged {
        var tagged = try object(note)
        tagged["note"] = Data(try bytes(forged)).base64EncodedString()
        forged = tagged
      }
      saved.copy.memory(named: "main").bytes = older
      saved.copy.memory(named: Self.name).bytes = try bytes(forged)
      let (keeper, root) = (try saved.here.launch(), SavedOften.node())
      _ = try await keeper.restore(into: [root])
      root.value = "next"
      let report = try await keeper.save([root])
      guard report.conflict != nil else {
        return XCTFail("\(report.outcome), with a tag: \(isTagged)")
      }
      XCTAssertEqual(saved.base[bytes: "main"], before, "with a tag: \(isTagged)")
    }
  }
}
