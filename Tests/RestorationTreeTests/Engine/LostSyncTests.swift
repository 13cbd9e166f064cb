import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// A sync that fails may lose what an earlier process has written and not synced: the system shows it
/// all the same, and no later sync brings it to the disk.
@MainActor
final class LostSyncTests: XCTestCase {
  func testWhateverFailsInTheFirstChangeOfALaunchTheNextSaveOutlastsAPowerCut() async throws {
    var callCount = 0
    var hasFailed = true
    while hasFailed {
      for seed in 0..<4 as Range<UInt64> {
        let life = try await life(failingAfter: callCount, FaultyDisk(seed: seed))
        XCTAssertEqual(life.found, "5", "call \(callCount), seed \(seed)")
        hasFailed = life.hasFailed
      }
      callCount += 1
    }
    // Among them the write and both syncs.
    XCTAssertGreaterThan(callCount, 6)
  }

  /// Saves on a disk, of which one call fails.
  ///
  /// - Returns: The save that comes back after a power cut, the last one being 5, and whether there was
  ///   a call to fail.
  private func life(
    failingAfter callCount: Int, _ disk: FaultyDisk
  ) async throws -> (found: String?, hasFailed: Bool) {
    let keys = MemoryKeyProvider()
    func launch() throws -> SurvivalOwner {
      try SurvivalOwner(
        disk.process(), keys: keys, version: 1, ArchiveLimits(symbolCount: 1 << 16))
    }
    func save(_ number: Int, by owner: SurvivalOwner) async throws {
      owner.number = number
      // More than the sectors that the next change writes, too.
      owner.root.value = String(repeating: "\(number)", count: 2_000)
      _ = try await owner.keeper.save([owner.root])
    }

    let first = try launch()
    for number in 1...2 { try await save(number, by: first) }
    // The change is written, and the process does not outlive its sync.
    first.process.arm(.endAt(.nothing), after: 1)
    do { try await save(3, by: first) } catch {}
    XCTAssertTrue(first.process.hasEnded)
    first.process.end()

    let second = try launch()
    let restored = try await second.restore().number
    XCTAssertEqual(restored, "3")
    second.process.arm(.failure, after: callCount)
    do { try await save(4, by: second) } catch {}
    let hasFailed = second.process.disarm()
    try await save(5, by: second)
    second.process.end()
    disk.cutPower(leaving: .nothing)
    return (try await launch().restore().number, hasFailed)
  }
}
