import ArchiveCodec
import Foundation
import RestorationKit
import RestorationSharing
import TestSupport
import XCTest

/// Secrets of which the local copy has lost the subkeys, and secrets that are forgotten.
@MainActor
final class LocalCopySecretTests: XCTestCase {
  private let pins = ["a": "1234", "b": "5678"]

  private func damages(_ saved: SavedOften) throws -> [(String, [UInt8]?)] {
    SavedOften.damages(
      of: try XCTUnwrap(saved.files["main.secrets"]),
      older: try XCTUnwrap(saved.older["main.secrets"]))
  }

  func testSubkeysThatAreLostHereComeFromTheStore() async throws {
    let count = try damages(try await SavedOften(hasSecrets: true)).count
    for number in 0..<count {
      let saved = try await SavedOften(hasSecrets: true)
      let (what, bytes) = try damages(saved)[number]
      saved.copy.memory(named: "main.secrets").bytes = bytes
      let (keeper, root) = (try saved.here.launch(), SavedOften.node())
      _ = try await keeper.restore(into: [root])
      XCTAssertEqual(root.pins, pins, what)
      root.value = "next"
      let report = try await keeper.save([root])
      XCTAssertEqual(report.outcome, .saved, what)
      let stored = try await saved.stored()
      XCTAssertEqual(stored.value, "next", what)
      XCTAssertEqual(stored.pins, pins, what)
      await keeper.close()
    }
  }

  func testWhatIsSavedWithoutItsSubkeysAndTheStoreIsAConflict() async throws {
    let count = try damages(try await SavedOften(hasSecrets: true)).count
    for number in 0..<count {
      for (endsBefore, choice) in [
        (false, ConflictChoice.ours), (false, .theirs), (true, .ours), (true, .theirs),
      ] {
        let saved = try await SavedOften(hasSecrets: true)
        let before = saved.base[bytes: "main"]
        let (damage, bytes) = try damages(saved)[number]
        let what = "\(damage), the process ends before: \(endsBefore), \(choice)"
        saved.copy.memory(named: "main.secrets").bytes = bytes
        saved.network.isReachable = false
        var keeper: StateKeeper? = try saved.here.launch()
        let root = SavedOften.node()
        _ = try await keeper?.restore(into: [root])
        XCTAssertNotEqual(root.pins, pins, what)
        root.value = "Oslo"
        _ = try await keeper?.save([root])
        if endsBefore {
          await keeper?.close()
          keeper = nil
          saved.network.isReachable = true
          keeper = try saved.here.launch()
          _ = try await keeper?.restore(into: [root])
          XCTAssertEqual(root.value, "Oslo", what)
        }
        saved.network.isReachable = true
        _ = await keeper?.checkRemoteState()
        guard case .conflict = keeper?.remoteStatus else {
          XCTFail("\(what) \(keeper?.remoteStatus as Any)")
          continue
        }
        XCTAssertEqual(saved.base[bytes: "main"], before, what)
        try await keeper?.resolveConflict(keeping: choice)
        if choice == .ours {
          let states = try await keeper?.setAsideStates() ?? []
          try await keeper?.putBack(XCTUnwrap(states.first { $0.reason == .conflict }, what))
        }
        let stored = try await saved.stored()
        XCTAssertEqual(stored.value, "state \(SavedOften.count)", what)
        XCTAssertEqual(stored.pins, pins, what)
        await keeper?.close()
      }
    }
  }

  func testASecretThatIsSavedWithoutTheOthersAndTheStoreOutlastsTheNextLaunch() async throws {
    for choice in [ConflictChoice.ours, .theirs] {
      let saved = try await SavedOften(hasSecrets: true)
      saved.copy.memory(named: "main.secrets").bytes = nil
      saved.network.isReachable = false
      var keeper: StateKeeper? = try saved.here.launch()
      let root = SavedOften.node()
      _ = try await keeper?.restore(into: [root])
      XCTAssertEqual(root.pins, [:])
      root.pins = ["a": "new"]
      _ = try await keeper?.save([root])
      await keeper?.close()
      keeper = nil
      saved.network.isReachable = true
      keeper = try saved.here.launch()
      _ = try await keeper?.restore(into: [root])
      XCTAssertEqual(root.pins, ["a": "new"])
      _ = await keeper?.checkRemoteState()
      try await keeper?.resolveConflict(keeping: choice)
      let kept = try await saved.stored()
      XCTAssertEqual(kept.pins, choice == .ours ? ["a": "new"] : pins, "\(choice)")
      let states = try await keeper?.setAsideStates() ?? []
      try await keeper?.putBack(XCTUnwrap(states.first { $0.reason == .conflict }, "\(choice)"))
      let back = try await saved.stored()
      XCTAssertEqual(back.pins, choice == .ours ? pins : ["a": "new"], "\(choice)")
      await keeper?.close()
    }
  }

  // MARK: Forgetting

  private func assertDoesNotForget(
    _ keeper: StateKeeper, _ code: RestorationError.Code = .store, line: UInt = #line
  ) async {
    do {
      try await keeper.forgetSecrets(.all)
      XCTFail("It did not throw.", line: line)
    } catch {
      XCTAssertEqual(error.code, code, line: line)
    }
  }

