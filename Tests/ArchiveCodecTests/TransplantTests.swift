import ArchiveCodec
import ArchiveForge
import TestSupport
import XCTest

/// Parts of one archive put into another that looks the same from outside: the
/// same master key, archive identifier and file salt, but its own data key.
final class TransplantTests: XCTestCase {
  private static let contextFields = ["org.example.test", "main"]
  private let context = ArchiveContext(contextFields)

  private struct Parts {
    let header: [UInt8]
    let snapshot: [UInt8]
    let change: [UInt8]
  }

  /// The identifier and the salt are taken first, 16 bytes each.
  private func archive(_ key: [UInt8], value: UInt8) -> Parts {
    let fixed = FirstBytes()
    let random = RandomSource { bytes, count in
      if fixed.isNext() {
        bytes.initializeMemory(as: UInt8.self, repeating: 7, count: count)
      } else {
        for place in 0..<count {
          bytes.storeBytes(of: .random(in: 0...255), toByteOffset: place, as: UInt8.self)
        }
      }
    }
    let snapshot = HostileContent { $0.records = [(1, HostileContent.map([value]))] }
    let change = HostileContent { content in
      (content.records, content.symbols) = ([(2, HostileContent.map([value]))], [1])
    }
    let bytes = UncheckedArchive([snapshot.commit(), change.commit(flags: 2)]).sealed(
      key: key, context: Self.contextFields, random: random)
    // A trailer has 64 bytes, and the length of its commit from byte 16 on.
    let lengthOffset = bytes.count - 64 + 16
    let length = bytes[lengthOffset..<lengthOffset + 8].reversed().reduce(0) { $0 << 8 | Int($1) }
    let split = bytes.count - length
    return Parts(
      header: Array(bytes[..<bytes.headerByteCount]),
      snapshot: Array(bytes[bytes.headerByteCount..<split]), change: Array(bytes[split...]))
  }

  private final class FirstBytes: @unchecked Sendable {
    private var count = 0

    func isNext() -> Bool {
      count += 1
      return count <= 2
    }
  }

  private func code(_ key: ArchiveKey, _ bytes: [UInt8]) -> ArchiveError.Code? {
    archiveError {
      try Archive.open(MemoryStorage(bytes), key: key, context: context)?.verifyAll()
    }?.code
  }

  func testACommitOfATwinIsRefused() throws {
    let keyBytes = [UInt8](0..<32)
    let key = try ArchiveKey.known(keyBytes)
    let one = archive(keyBytes, value: 1)
    let other = archive(keyBytes, value: 2)
    XCTAssertEqual(one.header[40..<72], other.header[40..<72])
    XCTAssertEqual(code(key, one.header + other.snapshot), .damaged)
    XCTAssertEqual(code(key, one.header + other.snapshot + other.change), .damaged)
    XCTAssertEqual(code(key, one.header + one.snapshot + other.change), .damaged)
    XCTAssertEqual(code(key, one.header + other.snapshot + one.change), .damaged)
    let recovered = try XCTUnwrap(
      try Archive.open(
        MemoryStorage(one.header + one.snapshot + other.change), key: key, context: context,
        recovery: .recover))
    XCTAssertEqual(try recovered.recordIdentifiers(), [1])
    XCTAssertEqual(recovered.dropped, ArchiveError(.damaged, offset: 452, subject: "commit"))
  }
}
