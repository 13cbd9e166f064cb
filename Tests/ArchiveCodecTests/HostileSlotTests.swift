import ArchiveCodec
import ArchiveForge
import TestSupport
import XCTest

/// Headers that somebody changed: without the key, where only the checksum can
/// be made to fit, and with it, where the MAC fits too.
final class HostileSlotTests: XCTestCase {
  private func open(_ bytes: [UInt8], _ credential: ArchiveCredential) throws {
    let archive = try Archive.open(
      MemoryStorage(bytes), with: credential, context: ForgedArchive.context)
    try archive?.verifyAll()
  }

  private func error(_ bytes: [UInt8], _ credential: ArchiveCredential) -> ArchiveError? {
    archiveError { try open(bytes, credential) }
  }

  private func archive(_ slots: NewSlot...) throws -> [UInt8] {
    let storage = MemoryStorage()
    _ = try Archive.write(
      try RecordBuilder().finish(), to: storage, slots: slots, context: ForgedArchive.context)
    return try XCTUnwrap(storage.bytes)
  }

  private func key(_ byte: UInt8) throws -> ArchiveCredential { .key(try .repeating(byte)) }

  private func writer(_ storage: MemoryStorage, _ byte: UInt8) throws -> ArchiveWriter {
    try ArchiveWriter.open(storage, with: key(byte), context: ForgedArchive.context)
  }

  private func passphrase(_ text: String) throws -> ArchiveCredential {
    .passphrase(try Passphrase(text))
  }

  func testEverySingleBitFlipInAPassphraseHeaderIsRefused() throws {
    let bytes = try archive(.cheap("right"))
    let right = try passphrase("right")
    for position in 0..<bytes.headerByteCount {
      for bit in 0..<8 {
        let changed = bytes.replacing(position..<position + 1, with: [bytes[position] ^ 1 << bit])
        let tries = PassphraseTries.count {
          XCTAssertNotNil(error(changed, right), "byte \(position) bit \(bit)")
        }
        XCTAssertEqual(tries, 0, "byte \(position) bit \(bit)")
      }
    }
  }

  func testEverySingleBitFlipUnderAChecksumThatFitsIsRefused() throws {
    let bytes = try archive(.cheap("right"))
    let right = try passphrase("right")
    // What a raised cost costs is for another test.
    let costBytes = 132..<140
    for position in 40..<bytes.headerByteCount where !costBytes.contains(position) {
      for bit in 0..<8 {
        let changed = bytes.replacing(position..<position + 1, with: [bytes[position] ^ 1 << bit])
          .withFittingChecksum()
        let tries = PassphraseTries.count {
          let code = error(changed, right)?.code
          XCTAssertNotNil(code, "byte \(position) bit \(bit)")
          XCTAssertNotEqual(code, .malformed, "byte \(position) bit \(bit)")
        }
        XCTAssertLessThanOrEqual(tries, 1)
      }
    }
  }

  func testAChangedSlotIsRefusedForWhatIsWrong() throws {
    let bytes = try archive(.cheap("right"))
    let right = try passphrase("right")
    func code(_ offset: Int, _ new: [UInt8]) -> ArchiveError.Code? {
      let slot = bytes.slots[0].replacing(offset..<offset + new.count, with: new)
      return error(bytes.withSlots([slot]), right)?.code
    }
    // The salt, the commitment, and a cost within the limits.
    for (offset, new) in [(12, [1]), (36, [1]), (67, [1]), (4, [3]), (8, [1])] as [(Int, [UInt8])] {
      let old = Array(bytes.slots[0][offset..<offset + new.count])
      XCTAssertEqual(code(offset, zip(old, new).map { $0 ^ $1 }), .wrongPassphrase, "\(offset)")
    }
    // The box, the key check and the reference.
    for offset in [28, 68, 115, 116] {
      XCTAssertEqual(code(offset, [bytes.slots[0][offset] ^ 1]), .damaged, "\(offset)")
    }
    // Lanes, zeros.
    for offset in [1, 2, 3, 124, 127] {
      XCTAssertEqual(code(offset, [7]), .unsupportedFeature, "\(offset)")
    }
    // No passphrase any more.
    XCTAssertEqual(code(0, [9]), .wrongKey)
    XCTAssertEqual(code(0, [1]), .unsupportedFeature)
  }

