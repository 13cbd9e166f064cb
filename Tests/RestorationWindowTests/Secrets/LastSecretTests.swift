import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// Secrets in the states that were stored last, which stay for objects that cannot be encoded.
@MainActor
final class LastSecretTests: SecretTestCase {
  private struct Failure: Error {}

  /// What the keeper has done before the save that keeps the last states.
  private enum Past: CaseIterable {
    case saved, savedTwice, savedEverything, restored, restoredAndSaved, failedAndSaved
  }

  func testASecretOfALastStateHasItsSubkeyWhateverTheKeeperDidBefore() async throws {
    for past in Past.allCases {
      for isEverything in [false, true] {
        let message = "\(past), everything: \(isEverything)"
        try launch.removeState()
        secretsBytes = nil
        if past == .restored || past == .restoredAndSaved { try await saveTree() }
        let fails = Flag()
        let keeper = try self.keeper(
          HookedStore(launch.store) { name, made throws(ArchiveError) in
            if fails.isSet, name == "main", made.isWrite { throw ArchiveError(.storageFull) }
          })
        let top = tree()
        let below = try XCTUnwrap(top.restorationChildren.first as? SensitiveNode)
        if past == .restored || past == .restoredAndSaved {
          _ = try await keeper.restore(into: [top])
        }
        switch past {
        case .restored: break
        case .saved, .restoredAndSaved: _ = try await keeper.save([top])
        case .savedTwice:
          _ = try await keeper.save([top])
          _ = try await keeper.save([top])
        case .savedEverything: _ = try await keeper.saveEverything([top])
        case .failedAndSaved:
          _ = try await keeper.save([top])
          fails.isSet = true
          top.value = "other"
          let error = await restorationError { _ = try await keeper.save([top]) }
          XCTAssertEqual(error?.archive?.code, .storageFull, message)
          fails.isSet = false
        }
        below.encode = { _ in throw Failure() }
        let report =
          isEverything ? try await keeper.saveEverything([top]) : try await keeper.save([top])
        XCTAssertEqual(report.outcome(of: "top/below"), .savedWithLastState, message)
        await keeper.close()
        let restored = try await restore()
        XCTAssertEqual(restored.found, all, message)
      }
    }
  }

  private func keeper(version: Int) throws -> StateKeeper {
    let keeper = try keeper()
    let steps = (1..<version).map { StateMigration(from: $0) { _ in } }
    try keeper.register(SensitiveNode.self, version: version, migrations: steps)
    return keeper
  }

  func testSecretsThatAreKeptBesideALastStateHaveTheirSubkeys() async throws {
    for savesFirst in [false, true] {
      for isEverything in [false, true] {
        try launch.removeState()
        secretsBytes = nil
        let newer = try keeper(version: 2)
        _ = try await newer.save([tree()])
        await newer.close()
        let older = try keeper(version: 1)
        let top = emptyTree()
        let below = try XCTUnwrap(top.restorationChildren.first as? SensitiveNode)
        _ = try await older.restore(into: [top])
        if savesFirst {
          below.encode = { $0.encode("typed", forKey: "plain") }
          _ = try await older.save([top])
        }
        below.encode = { _ in throw Failure() }
        for _ in 0..<2 {
          _ = isEverything ? try await older.saveEverything([top]) : try await older.save([top])
        }
        await older.close()
        let message = "saves first: \(savesFirst), everything: \(isEverything)"
        let stored = try XCTUnwrap(try launch.storedRecords()?["top/below"])
        XCTAssertEqual(try stored.kept.count, savesFirst ? 1 : 0, message)
        XCTAssertEqual(try stored.subkeys.count, 2, message)
        let subkeys = try launch.storedSubkeys()
        XCTAssertTrue(try stored.subkeys.allSatisfy(subkeys.contains), message)
      }
    }
  }
}
