import ArchiveCodec
import Foundation
import RestorationKit
import RestorationSharing
import Synchronization
import TestSupport
import XCTest

/// Secrets that were forgotten without the store, whatever happens before the store hears of that.
@MainActor
final class LocalCopyForgettingTests: XCTestCase {
  private static let note = "main.remote.launch"

  private func assertDoesNotForget(_ keeper: StateKeeper, line: UInt = #line) async {
    let error = await restorationError { try await keeper.forgetSecrets(.all) }
    XCTAssertEqual(error?.code, .store, line: line)
  }

  /// Forgets all secrets of a machine that does not reach the store, which goes on having them.
  private func forget(
    _ saved: SavedOften, on device: Device? = nil
  ) async throws -> StateKeeper {
    let keeper = try (device ?? saved.here).launch()
    _ = try await keeper.restore(into: [SavedOften.node()])
    saved.network.isReachable = false
    await assertDoesNotForget(keeper)
    return keeper
  }

  /// Another machine goes on from what the store has.
  private func saveThere(_ saved: SavedOften) async throws {
    let (other, theirs) = (try saved.there.launch(), SavedOften.node())
    _ = try await other.restore(into: [theirs])
    theirs.value = "Oslo"
    _ = try await other.save([theirs])
    await other.close()
  }

  private func assertIsForgotten(
    _ keeper: StateKeeper?, _ saved: SavedOften, _ what: String = "", value: String? = nil,
    line: UInt = #line
  ) async throws {
    let root = SavedOften.node()
    _ = try await keeper?.restore(into: [root])
    XCTAssertEqual(root.pins, [:], what, line: line)
    if let value { XCTAssertEqual(root.value, value, what, line: line) }
    _ = await keeper?.checkRemoteState()
    XCTAssertEqual(keeper?.remoteStatus, .current, what, line: line)
    let stored = try await saved.stored()
    XCTAssertEqual(stored.pins, [:], what, line: line)
    XCTAssertEqual(stored.value, root.value, what, line: line)
  }

  // MARK: A discard

  func testADiscardDoesNotBringBackWhatWasForgotten() async throws {
    for choice in [ConflictChoice.ours, .theirs] {
      for (endsBefore, hasCopy) in [(false, true), (true, true), (false, false)] {
        let what = "\(choice), the process ends before: \(endsBefore), a copy: \(hasCopy)"
        let saved = try await SavedOften(hasSecrets: true)
        let memory = Device("here", saved.network, keys: saved.keys)
        var keeper: StateKeeper? = try await forget(saved, on: hasCopy ? nil : memory)
        do {
          try await keeper?.discardState()
          XCTAssertTrue(hasCopy, what)
        } catch {
          XCTAssertFalse(hasCopy, what)
          XCTAssertEqual(error.code, .store, what)
        }
        try await saveThere(saved)
        if endsBefore {
          await keeper?.close()
          keeper = nil
          keeper = try saved.here.launch()
          _ = try await keeper?.restore(into: [SavedOften.node()])
        }
        saved.network.isReachable = true
        _ = await keeper?.checkRemoteState()
        guard case .conflict = keeper?.remoteStatus else {
          XCTFail("\(what) \(keeper?.remoteStatus as Any)")
          continue
        }
        try await keeper?.resolveConflict(keeping: choice)
        if choice == .ours {
          XCTAssertNil(saved.base[bytes: "main"], what)
          let states = try await keeper?.setAsideStates() ?? []
          try await keeper?.putBack(XCTUnwrap(states.first { $0.reason == .conflict }, what))
        }
        try await assertIsForgotten(keeper, saved, what, value: "Oslo")
        await keeper?.close()
      }
    }
  }

  func testADiscardLeavesNothingOnceTheStoreHasHeardOfIt() async throws {
    for endsBefore in [false, true] {
      let saved = try await SavedOften(hasSecrets: true)
      var keeper: StateKeeper? = try await forget(saved)
      try await keeper?.discardState()
      if endsBefore {
        await keeper?.close()
        keeper = nil
        keeper = try saved.here.launch()
        let report = try await keeper?.restore(into: [SavedOften.node()])
        XCTAssertEqual(report?.outcome, .noArchive)
      }
      saved.network.isReachable = true
      _ = await keeper?.checkRemoteState()
      XCTAssertEqual(keeper?.remoteStatus, .current)
      let names = try await saved.base.names(prefix: "")
      XCTAssertEqual(names, [], "the process ends before: \(endsBefore)")
      XCTAssertNil(saved.copy.memory(named: "main.secrets").bytes)
      await keeper?.close()
    }
  }

  func testWhatWasForgottenStaysSoIfTheNoteOfADiscardIsLost() async throws {
    let saved = try await SavedOften(hasSecrets: true)
    var keeper: StateKeeper? = try await forget(saved)
    try await keeper?.discardState()
    await keeper?.close()
    keeper = nil
    saved.copy.memory(named: Self.note).bytes = nil
    saved.network.isReachable = true
    try await assertIsForgotten(
      saved.here.launch(), saved, value: "state \(SavedOften.count)")
  }

