import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// A process is killed while it removes something, the next one is told that it is gone, and
/// the power fails: it stays gone.
@MainActor
final class DiscardPowerTests: XCTestCase {
  private let keys = MemoryKeyProvider()

  private func keeper(_ process: DiskProcess) throws -> StateKeeper {
    try StateKeeper(application: Launch.application, directory: process, keys: keys)
  }

  /// Ends a process at each call of a discard in turn, lets another one do the same whole, and
  /// cuts the power.
  func testAStateThatIsDiscardedAfterADiscardThatWasKilledStaysGone() async throws {
    var random = SeededGenerator()
    var callCount = 0
    var isWhole = false
    while !isWhole {
      for _ in 0..<20 {
        let disk = FaultyDisk(seed: random.next())
        let first = disk.process()
        let saving = try keeper(first)
        _ = try await saving.save([TestNode("a", value: "1")])
        await saving.close()
        first.end()
        let killed = disk.process()
        killed.arm(.end, after: callCount)
        let message = "TEST_SEED=\(random.seed), killed at call \(callCount)"
        do { try await keeper(killed).discardState() } catch {
          XCTAssertTrue(killed.hasEnded, "\(message): \(error)")
        }
        isWhole = !killed.hasEnded
        killed.end()
        let next = disk.process()
        try await keeper(next).discardState()
        next.end()
        disk.cutPower()
        let report = try await keeper(disk.process()).restore(into: [TestNode("a")])
        XCTAssertEqual(report.outcome, .noArchive, message)
      }
      callCount += 1
    }
    XCTAssertGreaterThan(callCount, 5)
  }
}
