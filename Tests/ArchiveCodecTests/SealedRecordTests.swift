import ArchiveCodec
import TestSupport
import XCTest

final class SealedRecordTests: XCTestCase {
  private let context = ArchiveContext(["app", "launch"])

  private func encode(_ encoder: KeyedEncoder) {
    encoder.encode("value", forKey: "text")
    encoder.encode(7, forKey: "number")
  }

  private func sealed(_ key: ArchiveKey) throws -> [UInt8] {
    try SealedRecord.seal(key: key, context: context, encode)
  }

  private func batch() throws -> RecordBatch {
    let builder = RecordBuilder()
    try builder.append(record: 1, encode)
    return try builder.finish()
  }

  private func text(
    _ bytes: [UInt8], _ key: ArchiveKey, _ context: ArchiveContext
  ) throws(ArchiveError) -> String? {
    try SealedRecord.open(bytes, key: key, context: context).values.decodeIfPresent(forKey: "text")
  }

  func testWhatWasSealedComesBackAndBytesBehindItDoNotCount() throws {
    let key = try ArchiveKey()
    let sealed = try sealed(key)
    for behind in [[], [0], [UInt8](repeating: 9, count: 100)] as [[UInt8]] {
      let opened = try SealedRecord.open(sealed + behind, key: key, context: context)
      XCTAssertEqual(opened.byteCount, sealed.count)
      let text: String = try opened.values.decode(forKey: "text")
      let number: Int = try opened.values.decode(forKey: "number")
      XCTAssertEqual(text, "value")
      XCTAssertEqual(number, 7)
    }
  }

  func testARecordIsTheNamesAndTheMapOfABatch() throws {
    let key = try ArchiveKey()
    let random = RandomSource.repeating([7])
    var kept: KeyedEncoder?
    let sealed = try SealedRecord.seal(key: key, context: context, random: random) { encoder in
      encode(encoder)
      kept = encoder
    }
    kept?.encode(8, forKey: "late")
    let (maps, names) = try batch().unsealed
    let plaintext = [UInt8(names.count), 0, 0, 0] + names + maps[0]
    XCTAssertEqual(sealed, try SealedBytes.seal(plaintext, key, context, random))
  }

  func testABodyThatFailsSealsNothing() throws {
    let key = try ArchiveKey()
    let limits = ArchiveLimits(recordByteCount: 100)
    XCTAssertEqual(
      archiveError {
        _ = try SealedRecord.seal(key: key, context: context, limits: limits) { encoder in
          encoder.encode([UInt8](repeating: 1, count: 200), forKey: "bytes")
        }
      }?.code, .limitExceeded)
    XCTAssertThrowsError(
      try SealedRecord.seal(key: key, context: context) { encoder in
        encoder.encode(1, forKey: "a")
        throw CancellationError()
      }
    ) { XCTAssertTrue($0 is CancellationError) }
  }

  func testEachSealIsAnotherOne() throws {
    let key = try ArchiveKey()
    let seals = try (0..<10).map { _ in
      try sealed(key)
    }
    XCTAssertEqual(Set(seals.map { Array($0[12..<36]) }).count, 10, "nonces")
    XCTAssertEqual(Set(seals.map { Array($0[36...]) }).count, 10)
  }

  func testAnotherKeyOrContextDoesNotOpenIt() throws {
    let key = try ArchiveKey()
    let sealed = try sealed(key)
    let other = try ArchiveKey()
    XCTAssertEqual(archiveError { _ = try text(sealed, other, context) }?.code, .damaged)
    for context in [ArchiveContext(["app"]), ArchiveContext(["other", "launch"])] {
      XCTAssertEqual(archiveError { _ = try text(sealed, key, context) }?.code, .damaged)
    }
  }

  func testNoChangedBitIsRead() throws {
    let key = try ArchiveKey()
    let sealed = try sealed(key)
    for index in sealed.indices {
      for bit in 0..<8 {
        var bytes = sealed
        bytes[index] ^= 1 << bit
        let code = archiveError { _ = try text(bytes, key, context) }?.code
        let expected: [ArchiveError.Code] =
          switch index {
          case 0..<8: [.notAnArchive]
          case 8..<12: [.damaged, .truncated]
          default: [.damaged]
          }
        XCTAssertTrue(code.map(expected.contains) == true, "byte \(index), bit \(bit)")
      }
    }
  }

  func testNoPartOfItIsRead() throws {
    let key = try ArchiveKey()
    let sealed = try sealed(key)
    for count in sealed.indices {
      XCTAssertEqual(
        archiveError { _ = try text(Array(sealed[..<count]), key, context) }?.code,
        count < 8 ? .notAnArchive : .truncated, "\(count) bytes")
    }
  }

  func testWhateverAnOwnerOfTheKeyHasSealedIsReadWithoutATrap() throws {
    let key = try ArchiveKey()
    let (maps, names) = try batch().unsealed
    let whole = [UInt8(names.count), 0, 0, 0] + names + maps[0]
    XCTAssertEqual(try text(SealedBytes.seal(whole, key, context), key, context), "value")
    func refuses(_ plaintext: [UInt8]) throws -> Bool {
      let sealed = try SealedBytes.seal(plaintext, key, context)
      let error = archiveError { _ = try text(sealed, key, context) }
      return error.map { [.malformed, .limitExceeded, .typeMismatch].contains($0.code) } ?? false
    }
    for count in 0..<whole.count { XCTAssertTrue(try refuses(Array(whole[..<count]))) }
    for size in [UInt32(whole.count) - 3, 1 << 20, .max] {
      let bytes = (0..<4).map { UInt8(truncatingIfNeeded: size >> (8 * $0)) }
      XCTAssertTrue(try refuses(bytes + whole[4...]))
    }
    for index in whole.indices {
      for value in [0, 1, 0x7F, 0x80, 0xFF] as [UInt8] {
        var bytes = whole
        bytes[index] = value
        do throws(ArchiveError) {
          _ = try text(SealedBytes.seal(bytes, key, context), key, context)
        } catch {
          // Any error will do, and the value may be another one.
        }
      }
    }
  }
}
