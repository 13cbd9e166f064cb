import ArchiveCodec
import ArchiveForge
import TestSupport
import XCTest

final class SlotTests: XCTestCase {
  private let context = ArchiveContext(["org.example.test", "main"])

  /// An archive of several pieces, so that copying it takes more than one.
  private func write(_ slots: [NewSlot], to storage: any ArchiveStorage) throws -> Archive.Summary {
    let builder = RecordBuilder()
    try builder.append(record: 1) {
      $0.encode(String(repeating: "kept ", count: 40_000), forKey: "text")
    }
    return try Archive.write(try builder.finish(), to: storage, slots: slots, context: context)
  }

  private func archive(_ slots: NewSlot...) throws -> MemoryStorage {
    let storage = MemoryStorage()
    _ = try write(slots, to: storage)
    return storage
  }

  private func opens(_ storage: any ArchiveStorage, _ credential: ArchiveCredential) -> Bool {
    do {
      try Archive.open(storage, with: credential, context: context)?.verifyAll()
      return true
    } catch {
      XCTAssertTrue([.wrongKey, .wrongPassphrase].contains(error.code), "\(error)")
      return false
    }
  }

  private func key(_ byte: UInt8) throws -> ArchiveCredential { .key(try .repeating(byte)) }

  func testSlotsAreListedWithoutAKey() throws {
    let storage = try archive(
      .key(try .repeating(1), reference: 7), .cheap("right", reference: .max), .cheap("left"))
    let slots = try XCTUnwrap(try Archive.slots(of: storage))
    XCTAssertEqual(
      slots.map(\.kind), [.key, .passphrase(try .least()), .passphrase(try .least())])
    XCTAssertEqual(slots.map(\.keyReference), [7, .max, 0])
    XCTAssertEqual(Set(slots).count, 3)
    XCTAssertNil(try Archive.slots(of: MemoryStorage()))
    XCTAssertEqual(
      archiveError { _ = try Archive.slots(of: MemoryStorage([1, 2, 3])) },
      ArchiveError(.notAnArchive, offset: 0, location: "memory"))
  }

  func testEverySlotOpens() throws {
    var slots = try (1...6).map { NewSlot.key(try .repeating($0)) }
    slots += [try .cheap("right"), try .cheap("left")]
    let storage = MemoryStorage()
    _ = try write(slots, to: storage)
    for byte in 1...6 as ClosedRange<UInt8> { XCTAssertTrue(opens(storage, try key(byte))) }
    XCTAssertFalse(opens(storage, try key(7)))
    for text in ["right", "left"] {
      XCTAssertTrue(opens(storage, .passphrase(try Passphrase(text))))
    }
    XCTAssertFalse(opens(storage, .passphrase(try Passphrase("middle"))))
  }

  func testAReferenceThatLiesDecidesNothing() throws {
    let storage = try archive(
      .key(try .repeating(1), reference: 2), .key(try .repeating(2), reference: 1),
      .key(try .repeating(3), reference: 1))
    for byte in 1...3 as ClosedRange<UInt8> { XCTAssertTrue(opens(storage, try key(byte))) }
    XCTAssertFalse(opens(storage, try key(4)))
  }

  private func change(
    _ storage: any ArchiveStorage, _ credential: ArchiveCredential,
    _ body: (ArchiveWriter) throws -> Void
  ) throws {
    try body(try ArchiveWriter.open(storage, with: credential, context: context))
  }

  private func append(_ text: String, record: UInt64, to writer: ArchiveWriter) throws {
    let builder = writer.builder()
    try builder.append(record: record) { $0.encode(text, forKey: "text") }
    try writer.append(builder.finish())
  }

  private func text(
    _ storage: any ArchiveStorage, _ credential: ArchiveCredential, record: UInt64
  ) throws -> String? {
    let archive = try Archive.open(storage, with: credential, context: context)
    return try archive?.record(record)?.decode(String.self, forKey: "text")
  }

