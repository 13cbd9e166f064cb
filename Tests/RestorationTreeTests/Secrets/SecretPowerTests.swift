import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// A call fails or the process is killed while the subkey of a secret is stored, a later save says
/// that it is stored, and the power fails: the secret is there.
@MainActor
final class SecretPowerTests: XCTestCase {
  private let keys = MemoryKeyProvider()

  private func keeper(_ process: DiskProcess) throws -> StateKeeper {
    try StateKeeper(application: Launch.application, directory: process, keys: keys)
  }

  private func node(_ number: Int, _ secret: String? = "pin") -> SensitiveNode {
    SensitiveNode("a") { coder in
      coder.encode(number, forKey: "number")
      if let secret { coder.encode(secret, forKey: "secret", sensitivity: .secret) }
    }
  }

  /// What a process that begins anew finds.
  private func restore(_ disk: FaultyDisk) async throws -> (number: Int?, secret: String?) {
    var found: (number: Int?, secret: String?)
    let root = SensitiveNode("a")
    root.decode = {
      found = (
        try $0.decodeIfPresent(forKey: "number"), try $0.decodeIfPresent(forKey: "secret")
      )
    }
    let process = disk.process()
    let keeper = try keeper(process)
    let report = try await keeper.restore(into: [root])
    process.end()
    XCTAssertEqual(report.outcome, .restored)
    return found
  }

  /// Lets a call of the save with the first secret go wrong, and returns who saves next; nil if
  /// no call was left that could.
  private func saveWrongly(
    _ disk: FaultyDisk, _ fault: FaultyDisk.Fault, at callCount: Int
  ) async throws -> (process: DiskProcess, keeper: StateKeeper)? {
    let process = disk.process()
    let saving = try keeper(process)
    let root = node(0, nil)
    _ = try await saving.save([root])
    // With the first append the name of the state lasts.
    root.encode = node(1, nil).encode
    _ = try await saving.save([root])
    process.arm(fault, after: callCount)
    root.encode = node(2).encode
    do {
      _ = try await saving.save([root])
    } catch {
      // It is saved again.
    }
    guard process.disarm() else { return nil }
    guard process.hasEnded else { return (process, saving) }
    process.end()
    // The next one appends to what it restores.
    let next = disk.process()
    let restoring = try keeper(next)
    let report = try await restoring.restore(into: [SensitiveNode("a")])
    XCTAssertEqual(report.outcome, .restored)
    return (next, restoring)
  }

  func testASecretThatIsStoredAfterASaveThatWentWrongSurvivesAPowerCut() async throws {
    var random = SeededGenerator()
    for fault in [FaultyDisk.Fault.failure, .end] {
      for callCount in 0... {
        var isWhole = false
        for _ in 0..<8 {
          let disk = FaultyDisk(seed: random.next())
          guard let next = try await saveWrongly(disk, fault, at: callCount) else {
            isWhole = true
            break
          }
          let message = "TEST_SEED=\(random.seed), \(fault) at call \(callCount)"
          let report = try await next.keeper.save([node(3)])
          XCTAssertEqual(report.outcome, .saved, message)
          next.process.end()
          disk.cutPower()
          let found = try await restore(disk)
          XCTAssertEqual(found.number, 3, message)
          XCTAssertEqual(found.secret, "pin", message)
        }
        guard isWhole else { continue }
        XCTAssertGreaterThan(callCount, 12)
        break
      }
    }
  }

  func testNoStateOutlivesTheSubkeysToWhichItRefers() async throws {
    var random = SeededGenerator()
    for callCount in 0... {
      var isWhole = false
      var nextCount = 0
      var diskCount = 0
      while !isWhole {
        let disk = FaultyDisk(seed: random.next())
        guard let next = try await saveWrongly(disk, .end, at: callCount) else {
          isWhole = true
          break
        }
        next.process.arm(.end, after: nextCount)
        do {
          _ = try await next.keeper.save([node(3)])
        } catch {
          // The power is cut here.
        }
        let hasEnded = next.process.hasEnded
        next.process.end()
        disk.cutPower()
        let found = try await restore(disk)
        XCTAssertEqual(
          found.secret, (found.number ?? 0) < 2 ? nil : "pin",
          "TEST_SEED=\(random.seed), killed at calls \(callCount) and \(nextCount)")
        guard hasEnded else { break }
        diskCount += 1
        if diskCount.isMultiple(of: 4) { nextCount += 1 }
      }
      guard isWhole else { continue }
      XCTAssertGreaterThan(callCount, 12)
      break
    }
  }
}
