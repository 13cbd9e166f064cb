import ArchiveCodec
import Foundation
import TestSupport
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

  func testPackedKeysShareRegionsThatAreLeftOutOfCoreDumps() throws {
    let before = try undumpedRegionCount()
    let keys = try (0..<1270).map { _ in try ArchiveKey().packed() }
    // Ten pages; a few regions are kept for the next key that is not packed.
    let count = try undumpedRegionCount() - before
    XCTAssertGreaterThanOrEqual(count, 9)
    XCTAssertLessThanOrEqual(count, 10 + 16)
    withExtendedLifetime(keys) {}
  }

  func testKeysOfOpenArchivesShareRegionsThatAreLeftOutOfCoreDumps() throws {
    let (key, context) = (try ArchiveKey(), ArchiveContext(["app"]))
    let storage = MemoryStorage()
    _ = try Archive.write(RecordBuilder().finish(), to: storage, key: key, context: context)
    let before = try undumpedRegionCount()
    let archives = try (0..<1000).map { _ in
      try Archive.open(storage, key: key, context: context)
    }
    // Each has one key, and a region has room for 31; some may have been free before.
    let count = try undumpedRegionCount() - before
    XCTAssertGreaterThanOrEqual(count, 20)
    XCTAssertLessThanOrEqual(count, 33)
    withExtendedLifetime(archives) {}
  }
}
#endif

/// Keys that share pages.
final class PackedKeyTests: XCTestCase {
  func testThereIsRoomForMorePackedKeysThanForRegionsOfTheirOwn() throws {
    let key = try ArchiveKey()
    let keys = try (0..<30_000).map { _ in try key.packed() }
    XCTAssertTrue(keys.allSatisfy { $0.isSame(as: key) })
  }

  func testEachKeyIsAsItWasWhileOthersComeAndGo() throws {
    var random = SeededGenerator()
    var pairs: [(ArchiveKey, ArchiveKey)] = []
    for step in 0..<3000 {
      if pairs.count < 5 || pairs.count < 400 && Int.random(in: 0..<5, using: &random) > 1 {
        let key = try ArchiveKey()
        pairs.append((key, try key.packed()))
      } else {
        pairs.remove(at: .random(in: 0..<pairs.count, using: &random))
      }
      guard step.isMultiple(of: 100) else { continue }
      for (key, packed) in pairs {
        XCTAssertTrue(packed.isSame(as: key), "seed \(random.seed), step \(step)")
      }
      for ((key, _), (_, packed)) in zip(pairs, pairs.dropFirst()) {
        XCTAssertFalse(packed.isSame(as: key), "seed \(random.seed), step \(step)")
      }
    }
  }

  func testManyPackKeysAtOnce() async throws {
    let key = try ArchiveKey()
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<50 {
            let keys = try (0..<20).map { _ in try key.packed() }
            guard keys.allSatisfy({ $0.isSame(as: key) }) else { return false }
          }
          return true
        }
      }
      for try await isSame in group { XCTAssertTrue(isSame) }
    }
  }

  func testAPackedKeyOpensWhatTheKeyHasSealed() throws {
    let (key, context) = (try ArchiveKey(), ArchiveContext(["app"]))
    let storage = MemoryStorage()
    _ = try Archive.write(RecordBuilder().finish(), to: storage, key: key, context: context)
    XCTAssertNotNil(try Archive.open(storage, key: key.packed(), context: context))
    XCTAssertThrowsError(
      try Archive.open(storage, key: ArchiveKey().packed(), context: context))
  }
}