  func testASlotIsAddedAndTheContentStaysAsItIs() throws {
    let storage = MemoryStorage()
    let version = try write([.key(try .repeating(1))], to: storage).version
    let before = try XCTUnwrap(storage.bytes)
    try change(storage, key(1)) { writer in
      try writer.addSlot(.cheap("right"))
      XCTAssertEqual(writer.slots, try Archive.slots(of: storage))
      XCTAssertEqual(writer.slots?.map(\.kind), [.key, .passphrase(try .least())])
      XCTAssertEqual(writer.archive?.version, version)
    }
    let after = try XCTUnwrap(storage.bytes)
    XCTAssertEqual(after.body, before.body)
    XCTAssertEqual(after.slots[0], before.slots[0])
    XCTAssertTrue(opens(storage, try key(1)))
    let right = ArchiveCredential.passphrase(try Passphrase("right"))
    XCTAssertTrue(opens(storage, right))
    XCTAssertEqual(try Archive.open(storage, with: right, context: context)?.version, version)
    // And what was added can add in turn.
    try change(storage, right) { try $0.addSlot(.key(try .repeating(2))) }
    XCTAssertTrue(opens(storage, try key(2)))
  }

  func testSlotsChangeBetweenAppendsAndTheJournalGoesOn() throws {
    let storage = MemoryStorage()
    _ = try write([.key(try .repeating(1))], to: storage)
    try change(storage, key(1)) { writer in
      try append("two", record: 2, to: writer)
      let before = try XCTUnwrap(storage.bytes)
      try writer.addSlot(.key(try .repeating(2)))
      XCTAssertEqual(storage.bytes?.body, before.body)
      try append("three", record: 3, to: writer)
      try writer.removeSlot(try XCTUnwrap(writer.slots?.first))
      try append("four", record: 4, to: writer)
    }
    XCTAssertFalse(opens(storage, try key(1)))
    XCTAssertTrue(opens(storage, try key(2)))
    for (record, expected) in [2: "two", 3: "three", 4: "four"] as [UInt64: String] {
      XCTAssertEqual(try text(storage, key(2), record: record), expected)
    }
  }

  func testARemovedSlotDoesNotOpenAnyMore() throws {
    let storage = try archive(.key(try .repeating(1)), .cheap("right"))
    let before = try XCTUnwrap(storage.bytes)
    let slots = try XCTUnwrap(try Archive.slots(of: storage))
    let right = ArchiveCredential.passphrase(try Passphrase("right"))
    try change(storage, right) { writer in
      try writer.removeSlot(slots[0])
      XCTAssertEqual(writer.slots, [slots[1]])
      XCTAssertEqual(
        archiveError { try writer.removeSlot(slots[0]) },
        ArchiveError(.slotMissing, location: "memory"))
    }
    XCTAssertFalse(opens(storage, try key(1)))
    XCTAssertTrue(opens(storage, right))
    XCTAssertEqual(storage.bytes?.body, before.body)
  }

  func testAKeyMayRemoveItsOwnSlot() throws {
    let storage = try archive(.key(try .repeating(1)), .key(try .repeating(2)))
    try change(storage, key(1)) { try $0.removeSlot(try XCTUnwrap($0.slots?.first)) }
    XCTAssertFalse(opens(storage, try key(1)))
    XCTAssertTrue(opens(storage, try key(2)))
  }

  func testTheLastSlotIsNotRemovedButMayBeReplaced() throws {
    let storage = try archive(.cheap("old"))
    let before = try XCTUnwrap(storage.bytes)
    let old = ArchiveCredential.passphrase(try Passphrase("old"))
    try change(storage, old) { writer in
      let slot = try XCTUnwrap(writer.slots?.first)
      XCTAssertEqual(
        archiveError { try writer.removeSlot(slot) }, ArchiveError(.lastSlot, location: "memory"))
      XCTAssertEqual(storage.bytes, before)
      try writer.replaceSlot(slot, with: .cheap("new"))
    }
    XCTAssertEqual(storage.bytes?.body, before.body)
    XCTAssertEqual(storage.bytes?.count, before.count)
    XCTAssertFalse(opens(storage, old))
    XCTAssertTrue(opens(storage, .passphrase(try Passphrase("new"))))
  }

