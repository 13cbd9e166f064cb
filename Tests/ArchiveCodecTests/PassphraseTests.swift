import ArchiveCodec
import ArchiveForge
import Foundation
import TestSupport
import XCTest

final class PassphraseTests: PassphraseTestCase {
  private func text(_ storage: MemoryStorage, _ credential: ArchiveCredential) throws -> String? {
    let archive = try Archive.open(storage, with: credential, context: context)
    return try archive?.record(1)?.decode(String.self, forKey: "text")
  }

  private func passphrase(moving bytes: [UInt8]) throws -> Passphrase {
    var bytes = bytes
    return try bytes.withUnsafeMutableBytes { try Passphrase(moving: $0) }
  }

  func testAPassphraseOpensWhatItSealed() throws {
    let storage = try archive(.cheap("correct horse"))
    XCTAssertEqual(try text(storage, .passphrase(try Passphrase("correct horse"))), "kept")
    XCTAssertEqual(
      try text(storage, .passphrase(try passphrase(moving: Array("correct horse".utf8)))), "kept")
  }

  func testAWrongPassphraseKeyAndContextAreToldApart() throws {
    let onlyPassphrase = try archive(.cheap("right"))
    let onlyKey = try archive(.key(try .repeating(1)))
    let both = try archive(.key(try .repeating(1)), .cheap("right"))
    let wrong = ArchiveCredential.passphrase(try Passphrase("wrong"))
    let key = ArchiveCredential.key(try .repeating(2))
    func error(_ storage: MemoryStorage, _ credential: ArchiveCredential) -> ArchiveError? {
      archiveError { _ = try text(storage, credential) }
    }
    for storage in [onlyPassphrase, both] {
      XCTAssertEqual(error(storage, wrong), ArchiveError(.wrongPassphrase, location: "memory"))
    }
    for storage in [onlyKey, both] {
      XCTAssertEqual(error(storage, key), ArchiveError(.wrongKey, location: "memory"))
    }
    XCTAssertEqual(
      error(onlyPassphrase, key),
      ArchiveError(.wrongKey, subject: "it takes no key", location: "memory"))
    XCTAssertEqual(
      error(onlyKey, wrong),
      ArchiveError(.wrongKey, subject: "it takes no passphrase", location: "memory"))
    XCTAssertEqual(
      archiveError {
        _ = try Archive.open(
          onlyPassphrase, with: .passphrase(try Passphrase("right")),
          context: ArchiveContext(["org.example.test", "other"]))
      }, ArchiveError(.wrongContext, location: "memory"))
  }

  func testAPassphraseIsPaidForOnlyWhenItIsTried() throws {
    let (key, right) = (try ArchiveKey(), try Passphrase("right"))
    let cost = try PassphraseCost(passes: 3, kibibytes: 64)
    var storage = MemoryStorage()
    let sealing = try PassphraseTries.count {
      storage = try archive(.key(key), .passphrase(right, cost: cost))
    }
    XCTAssertEqual(sealing, 1)
    let openingWithTheKey = try PassphraseTries.count {
      XCTAssertEqual(try text(storage, .key(key)), "kept")
      XCTAssertEqual(try Archive.slots(of: storage)?.last?.kind, .passphrase(cost))
    }
    XCTAssertEqual(openingWithTheKey, 0)
    let opening = try PassphraseTries.count {
      XCTAssertEqual(try text(storage, .passphrase(right)), "kept")
    }
    XCTAssertEqual(opening, 1)
  }

  func testEveryByteOfAPassphraseCounts() throws {
    let passphrases: [[UInt8]] = [
      [0], [0, 0], Array("a".utf8), Array("a\0".utf8), Array("a\0b".utf8), [0xFF], [0xC3, 0x28],
      Array("\u{E9}".utf8), Array("e\u{301}".utf8), [UInt8](repeating: 0x61, count: 1 << 20),
      [UInt8](repeating: 0x61, count: 1 << 20 - 1),
    ]
    for (place, bytes) in passphrases.enumerated() {
      let storage = try archive(
        .passphrase(try passphrase(moving: bytes), cost: try .least()))
      for (otherPlace, other) in passphrases.enumerated() {
        let opened = try? text(storage, .passphrase(try passphrase(moving: other)))
        XCTAssertEqual(opened != nil, place == otherPlace, "\(place) with \(otherPlace)")
      }
    }
  }

  func testAnEmptyOrTooLongPassphraseIsRefused() throws {
    XCTAssertEqual(archiveError { _ = try Passphrase("") }, ArchiveError(.passphraseEmpty))
    XCTAssertEqual(
      archiveError { _ = try passphrase(moving: []) }, ArchiveError(.passphraseEmpty))
    XCTAssertEqual(
      archiveError { _ = try Passphrase(String(repeating: "a", count: 1 << 20 + 1)) },
      ArchiveError(.limitExceeded, subject: "bytes of a passphrase"))
  }

  func testMovedBytesAreWipedAlsoWhenTheyAreRefused() throws {
    for count in [1, 12, Passphrase.largestByteCount + 1] {
      var bytes = [UInt8](repeating: 0x61, count: count)
      _ = bytes.withUnsafeMutableBytes { try? Passphrase(moving: $0) }
      XCTAssertTrue(bytes.allSatisfy { $0 == 0 }, "\(count)")
    }
  }

  func testAKeyOfAnotherSizeIsRefused() {
    for count in [0, 31, 33, 64] {
      XCTAssertEqual(
        archiveError { _ = try ArchiveKey.repeating(1, count: count) }, ArchiveError(.keyDamaged))
    }
  }

  func testACostOutsideOfTheLimitsIsRefused() throws {
    let refused = ArchiveError(.limitExceeded, subject: "cost of a passphrase")
    for passes in [Int.min, -1, 0, 17, 1 << 32, .max] {
      XCTAssertEqual(
        archiveError { _ = try PassphraseCost(passes: passes, kibibytes: 8) }, refused)
    }
    for kibibytes in [Int.min, -8, 0, 7, 256 << 10 + 1, 1 << 32, .max] {
      XCTAssertEqual(
        archiveError { _ = try PassphraseCost(passes: 1, kibibytes: kibibytes) }, refused)
    }
    XCTAssertEqual(try PassphraseCost(passes: 2, kibibytes: 65536), .interactive)
    XCTAssertEqual(try PassphraseCost(passes: 3, kibibytes: 262144), .moderate)
  }

  func testNothingOfAPassphraseIsInADescription() throws {
    let passphrase = try Passphrase("correct horse")
    for text in [
      "\(passphrase)", String(reflecting: ArchiveCredential.passphrase(passphrase)),
      String(reflecting: try NewSlot.cheap("correct horse")),
    ] {
      XCTAssertFalse(text.contains("horse"), text)
    }
  }

  /// The constants are from Tests/Tools/two-key-box.py, which follows the
  /// specification.
  func testAPassphraseSlotIsWhatTheSpecificationSays() throws {
    let forged = try ForgedArchive([.cheap("correct horse\0", reference: 0x0102_0304)])
    let slot = try XCTUnwrap(forged.bytes.slots.first)
    XCTAssertEqual(
      slot.map { String(format: "%02x", $0) }.joined(),
      "02010000010000000800000007070707070707070707070707070707040302010000000022a7b336aee987a8"
        + "8bdd72964703e48fa5899a4c6ad311f1439865ccacd1aa0ab33208f741bde5bf19a25fc5b2f3222f1f5fc64d"
        + "49e0667a3d4d2c77f8dbddd99c57f2f5dcd1f99674b4533f2df92d9a2b8e8366d659b4fa00000000")
  }
}
