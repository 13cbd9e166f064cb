import ArchiveCodec
import ArchiveForge
import TestSupport
import XCTest

final class ChangedPassphraseTests: PassphraseTestCase {
  private func writer(
    _ storage: any ArchiveStorage, _ credential: ArchiveCredential
  ) throws -> ArchiveWriter {
    try ArchiveWriter.open(storage, with: credential, context: context)
  }

  private func code(_ storage: any ArchiveStorage, _ text: String) throws -> ArchiveError.Code? {
    let passphrase = try Passphrase(text)
    do throws(ArchiveError) {
      let archive = try Archive.open(storage, with: .passphrase(passphrase), context: context)
      let text = try archive?.record(1)?.decode(String.self, forKey: "text")
      XCTAssertEqual(text, "kept")
      return nil
    } catch {
      return error.code
    }
  }

  func testTheNewPassphraseOpensWhatTheOldOneOpenedAndTheContentStays() throws {
    for place in 0..<2 {
      let storage = try archive(
        .cheap(place == 0 ? "old" : "other", reference: 5), .key(try .repeating(1)),
        .cheap(place == 1 ? "old" : "other", reference: 6))
      let before = try XCTUnwrap(storage.bytes)
      let writer = try writer(storage, .key(try .repeating(1)))
      let tries = try PassphraseTries.count {
        try writer.changePassphrase(from: try Passphrase("old"), to: try Passphrase("new"))
      }
      // The tries of the old one, and what the new one costs.
      XCTAssertEqual(tries, place + 1 + 1)
      XCTAssertEqual(try code(storage, "old"), .wrongPassphrase)
      XCTAssertNil(try code(storage, "new"))
      XCTAssertNil(try code(storage, "other"))
      let after = try XCTUnwrap(storage.bytes)
      XCTAssertEqual(after.body, before.body)
      let changed = [0, 2][place]
      for other in 0..<3 {
        XCTAssertEqual(after.slots[other] == before.slots[other], other != changed, "\(other)")
      }
      XCTAssertEqual(writer.slots?.map(\.keyReference), [5, 0, 6])
      XCTAssertEqual(writer.slots?[changed].kind, .passphrase(try .least()))
    }
  }

  func testThePassphraseThatOpenedTheArchiveMayBeTheOneThatChanges() throws {
    let storage = try archive(.cheap("old"))
    let old = try Passphrase("old")
    let cost = try PassphraseCost(passes: 2, kibibytes: 16)
    let writer = try writer(storage, .passphrase(old))
    try writer.changePassphrase(from: old, to: try Passphrase("new"), cost: cost)
    XCTAssertEqual(writer.slots?.map(\.kind), [.passphrase(cost)])
    XCTAssertEqual(try code(storage, "old"), .wrongPassphrase)
    XCTAssertNil(try code(storage, "new"))
    // The writer goes on, also with the same passphrase again.
    let builder = writer.builder()
    try builder.append(record: 2) { $0.encode("two", forKey: "text") }
    try writer.append(builder.finish())
    try writer.changePassphrase(from: try Passphrase("new"), to: try Passphrase("new"))
    XCTAssertNil(try code(storage, "new"))
    XCTAssertEqual(writer.slots?.map(\.kind), [.passphrase(cost)])
  }

  func testWhatOpensNoSlotChangesNothing() throws {
    let both = try archive(.key(try .repeating(1)), .cheap("a"), .cheap("b"))
    let keyOnly = try archive(.key(try .repeating(1)))
    for (storage, error, paid) in [
      (both, ArchiveError(.wrongPassphrase, location: "memory"), 2),
      (keyOnly, ArchiveError(.wrongKey, subject: "it takes no passphrase", location: "memory"), 0),
    ] {
      let before = storage.bytes
      let writer = try writer(storage, .key(try .repeating(1)))
      let (old, new) = (try Passphrase("c"), try Passphrase("new"))
      let tries = PassphraseTries.count {
        XCTAssertEqual(archiveError { try writer.changePassphrase(from: old, to: new) }, error)
      }
      XCTAssertEqual(tries, paid)
      XCTAssertEqual(storage.bytes, before)
    }
    let empty = try writer(MemoryStorage(), .key(try .repeating(1)))
    XCTAssertEqual(
      archiveError {
        try empty.changePassphrase(from: try Passphrase("a"), to: try Passphrase("b"))
      }, ArchiveError(.slotMissing, location: "memory"))
  }

  func testAChangeThatCannotBeStoredLeavesTheOldPassphrase() throws {
    let good = try archive(.cheap("old"))
    let storage = FaultyStorage(good.bytes) { call, _ in
      call == .replace ? ArchiveError(.storageFull) : nil
    }
    let writer = try writer(storage, .passphrase(try Passphrase("old")))
    XCTAssertEqual(
      archiveError {
        try writer.changePassphrase(from: try Passphrase("old"), to: try Passphrase("new"))
      }, ArchiveError(.storageFull, location: "faulty"))
    XCTAssertEqual(storage.bytes, good.bytes)
    XCTAssertNil(try code(storage, "old"))
  }

  /// What the documentation says that it does not do.
  func testTheOldHeaderStillOpensWithTheOldPassphrase() throws {
    let storage = try archive(.cheap("old"))
    let before = try XCTUnwrap(storage.bytes)
    try writer(storage, .passphrase(try Passphrase("old"))).changePassphrase(
      from: try Passphrase("old"), to: try Passphrase("new"))
    let after = try XCTUnwrap(storage.bytes)
    storage.bytes = before[..<before.headerByteCount] + after.body
    XCTAssertNil(try code(storage, "old"))
  }
}
