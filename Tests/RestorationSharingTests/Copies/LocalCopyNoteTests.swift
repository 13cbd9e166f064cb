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

  #if !RESTORATION_NEXT
  func testANoteIsOneObjectThatVersionsBeforeCanRead() async throws {
    let saved = try await SavedOften()
    let always: Set = ["parcelCount", "byteCount", "isPlace", "rest", "sample", "sentAsides"]
    var note = try content(saved.copy.memory(named: Self.name).bytes)
    XCTAssertEqual(Set(note.keys), always.union(["version", "id", "archive"]))
    XCTAssertEqual(note["rest"] as? String, "change")
    XCTAssertEqual(
      note["byteCount"] as? Int, saved.copy.memory(named: "main").bytes?.count)
    // A removal of which the store does not hear.
    saved.network.isReachable = false
    let keeper = try saved.here.launch()
    try await keeper.discardState()
    note = try content(saved.copy.memory(named: Self.name).bytes)
    XCTAssertTrue(always.isSubset(of: note.keys), "\(note.keys)")
    XCTAssertEqual(note["rest"] as? String, "removal")
  }
  #endif

  func testAnOlderStateDoesNotPassForTheLastOneWithAnotherNote() async throws {
    for isTagged in [true, false] {
      let saved = try await SavedOften()
      let before = saved.base[bytes: "main"]
      let older = try XCTUnwrap(saved.older["main"])
      let note = saved.copy.memory(named: Self.name).bytes
      var forged = try content(note)
      let olderNote = try content(saved.older[Self.name])
      for key in ["archive", "sample", "byteCount"] { forged[key] = olderNote[key] }
      #if RESTORATION_NEXT
      var base = try XCTUnwrap(forged["base"] as? [String: Any])
      base["byteCount"] = (olderNote["base"] as? [String: Any])?["byteCount"]
      forged["base"] = base
      #endif
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

  #if !RESTORATION_NEXT
  /// A machine that has saved with the version before, which noted no versions.
  private func updated() async throws -> SavedOften {
    let saved = try await SavedOften()
    var old = try content(saved.copy.memory(named: Self.name).bytes)
    old["archive"] = nil
    saved.copy.memory(named: Self.name).bytes = try bytes(old)
    return saved
  }

  func testAnUpdateGoesOnFromTheNoteOfTheVersionBefore() async throws {
    let saved = try await updated()
    let (keeper, root) = (try saved.here.launch(), SavedOften.node())
    _ = try await keeper.restore(into: [root])
    root.value = "next"
    let report = try await keeper.save([root])
    XCTAssertEqual(report.outcome, .saved)
    let stored = try await saved.stored().value
    XCTAssertEqual(stored, "next")
  }

  func testAnUpdateIsNoConflictWhereTheStoreHasSomethingNewer() async throws {
    let saved = try await updated()
    let (other, theirs) = (try saved.there.launch(), SavedOften.node())
    _ = try await other.restore(into: [theirs])
    theirs.value = "Oslo"
    _ = try await other.save([theirs])
    let (keeper, root) = (try saved.here.launch(), SavedOften.node())
    _ = try await keeper.restore(into: [root])
    let status = await keeper.checkRemoteState()
    guard case .newer = status else { return XCTFail("\(status as Any)") }
    _ = try await keeper.restore(into: [root])
    XCTAssertEqual(root.value, "Oslo")
  }

  func testAnUpdateSendsWhatTheVersionBeforeHasSavedWithoutTheStore() async throws {
    let saved = try await SavedOften()
    let note = saved.copy.memory(named: Self.name).bytes
    saved.network.isReachable = false
    var keeper: StateKeeper? = try saved.here.launch()
    let root = SavedOften.node()
    _ = try await keeper?.restore(into: [root])
    root.value = "Oslo"
    _ = try await keeper?.save([root])
    keeper = nil
    var old = try content(note)
    old["archive"] = nil
    saved.copy.memory(named: Self.name).bytes = try bytes(old)
    saved.network.isReachable = true
    let next = try saved.here.launch()
    _ = try await next.restore(into: [root])
    let status = await next.checkRemoteState()
    XCTAssertEqual(status, .current)
    let stored = try await saved.stored().value
    XCTAssertEqual(stored, "Oslo")
  }
  #endif
}
