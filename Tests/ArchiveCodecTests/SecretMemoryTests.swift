import ArchiveCodec
import Foundation
import XCTest

#if os(Linux)
final class SecretMemoryTests: XCTestCase {
  /// The small regions of this process that the system leaves out of core dumps;
  /// larger ones belong to others, such as a sanitizer.
  private func undumpedRegionCount() throws -> Int {
    // A read of the whole file by its path stops where its first piece ends.
    let file = try XCTUnwrap(FileHandle(forReadingAtPath: "/proc/self/smaps"))
    let bytes = try XCTUnwrap(try file.readToEnd())
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    var (count, size) = (0, 0)
    for line in lines {
      let words = line.split(separator: " ")
      if words[0] == "Size:" { size = Int(words[1]) ?? 0 }
      if words[0] == "VmFlags:", words.contains("dd"), size <= 16 { count += 1 }
    }
    return count
  }

  func testKeysAndPassphrasesAreLeftOutOfCoreDumps() throws {
    let count = 64
    var before = try undumpedRegionCount()
    let keys = try (0..<count).map { _ in try ArchiveKey() }
    // Some regions are kept for the next key, so not every key takes a new one.
    XCTAssertGreaterThanOrEqual(try undumpedRegionCount() - before, count - 16)
    before = try undumpedRegionCount()
    let passphrases = try (0..<count).map { try Passphrase("passphrase \($0)") }
    XCTAssertGreaterThanOrEqual(try undumpedRegionCount() - before, count - 16)
    withExtendedLifetime((keys, passphrases)) {}
  }
}
#endif