  func testForgettingThrowsUntilTheStoreHasForgotten() async throws {
    let saved = try await SavedOften(hasSecrets: true)
    let keeper = try saved.here.launch()
    _ = try await keeper.restore(into: [SavedOften.node()])
    saved.network.isReachable = false
    for _ in 0..<2 { await assertDoesNotForget(keeper) }
    let before = try await saved.stored()
    XCTAssertEqual(before.pins, pins)
    // Here they are gone at once.
    let root = SavedOften.node()
    _ = try await keeper.restore(into: [root])
    XCTAssertEqual(root.pins, [:])
    saved.network.isReachable = true
    try await keeper.forgetSecrets(.all)
    let after = try await saved.stored()
    XCTAssertEqual(after.value, "state \(SavedOften.count)")
    XCTAssertEqual(after.pins, [:])
  }

  func testForgettingWithoutSubkeysHereThrowsWhereTheStoreMayHaveSome() async throws {
    let saved = try await SavedOften()
    let keeper = try saved.here.launch()
    _ = try await keeper.restore(into: [SavedOften.node()])
    _ = await keeper.checkRemoteState()
    let (other, theirs) = (try saved.there.launch(), SavedOften.node())
    _ = try await other.restore(into: [theirs])
    theirs.pins = ["a": "theirs"]
    _ = try await other.save([theirs])
    do {
      try await keeper.forgetSecrets(.all)
      XCTFail("It did not throw.")
    } catch {
      XCTAssertEqual(error.code, .conflict)
      XCTAssertTrue(error.description.hasPrefix("The store has a newer state: "), "\(error)")
      XCTAssertTrue(error.description.hasSuffix("and then forget its secrets."), "\(error)")
    }
    guard case .newer = keeper.remoteStatus else {
      return XCTFail("\(keeper.remoteStatus as Any)")
    }
    saved.network.isReachable = false
    await assertDoesNotForget(keeper)
    saved.network.isReachable = true
    await assertDoesNotForget(keeper, .conflict)
    let root = SavedOften.node()
    _ = try await keeper.restore(into: [root])
    XCTAssertEqual(root.pins, ["a": "theirs"])
    try await keeper.forgetSecrets(.all)
    let stored = try await saved.stored()
    XCTAssertEqual(stored.pins, [:])
  }

  func testForgettingWaitsForAReplicaThatIsBehind() async throws {
    let saved = try await SavedOften()
    let (keeper, root) = (try saved.here.launch(), SavedOften.node())
    _ = try await keeper.restore(into: [root])
    saved.network.isBehind = true
    root.value = "next"
    _ = try await keeper.save([root])
    // There are none, but the store has to say so.
    try await keeper.forgetSecrets(.all)
    XCTAssertEqual(keeper.remoteStatus, .current)
  }

  func testWhatIsForgottenComesBackWithNoStateOfAConflict() async throws {
    for choice in [ConflictChoice.ours, .theirs] {
      for endsBefore in [false, true] {
        let what = "\(choice), the process ends before: \(endsBefore)"
        let saved = try await SavedOften(hasSecrets: true)
        var keeper: StateKeeper? = try saved.here.launch()
        let root = SavedOften.node()
        _ = try await keeper?.restore(into: [root])
        saved.network.isReachable = false
        await assertDoesNotForget(try XCTUnwrap(keeper))
        root.pins = [:]
        root.value = "Paris"
        _ = try await keeper?.save([root])
        let (other, theirs) = (try saved.there.launch(), SavedOften.node())
        _ = try await other.restore(into: [theirs])
        theirs.value = "Oslo"
        _ = try await other.save([theirs])
        if endsBefore {
          await keeper?.close()
          keeper = nil
          keeper = try saved.here.launch()
          _ = try await keeper?.restore(into: [root])
        }
        saved.network.isReachable = true
        _ = await keeper?.checkRemoteState()
        try await keeper?.resolveConflict(keeping: choice)
        let kept = try await saved.stored()
        XCTAssertEqual(kept.value, choice == .ours ? "Paris" : "Oslo", what)
        XCTAssertEqual(kept.pins, [:], what)
        let states = try await keeper?.setAsideStates() ?? []
        try await keeper?.putBack(XCTUnwrap(states.first { $0.reason == .conflict }, what))
        let back = try await saved.stored()
        XCTAssertEqual(back.value, choice == .ours ? "Oslo" : "Paris", what)
        XCTAssertEqual(back.pins, [:], what)
        await keeper?.close()
      }
    }
  }

  func testAnotherMachineLearnsWhatWasForgottenAndDoesNotBringItBack() async throws {
    for isConflict in [false, true] {
      let saved = try await SavedOften(hasSecrets: true)
      let other = Device(
        "other", saved.network, keys: saved.keys, localCopy: MemoryStateDirectory())
      let (late, root) = (try other.launch(), SavedOften.node())
      _ = try await late.restore(into: [root])
      let (keeper, first) = (try saved.here.launch(), SavedOften.node())
      _ = try await keeper.restore(into: [first])
      try await keeper.forgetSecrets(.all)
      if isConflict {
        first.value = "Bern"
        first.pins = [:]
        _ = try await keeper.save([first])
      }
      root.value = "Oslo"
      let report = try await late.save([root])
      // The store had forgotten, and nothing else was other.
      XCTAssertEqual(report.outcome == .saved, !isConflict)
      if isConflict { try await late.resolveConflict(keeping: .ours) }
      let stored = try await saved.stored()
      XCTAssertEqual(stored.value, "Oslo")
      XCTAssertEqual(stored.pins, [:], "a conflict: \(isConflict)")
    }
  }
}