  // MARK: The end of a process

  func testWhereverAConflictEndsTheProcessNothingForgottenComesBack() async throws {
    var (number, isWhole) = (0, false)
    while !isWhole {
      let saved = try await SavedOften(hasSecrets: true)
      var keeper: StateKeeper? = try await forget(saved)
      let root = SavedOften.node()
      root.value = "Paris"
      _ = try await keeper?.save([root])
      await keeper?.close()
      keeper = nil
      try await saveThere(saved)
      let changes = ChangeCount()
      let disk = HookedStore(saved.copy) { [number] _, call throws(ArchiveError) in
        if call.isChange, changes.next() > number { throw ArchiveError(.inputOutput) }
      }
      saved.network.isReachable = true
      keeper = try Device("here", saved.network, keys: saved.keys, localCopy: disk).launch()
      _ = try await keeper?.restore(into: [root])
      _ = await keeper?.checkRemoteState()
      changes.begin()
      do {
        try await keeper?.resolveConflict(keeping: .theirs)
        isWhole = changes.count <= number
      } catch {
        XCTAssertEqual(error.code, .archive)
      }
      await keeper?.close()
      keeper = nil
      let next = try saved.here.launch()
      _ = try await next.restore(into: [root])
      _ = await next.checkRemoteState()
      if case .conflict = next.remoteStatus {
        try await next.resolveConflict(keeping: .theirs)
      }
      try await assertIsForgotten(next, saved, "\(number) changes", value: "Oslo")
      let states = try await next.setAsideStates()
      try await next.putBack(XCTUnwrap(states.first { $0.reason == .conflict }, "\(number)"))
      try await assertIsForgotten(next, saved, "\(number) changes, ours", value: "Paris")
      await next.close()
      number += 1
    }
    XCTAssertGreaterThan(number, 3)
  }

  // MARK: A damaged copy

  func testWhatWasForgottenStaysSoIfTheCopyIsDamagedThen() async throws {
    let count = try await {
      let saved = try await SavedOften(hasSecrets: true)
      return SavedOften.damages(
        of: try XCTUnwrap(saved.files["main"]), older: saved.older["main"]
      ).count
    }()
    for number in 0..<count {
      let saved = try await SavedOften(hasSecrets: true)
      var keeper: StateKeeper? = try await forget(saved)
      await keeper?.close()
      keeper = nil
      let (what, bytes) = SavedOften.damages(
        of: try XCTUnwrap(saved.files["main"]), older: saved.older["main"])[number]
      saved.copy.memory(named: "main").bytes = bytes
      saved.network.isReachable = true
      try await assertIsForgotten(
        saved.here.launch(), saved, what, value: "state \(SavedOften.count)")
    }
  }

  func testSecretsAreForgottenWhoseSubkeysAreLostHere() async throws {
    let count = try await {
      let saved = try await SavedOften(hasSecrets: true)
      return SavedOften.damages(
        of: try XCTUnwrap(saved.files["main.secrets"]), older: saved.older["main.secrets"]
      ).count
    }()
    for number in 0..<count {
      for (endsBefore, choice) in [
        (false, ConflictChoice.ours), (false, .theirs), (true, .ours), (true, .theirs),
      ] {
        let saved = try await SavedOften(hasSecrets: true)
        let (damage, bytes) = SavedOften.damages(
          of: try XCTUnwrap(saved.files["main.secrets"]), older: saved.older["main.secrets"])[
            number]
        let what = "\(damage), the process ends before: \(endsBefore), \(choice)"
        saved.copy.memory(named: "main.secrets").bytes = bytes
        saved.network.isReachable = false
        var keeper: StateKeeper? = try saved.here.launch()
        _ = try await keeper?.restore(into: [SavedOften.node()])
        await assertDoesNotForget(try XCTUnwrap(keeper))
        if endsBefore {
          await keeper?.close()
          keeper = nil
          keeper = try saved.here.launch()
        }
        saved.network.isReachable = true
        let root = SavedOften.node()
        _ = try await keeper?.restore(into: [root])
        XCTAssertEqual(root.pins, [:], what)
        _ = await keeper?.checkRemoteState()
        if case .conflict = keeper?.remoteStatus {
          try await keeper?.resolveConflict(keeping: choice)
        }
        try await assertIsForgotten(
          keeper, saved, what, value: "state \(SavedOften.count)")
        await keeper?.close()
      }
    }
  }
}

/// How many changes there were since it has begun to count.
private final class ChangeCount: Sendable {
  private let value = Mutex<Int?>(nil)

  var count: Int { value.withLock { $0 ?? 0 } }

  func begin() { value.withLock { $0 = 0 } }

  func next() -> Int {
    value.withLock { count in
      count = count.map { $0 + 1 }
      return count ?? 0
    }
  }
}
