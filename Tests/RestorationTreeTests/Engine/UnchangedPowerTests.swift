import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// A process is killed while it saves, the next one restores that, has nothing to change, and says
/// that it is saved; then the power fails.
@MainActor
final class UnchangedPowerTests: XCTestCase {
  private let keys = MemoryKeyProvider()

  private func keeper(_ process: DiskProcess) throws -> StateKeeper {
    try StateKeeper(
      application: Launch.application, directory: process, keys: keys,
      now: { Date(timeIntervalSince1970: 1_800_000_000) })
  }

  /// A disk on which a process has saved and was killed while it saved the next value; nil if the
  /// call was not made.
  private func disk(
    _ seed: UInt64, killedAt callCount: Int, replaces: Bool
  ) async throws -> FaultyDisk? {
    let disk = FaultyDisk(seed: seed)
    var process = disk.process()
    var saving = try keeper(process)
    let root = TestNode("a")
    for value in ["1", "2"] {
      root.value = value
      _ = try await saving.save([root])
    }
    if replaces {
      // A process that has restored nothing writes the state anew.
      process.end()
      process = disk.process()
      saving = try keeper(process)
    }
    process.arm(.end, after: callCount)
    root.value = "3"
    do {
      _ = try await saving.save([root])
    } catch {
      // The process has ended.
    }
    guard process.hasEnded else { return nil }
    process.end()
    return disk
  }

  func testWhatIsSaidToBeSavedWithoutAChangeSurvivesAPowerCut() async throws {
    var random = SeededGenerator()
    for replaces in [false, true] {
      for callCount in 0... {
        var wasMade = false
        for _ in 0..<10 {
          guard
            let disk = try await disk(random.next(), killedAt: callCount, replaces: replaces)
          else { break }
          wasMade = true
          let message = "TEST_SEED=\(random.seed), \(replaces), killed at call \(callCount)"
          let process = disk.process()
          let (next, root) = (try keeper(process), TestNode("a"))
          _ = try await next.restore(into: [root])
          let report = try await next.save([root])
          XCTAssertEqual(report.outcome, .saved, message)
          XCTAssertTrue(["2", "3"].contains(root.value), message)
          process.end()
          disk.cutPower()
          let last = TestNode("a")
          let restoring = disk.process()
          _ = try await keeper(restoring).restore(into: [last])
          restoring.end()
          XCTAssertEqual(last.value, root.value, message)
        }
        guard !wasMade else { continue }
        XCTAssertGreaterThan(callCount, replaces ? 10 : 2)
        break
      }
    }
  }
}