  func testACostOutsideOfTheLimitsIsRefusedBeforeItIsPaid() throws {
    let bytes = try archive(.cheap("right"), .key(try .repeating(1)))
    func little(_ number: UInt32) -> [UInt8] {
      (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
    func code(_ offset: Int, _ new: [UInt8]) throws -> ArchiveError.Code? {
      var slots = bytes.slots
      slots[0].replaceSubrange(offset..<offset + new.count, with: new)
      var codes: Set<ArchiveError.Code?> = []
      for credential in [try passphrase("right"), try key(1)] {
        let tries = PassphraseTries.count {
          codes.insert(error(bytes.withSlots(slots), credential)?.code)
        }
        XCTAssertEqual(tries, 0)
      }
      return codes.count == 1 ? codes.first ?? nil : nil
    }
    for passes in [0, 17, 1 << 31, .max] as [UInt32] {
      XCTAssertEqual(try code(4, little(passes)), .limitExceeded, "\(passes) passes")
    }
    for kibibytes in [0, 7, 256 << 10 + 1, 1 << 20 + 1, 1 << 31, .max] as [UInt32] {
      XCTAssertEqual(try code(8, little(kibibytes)), .limitExceeded, "\(kibibytes) KiB")
    }
    for lanes in [0, 2, 255] as [UInt8] {
      XCTAssertEqual(try code(1, [lanes]), .unsupportedFeature, "\(lanes) lanes")
    }
    // A slot for a key has no cost.
    let slot = bytes.slots[1]
    for offset in 1..<12 {
      let changed = bytes.withSlots([slot.replacing(offset..<offset + 1, with: [1])])
      XCTAssertEqual(
        error(changed, try key(1)),
        ArchiveError(.unsupportedFeature, offset: 128, subject: "key slot", location: "memory"),
        "\(offset)")
    }
  }

  func testACostThatTheReaderDoesNotWantToPayIsNotPaid() throws {
    let bytes = try archive(.cheap("right"), .key(try .repeating(1)))
    var slots = bytes.slots
    // 16 passes and 256 MiB, which the format allows.
    slots[0].replaceSubrange(4..<12, with: [16, 0, 0, 0, 0, 0, 4, 0])
    let dear = bytes.withSlots(slots)
    for text in ["right", "wrong"] {
      let credential = try passphrase(text)
      let tries = PassphraseTries.count {
        XCTAssertEqual(
          error(dear, credential),
          ArchiveError(.limitExceeded, subject: "cost of a passphrase", location: "memory"))
      }
      XCTAssertEqual(tries, 0)
    }
    // The key is not asked for it, but the header is not what was sealed.
    XCTAssertEqual(
      error(dear, try key(1)),
      ArchiveError(.damaged, offset: 384, subject: "header", location: "memory"))
  }

  func testOfTwoPassphrasesTheOneWithinTheLimitsOpens() throws {
    let dear = try PassphraseCost(passes: 2, kibibytes: 8)
    let wide = try PassphraseCost(passes: 1, kibibytes: 9)
    for cost in [dear, wide] {
      let bytes = try archive(
        .passphrase(try Passphrase("dear"), cost: cost), .cheap("cheap"))
      let limits = ArchiveLimits(passphraseCost: try .least())
      func open(_ text: String) throws -> Archive? {
        try Archive.open(
          MemoryStorage(bytes), with: passphrase(text), context: ForgedArchive.context,
          limits: limits)
      }
      XCTAssertNotNil(try open("cheap"))
      XCTAssertEqual(
        archiveError { _ = try open("dear") },
        ArchiveError(.limitExceeded, subject: "cost of a passphrase", location: "memory"))
      XCTAssertEqual(
        archiveError { _ = try open("neither") },
        ArchiveError(.limitExceeded, subject: "cost of a passphrase", location: "memory"))
      XCTAssertNotNil(try self.open(bytes, passphrase("dear")))
    }
  }

  func testOfEightPassphrasesTwoAreTried() throws {
    let forged = try ForgedArchive([.cheap("1")])
    let slots = try (1...8).flatMap { try ForgedArchive([.cheap("\($0)")]).bytes.slots }
    let bytes = forged.with(slots: slots)
    for (text, code, count) in [
      ("1", nil, 1), ("2", nil, 2), ("3", .wrongPassphrase, 2), ("8", .wrongPassphrase, 2),
      ("9", .wrongPassphrase, 2),
    ] as [(String, ArchiveError.Code?, Int)] {
      let credential = try passphrase(text)
      let tries = try PassphraseTries.count {
        if let code {
          XCTAssertEqual(error(bytes, credential)?.code, code, text)
        } else {
          XCTAssertNoThrow(try open(bytes, credential), text)
        }
      }
      XCTAssertEqual(tries, count, text)
    }
  }

  func testSlotsOfOtherArchivesUnderTheSameKeysAreRefused() throws {
    let one = try archive(.key(try .repeating(1)), .cheap("right"))
    let other = try archive(.key(try .repeating(1)), .cheap("right"))
    let swapped = one.withSlots(other.slots)
    XCTAssertEqual(error(swapped, try key(1)), ArchiveError(.wrongKey, location: "memory"))
    XCTAssertEqual(
      error(swapped, try passphrase("right")), ArchiveError(.wrongPassphrase, location: "memory"))
    // One of them, and its own.
    let mixed = one.withSlots([one.slots[0], other.slots[1]])
    XCTAssertEqual(
      error(mixed, try key(1)),
      ArchiveError(.damaged, offset: 384, subject: "header", location: "memory"))
    XCTAssertEqual(
      error(mixed, try passphrase("right")), ArchiveError(.wrongPassphrase, location: "memory"))
    // A whole header before the body of another.
    let header = Array(other[..<other.headerByteCount])
    XCTAssertEqual(
      error(header + one.body, try key(1)),
      ArchiveError(.damaged, offset: 416, subject: "commit", location: "memory"))
    XCTAssertEqual(
      error(header + one.body, try passphrase("right")),
      ArchiveError(.damaged, offset: 416, subject: "commit", location: "memory"))
  }

  func testSlotsThatAreDoubledMovedOrRemovedWithoutTheKeyAreRefused() throws {
    let bytes = try archive(.key(try .repeating(1)), .cheap("right"))
    let slots = bytes.slots
    for changed in [
      [slots[0], slots[0]], [slots[0]], [slots[1], slots[0]], slots + slots, slots + [slots[1]],
      slots + [[UInt8](repeating: 9, count: 128)],
    ] {
      XCTAssertEqual(error(bytes.withSlots(changed), try key(1))?.code, .damaged)
    }
    XCTAssertEqual(
      error(bytes.withSlots([slots[1], slots[1]]), try passphrase("right")),
      ArchiveError(.damaged, offset: 384, subject: "header", location: "memory"))
  }

  func testDoubledSlotsOfWhoHasTheKeyOpenAndGoTogether() throws {
    let forged = try ForgedArchive([.key(try .repeating(1)), .cheap("right")])
    let slots = forged.bytes.slots
    let bytes = forged.with(slots: [slots[0], slots[0], slots[1]])
    XCTAssertNoThrow(try open(bytes, try key(1)))
    let storage = MemoryStorage(bytes)
    let listed = try XCTUnwrap(try Archive.slots(of: storage))
    XCTAssertEqual(listed[0], listed[1])
    try writer(storage, 1).removeSlot(listed[1])
    XCTAssertEqual(try Archive.slots(of: storage), [listed[2]])
    XCTAssertEqual(
      error(try XCTUnwrap(storage.bytes), try key(1)),
      ArchiveError(.wrongKey, subject: "it takes no key", location: "memory"))
  }

  func testSlotsOfAnUnknownTypeAreSkippedAndKept() throws {
    let forged = try ForgedArchive([.key(try .repeating(1)), .cheap("right")])
    let slots = forged.bytes.slots
    let unknown = (0..<128).map { UInt8($0 + 9) }
    let bytes = forged.with(slots: [unknown, slots[0], unknown, slots[1]])
    XCTAssertNoThrow(try open(bytes, try key(1)))
    XCTAssertNoThrow(try open(bytes, try passphrase("right")))
    let storage = MemoryStorage(bytes)
    let listed = try XCTUnwrap(try Archive.slots(of: storage))
    XCTAssertEqual(listed.map(\.kind), [.unknown, .key, .unknown, .passphrase(try .least())])
    XCTAssertEqual(listed.map(\.keyReference), [0, 0, 0, 0])
    func remove(_ slot: ArchiveSlot) throws { try writer(storage, 1).removeSlot(slot) }
    try remove(listed[3])
    XCTAssertEqual(storage.bytes?.slots, [unknown, slots[0], unknown])
    // What is left then opens with nothing that this version knows.
    XCTAssertEqual(
      archiveError { try remove(listed[1]) }, ArchiveError(.lastSlot, location: "memory"))
    XCTAssertNoThrow(try open(try XCTUnwrap(storage.bytes), try key(1)))
    XCTAssertEqual(
      error(forged.with(slots: [unknown]), try key(1)),
      ArchiveError(.wrongKey, subject: "it takes no key", location: "memory"))
  }

  func testWhatANewerVersionPutIntoTheHeaderStaysOrForbidsTheChange() throws {
    let forged = try ForgedArchive([.key(try .repeating(1))])
    func change(_ bytes: [UInt8]) throws -> [UInt8]? {
      let storage = MemoryStorage(bytes)
      try writer(storage, 1).addSlot(.key(try .repeating(2)))
      return storage.bytes
    }
    let newer = ForgedArchive.authentic(
      forged.bytes.replacing(9..<10, with: [3]).replacing(20..<24, with: [1, 2, 3, 4]))
    let changed = try XCTUnwrap(try change(newer))
    XCTAssertEqual(changed[9], 3)
    XCTAssertEqual(changed[20..<24], [1, 2, 3, 4])
    XCTAssertNoThrow(try open(changed, try key(2)))
    let forbidden = ForgedArchive.authentic(forged.bytes.replacing(19..<20, with: [128]))
    XCTAssertNoThrow(try open(forbidden, try key(1)))
    XCTAssertEqual(
      archiveError { _ = try change(forbidden) },
      ArchiveError(
        .unsupportedFeature, subject: "feature that a writer must know", location: "memory"))
  }

  /// The constants are from Tests/Tools/two-key-box.py.
  func testABoxThatOpensUnderTwoKeysOpensWithTheCommittedOneOnly() throws {
    let commitments = try [
      bytes("898107365e11cda191d8d5110e085be411a23a8d24033c9fdb058e0fda947b19"),
      bytes("8dbe8bec677c9ebee9968b48b55c60d6f6e60dd9e3d78be14abd1f1a114a0438"),
    ]
    let box = try bytes(
      "c804ce198ec337e3dc762bdd1a09aece0106ac6e61ab0839794a608d705a3d53"
        + "bf50bd92b5e6962adae12b1221192ddd")
    let forged = try ForgedArchive([.key(try .repeating(1))])
    let slot = forged.bytes.slots[0].replacing(68..<116, with: box)
    XCTAssertEqual(Array(slot[36..<68]), commitments[0])
    for (committed, commitment) in commitments.enumerated() {
      let changed = forged.bytes.withSlots([slot.replacing(36..<68, with: commitment)])
      for place in commitments.indices {
        // Where the box opens it gives a data key, to which the MAC is wrong.
        let expected =
          place == committed
          ? ArchiveError(.damaged, offset: 256, subject: "header", location: "memory")
          : ArchiveError(.wrongKey, location: "memory")
        XCTAssertEqual(error(changed, try key(UInt8(place + 1))), expected)
      }
    }
    let uncommitted = slot.replacing(36..<68, with: [UInt8](repeating: 0, count: 32))
    for byte in 1...2 as ClosedRange<UInt8> {
      XCTAssertEqual(
        error(forged.bytes.withSlots([uncommitted]), try key(byte)),
        ArchiveError(.wrongKey, location: "memory"))
    }
    // A box that opens under neither is refused as such.
    let damaged = forged.bytes.withSlots([slot.replacing(68..<69, with: [slot[68] ^ 1])])
    XCTAssertEqual(
      error(damaged, try key(1)),
      ArchiveError(.damaged, subject: "key slot", location: "memory"))
  }

  func testTheMACOfAnOlderHeaderDoesNotFitOtherSlots() throws {
    let storage = MemoryStorage(try archive(.key(try .repeating(1))))
    let old = try XCTUnwrap(storage.bytes)
    try writer(storage, 1).addSlot(.key(try .repeating(2)))
    let new = try XCTUnwrap(storage.bytes)
    let oldMAC = old[256..<288]
    let mixed = new.replacing(384..<416, with: Array(oldMAC)).withFittingChecksum()
    for byte in 1...2 as ClosedRange<UInt8> {
      XCTAssertEqual(
        error(mixed, try key(byte)),
        ArchiveError(.damaged, offset: 384, subject: "header", location: "memory"))
    }
    // The added slot is not taken back without the key either.
    XCTAssertEqual(
      error(new.withSlots(old.slots), try key(1)),
      ArchiveError(.damaged, offset: 256, subject: "header", location: "memory"))
  }

  /// A change of the slots does not revoke: that takes a new data key.
  func testAnOldHeaderThatIsPutBackOpensWithTheOldKey() throws {
    let storage = MemoryStorage(try archive(.key(try .repeating(1))))
    let old = try XCTUnwrap(storage.bytes)
    let slot = try XCTUnwrap(try Archive.slots(of: storage)?.first)
    try writer(storage, 1).replaceSlot(slot, with: .key(try .repeating(2)))
    let new = try XCTUnwrap(storage.bytes)
    let putBack = Array(old[..<old.headerByteCount]) + new.body
    XCTAssertNoThrow(try open(putBack, try key(1)))
    XCTAssertEqual(error(putBack, try key(2)), ArchiveError(.wrongKey, location: "memory"))
  }

  private func bytes(_ hex: String) throws -> [UInt8] {
    try stride(from: 0, to: hex.count, by: 2).map { place in
      try XCTUnwrap(UInt8(hex.dropFirst(place).prefix(2), radix: 16))
    }
  }
}
