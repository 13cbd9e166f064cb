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

  private func node(_ value: String? = nil) -> SensitiveNode {
    SensitiveNode("a") { coder in
      if let value { coder.encode(value, forKey: "secret", sensitivity: .secret) }
    }
  }

  /// What a process that begins anew finds.
  private func restored(_ disk: FaultyDisk) async throws -> (RestorationReport.Outcome, String?) {
    let root = node()
    var secret: String?
    root.decode = { secret = try $0.decodeIfPresent(forKey: "secret") }
    let report = try await keeper(disk.process()).restore(into: [root])
    return (report.outcome, secret)
  }

  /// Ends a process at each call of a body in turn, lets another one do the same whole, and
  /// cuts the power.
  private func assertStaysGone(
    _ body: (StateKeeper) async throws -> Void,
    _ check: ((RestorationReport.Outcome, String?), _ message: String) -> Void
  ) async throws {
    var random = SeededGenerator()
    var callCount = 0
    var isWhole = false
    while !isWhole {
      for _ in 0..<20 {
        let disk = FaultyDisk(seed: random.next())
        let first = disk.process()
        let saving = try keeper(first)
        _ = try await saving.save([node("pin")])
        await saving.close()
        first.end()
        let killed = disk.process()
        killed.arm(.end, after: callCount)
        let message = "TEST_SEED=\(random.seed), killed at call \(callCount)"
        do { try await body(try keeper(killed)) } catch {
          XCTAssertTrue(killed.hasEnded, "\(message): \(error)")
        }
        isWhole = !killed.hasEnded
        killed.end()
        let next = disk.process()
        try await body(try keeper(next))
        next.end()
        disk.cutPower()
        check(try await restored(disk), message)
      }
      callCount += 1
    }
    XCTAssertGreaterThan(callCount, 5)
  }

  func testAStateThatIsDiscardedAfterADiscardThatWasKilledStaysGone() async throws {
    try await assertStaysGone {
      try await $0.discardState()
    } _: { found, message in
      XCTAssertEqual(found.0, .noArchive, message)
    }
  }

  func testASecretThatIsForgottenAfterAForgetThatWasKilledStaysForgotten() async throws {
    for selection in [SecretSelection.all, .value(forKey: "secret", at: RestorationPath(["a"]))] {
      try await assertStaysGone {
        try await $0.forgetSecrets(selection)
      } _: { found, message in
        XCTAssertEqual(found.0, .restored, message)
        XCTAssertNil(found.1, message)
      }
    }
  }
}