  func testASlotIsReplacedInItsPlaceAlsoWhenAllAreTaken() throws {
    var slots = try (1...6).map { NewSlot.key(try .repeating($0), reference: UInt64($0)) }
    slots.insert(contentsOf: [try .cheap("a"), try .cheap("b", reference: 9)], at: 2)
    let storage = MemoryStorage()
    _ = try write(slots, to: storage)
    try change(storage, key(6)) { writer in
      try writer.replaceSlot(
        try XCTUnwrap(writer.slots?[3]), with: .cheap("c", reference: 10))
      XCTAssertEqual(writer.slots?.map(\.keyReference), [1, 2, 0, 10, 3, 4, 5, 6])
    }
    XCTAssertTrue(opens(storage, .passphrase(try Passphrase("c"))))
    XCTAssertFalse(opens(storage, .passphrase(try Passphrase("b"))))
  }

  func testTooManySlotsAreRefusedBeforeAnyIsPaidFor() throws {
    let slots = try (1...8).map { NewSlot.key(try .repeating($0)) }
    let full = MemoryStorage()
    _ = try write(slots, to: full)
    let twoPassphrases = try archive(.key(try .repeating(1)), .cheap("a"), .cheap("b"))
    for (storage, subject) in [
      (full, "slots of an archive"), (twoPassphrases, "passphrases of an archive"),
    ] {
      let before = storage.bytes
      let passphrase = try Passphrase("c")
      let tries = try PassphraseTries.count {
        try change(storage, key(1)) { writer in
          XCTAssertEqual(
            archiveError { try writer.addSlot(.passphrase(passphrase)) },
            ArchiveError(.limitExceeded, subject: subject, location: "memory"))
        }
      }
      XCTAssertEqual(tries, 0)
      XCTAssertEqual(storage.bytes, before)
    }
    let storage = MemoryStorage()
    XCTAssertEqual(
      archiveError { _ = try write(slots + slots, to: storage) },
      ArchiveError(.limitExceeded, subject: "slots of an archive"))
    XCTAssertEqual(archiveError { _ = try write([], to: storage) }, ArchiveError(.lastSlot))
    XCTAssertNil(storage.bytes)
  }

  func testNothingStoredHasNoSlots() throws {
    let storage = MemoryStorage()
    try change(storage, key(1)) { writer in
      XCTAssertNil(writer.slots)
      XCTAssertEqual(
        archiveError { try writer.addSlot(.key(try .repeating(2))) },
        ArchiveError(.slotMissing, location: "memory"))
      try writer.rotate(slots: [.key(try .repeating(2))])
      XCTAssertNil(storage.bytes)
      try append("one", record: 1, to: writer)
      XCTAssertEqual(writer.slots?.map(\.kind), [.key])
    }
    XCTAssertTrue(opens(storage, try key(1)))
  }

  func testTheSlotsOfAFileChangeWhileItIsRead() throws {
    let directory = try TemporaryDirectory()
    let storage = FileStorage(path: directory.child("a.rka"))
    _ = try write([.key(try .repeating(1))], to: storage)
    let open = try XCTUnwrap(try Archive.open(storage, with: key(1), context: context))
    try change(storage, key(1)) { writer in
      try append("two", record: 2, to: writer)
      try writer.replaceSlot(
        try XCTUnwrap(writer.slots?.first), with: .key(try .repeating(2)))
      try append("three", record: 3, to: writer)
    }
    XCTAssertNoThrow(try open.verifyAll())
    XCTAssertFalse(opens(storage, try key(1)))
    XCTAssertTrue(opens(storage, try key(2)))
    XCTAssertEqual(try text(storage, key(2), record: 3), "three")
    XCTAssertEqual(try directory.names(), ["a.rka"])
  }

  func testSlotsOfAFileThatSomebodyElsePutInPlaceAreLeftAlone() throws {
    let storage = MemoryStorage()
    _ = try write([.key(try .repeating(1))], to: storage)
    try change(storage, key(1)) { writer in
      _ = try write([.key(try .repeating(1))], to: storage)
      let other = storage.bytes
      XCTAssertEqual(
        archiveError { try writer.addSlot(.key(try .repeating(2))) },
        ArchiveError(.outdated, subject: "the file was replaced or removed", location: "memory"))
      XCTAssertEqual(storage.bytes, other)
    }
  }

  func testAChangeOfSlotsThatFailsChangesNothing() throws {
    let good = try archive(.key(try .repeating(1)))
    let storage = FaultyStorage(good.bytes) { call, _ in
      call == .replace ? ArchiveError(.storageFull) : nil
    }
    try change(storage, key(1)) { writer in
      XCTAssertEqual(
        archiveError { try writer.addSlot(.key(try .repeating(2))) },
        ArchiveError(.storageFull, location: "faulty"))
      XCTAssertEqual(writer.slots?.count, 1)
      try append("two", record: 2, to: writer)
    }
    XCTAssertEqual(try text(storage, key(1), record: 2), "two")
    XCTAssertFalse(opens(storage, try key(2)))
  }

  func testCompactionKeepsAllSlotsAndSealsAllAnew() throws {
    let storage = MemoryStorage()
    _ = try write([.key(try .repeating(1)), .cheap("right")], to: storage)
    let before = try XCTUnwrap(storage.bytes)
    let right = try Passphrase("right")
    let tries = try PassphraseTries.count {
      try change(storage, .passphrase(right)) { writer in
        try append("two", record: 2, to: writer)
        try writer.compact()
        try append("three", record: 3, to: writer)
      }
    }
    XCTAssertEqual(tries, 1)
    let after = try XCTUnwrap(storage.bytes)
    XCTAssertEqual(after.slots, before.slots)
    XCTAssertEqual(after[40..<56], before[40..<56])
    XCTAssertNotEqual(after[56..<72], before[56..<72])
    for credential in [try key(1), .passphrase(right)] {
      let archive = try Archive.open(storage, with: credential, context: context)
      XCTAssertEqual(try archive?.recordIdentifiers(), [1, 2, 3])
    }
    // The two files share slots and data key, and still nothing else fits.
    for (header, body) in [(before, after), (after, before)] {
      storage.bytes = header[..<header.headerByteCount] + body.body
      XCTAssertEqual(
        archiveError { _ = try Archive.open(storage, with: key(1), context: context) },
        ArchiveError(.damaged, offset: 416, subject: "commit", location: "memory"))
    }
  }

  func testCompactionMakesANewDataKeyIfTheOnlyKeyIsAtHand() throws {
    let storage = try archive(.key(try .repeating(1), reference: 7))
    let before = try XCTUnwrap(storage.bytes)
    try change(storage, key(1)) { writer in
      try writer.compact()
      try writer.compact()
      XCTAssertEqual(writer.slots?.map(\.keyReference), [7])
    }
    let after = try XCTUnwrap(storage.bytes)
    XCTAssertNotEqual(after[40..<56], before[40..<56])
    XCTAssertNotEqual(after.slots[0][68..<116], before.slots[0][68..<116])
    XCTAssertTrue(opens(storage, try key(1)))
  }

  func testRotationLocksOutWhatIsNotNamed() throws {
    let storage = MemoryStorage()
    _ = try write([.key(try .repeating(1)), .cheap("old")], to: storage)
    let before = try XCTUnwrap(storage.bytes)
    try change(storage, key(1)) { writer in
      try append("two", record: 2, to: writer)
      XCTAssertEqual(
        archiveError { try writer.rotate(slots: []) }, ArchiveError(.lastSlot, location: "memory"))
      try writer.rotate(slots: [.key(try .repeating(2)), .cheap("new")])
      try append("three", record: 3, to: writer)
      XCTAssertEqual(writer.archive?.version.generation, 4)
    }
    XCTAssertFalse(opens(storage, try key(1)))
    XCTAssertFalse(opens(storage, .passphrase(try Passphrase("old"))))
    for credential in [try key(2), .passphrase(try Passphrase("new"))] {
      XCTAssertTrue(opens(storage, credential))
      XCTAssertEqual(try text(storage, credential, record: 3), "three")
    }
    // The old header does not open it either.
    let after = try XCTUnwrap(storage.bytes)
    storage.bytes = before[..<before.headerByteCount] + after.body
    XCTAssertEqual(
      archiveError { _ = try Archive.open(storage, with: key(1), context: context) },
      ArchiveError(.damaged, offset: 416, subject: "commit", location: "memory"))
  }
}
