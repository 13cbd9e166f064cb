import ArchiveCodec
import Foundation
import RestorationKit
import RestorationSharing
import TestSupport
import XCTest

/// A local copy that is damaged, or is another one than it was, and a store that has all.
@MainActor
final class LocalCopyDamageTests: XCTestCase {
  private let latest = "state \(SavedOften.count)"

  private func damages(_ saved: SavedOften) throws -> [(String, [UInt8]?)] {
    SavedOften.damages(
      of: try XCTUnwrap(saved.files["main"]), older: try XCTUnwrap(saved.older["main"]))
  }

  func testTheStoreHasTheLastWordOnADamagedLocalCopy() async throws {
    let count = try damages(try await SavedOften()).count
    for number in 0..<count {
      let saved = try await SavedOften()
      let whole = try XCTUnwrap(saved.files["main"])
      let (what, bytes) = try damages(saved)[number]
      saved.copy.memory(named: "main").bytes = bytes
      let (keeper, root) = (try saved.here.launch(), SavedOften.node())
      _ = try await keeper.restore(into: [root])
      XCTAssertEqual(root.value, latest, what)
      root.value = "next"
      let report = try await keeper.save([root])
      XCTAssertEqual(report.outcome, .saved, what)
      let stored = try await saved.stored().value
      XCTAssertEqual(stored, "next", what)
      // What the store does not have is somewhere.
      let kept = try saved.copy.asideBytes()
      XCTAssertEqual(kept, bytes.map { whole.starts(with: $0) ? [] : [$0] } ?? [], what)
      await keeper.close()
    }
  }

  func testNoFlippedBitOfALocalCopyIsRestored() async throws {
    let saved = try await SavedOften()
    let files = try saved.files
    let whole = try XCTUnwrap(files["main"])
    let places = whole.indices.filter { $0 < 128 || $0 >= whole.count - 128 || $0 % 11 == 0 }
    for place in LongTests.some(of: places) {
      let copy = MemoryStateDirectory()
      for (name, bytes) in files { copy.memory(named: name).bytes = bytes }
      copy.memory(named: "main").bytes?[place] ^= 1 << (place % 8)
      let device = Device("here", saved.base, keys: saved.keys, localCopy: copy)
      let root = SavedOften.node()
      _ = try await device.launch().restore(into: [root])
      XCTAssertEqual(root.value, latest, "\(place) of \(whole.count)")
    }
  }

  func testWhatIsSavedOnADamagedLocalCopyWithoutTheStoreIsAConflict() async throws {
    let count = try damages(try await SavedOften()).count
    for number in LongTests.some(of: 0..<count) {
      for endsBefore in [false, true] {
        let saved = try await SavedOften()
        let before = saved.base[bytes: "main"]
        let (damage, bytes) = try damages(saved)[number]
        let what = "\(damage), the process ends before: \(endsBefore)"
        saved.copy.memory(named: "main").bytes = bytes
        saved.network.isReachable = false
        var keeper: StateKeeper? = try saved.here.launch()
        let root = SavedOften.node()
        do {
          let report = try await keeper?.restore(into: [root])
          XCTAssertEqual(
            report?.launchProblem?.contains("what is saved before that is a conflict."), true,
            "\(what) \(report as Any)")
        } catch {
          XCTAssertEqual(error.code, .store, what)
        }
        root.value = "Oslo"
        let report = try await keeper?.save([root])
        XCTAssertEqual(report?.outcome, .saved, what)
        XCTAssertNotNil(report?.unsent, what)
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
        try await keeper?.resolveConflict(keeping: .theirs)
        _ = try await keeper?.restore(into: [root])
        XCTAssertEqual(root.value, latest, what)
        let states = try await keeper?.setAsideStates() ?? []
        let ours = try XCTUnwrap(states.first { $0.reason == .conflict }, what)
        try await keeper?.putBack(ours)
        let stored = try await saved.stored().value
        XCTAssertEqual(stored, "Oslo", what)
        await keeper?.close()
      }
    }
  }

  func testADamagedLocalCopyThatNobodySavesOnIsReplacedWhenTheStoreIsThere() async throws {
    let saved = try await SavedOften()
    let whole = try XCTUnwrap(saved.files["main"])
    saved.copy.memory(named: "main").bytes = Array(whole.dropLast(100))
    saved.network.isReachable = false
    let (keeper, root) = (try saved.here.launch(), SavedOften.node())
    _ = try await keeper.restore(into: [root])
    XCTAssertNotEqual(root.value, latest)
    saved.network.isReachable = true
    _ = try await keeper.restore(into: [root])
    XCTAssertEqual(root.value, latest)
    XCTAssertEqual(keeper.remoteStatus, .current)
  }

  func testAnEndThatAKilledSaveHasLeftIsNoDamage() async throws {
    let saved = try await SavedOften()
    saved.copy.memory(named: "main").bytes? += [1, 2, 3]
    saved.network.isReachable = false
    let (keeper, root) = (try saved.here.launch(), SavedOften.node())
    _ = try await keeper.restore(into: [root])
    XCTAssertEqual(root.value, latest)
    root.value = "next"
    _ = try await keeper.save([root])
    saved.network.isReachable = true
    let status = await keeper.checkRemoteState()
    XCTAssertEqual(status, .current)
    let stored = try await saved.stored().value
    XCTAssertEqual(stored, "next")
  }

  private func saveLong(_ count: Int, _ root: TestNode, _ keeper: StateKeeper?) async throws {
    for number in 1...count {
      root.value = "Oslo \(number) " + String(repeating: "o", count: 2_000)
      _ = try await keeper?.save([root])
    }
  }

  func testAStateOfAnotherHistoryIsNotSentThoughItsNumberIsLater() async throws {
    // The first one has the number of the note. The second one has begun after it.
    for count in [1, 60] {
      let saved = try await SavedOften()
      let theirs = MemoryStateDirectory()
      let device = Device("other", saved.network, keys: saved.keys, localCopy: theirs)
      let other = try device.launch()
      let root = SavedOften.node()
      _ = try await other.restore(into: [root])
      let (keeper, ours) = (try saved.here.launch(), SavedOften.node())
      _ = try await keeper.restore(into: [ours])
      ours.value = "Rome"
      _ = try await keeper.save([ours])
      await keeper.close()
      saved.network.isReachable = false
      try await saveLong(count, root, other)
      await other.close()
      let before = saved.base[bytes: "main"]
      saved.copy.memory(named: "main").bytes = theirs.memory(named: "main").bytes
      saved.network.isReachable = true
      let next = try saved.here.launch()
      _ = try await next.restore(into: [root])
      XCTAssertEqual(root.value == "Rome", count == 1)
      _ = await next.checkRemoteState()
      XCTAssertEqual(saved.base[bytes: "main"], before)
      if count == 60 {
        guard case .conflict = next.remoteStatus else {
          return XCTFail("\(next.remoteStatus as Any)")
        }
        try await next.resolveConflict(keeping: .theirs)
        _ = try await next.restore(into: [root])
        XCTAssertEqual(root.value, "Rome")
      }
      let asides = try await next.setAsideStates()
      XCTAssertEqual(asides.map(\.reason), [count == 1 ? .unread : .conflict])
      await next.close()
    }
  }

  func testAStateThatIsWrittenAnewIsAConflictIfItsNoteIsLost() async throws {
    let saved = try await SavedOften()
    let note = saved.copy.memory(named: "main.remote.launch").bytes
    saved.network.isReachable = false
    var keeper: StateKeeper? = try saved.here.launch()
    let root = SavedOften.node()
    _ = try await keeper?.restore(into: [root])
    try await saveLong(60, root, keeper)
    keeper = nil
    // As after a power cut: the note is not on the disk for good.
    saved.copy.memory(named: "main.remote.launch").bytes = note
    saved.network.isReachable = true
    let next = try saved.here.launch()
    _ = try await next.restore(into: [root])
    XCTAssertEqual(root.value?.hasPrefix("Oslo 60"), true)
    guard case .conflict = await next.checkRemoteState() else {
      return XCTFail("\(next.remoteStatus as Any)")
    }
    try await next.resolveConflict(keeping: .ours)
    let stored = try await saved.stored().value
    XCTAssertEqual(stored, root.value)
  }

  func testASaveThatIsNotNotedYetIsSentByTheNextLaunch() async throws {
    // The second one shortens the journal, so that the file is another one.
    for count in [1, 60] {
      let saved = try await SavedOften()
      saved.network.isReachable = false
      var keeper: StateKeeper? = try saved.here.launch()
      let root = SavedOften.node()
      _ = try await keeper?.restore(into: [root])
      // A restore asks the store beside the caller, and that writes a note, too.
      _ = await keeper?.checkRemoteState()
      let note = saved.copy.memory(named: "main.remote.launch").bytes
      try await saveLong(count, root, keeper)
      keeper = nil
      XCTAssertEqual(saved.copy.memory(named: "main.remote.launch").bytes == note, count == 1)
      saved.network.isReachable = true
      let next = try saved.here.launch()
      _ = try await next.restore(into: [root])
      XCTAssertEqual(root.value?.hasPrefix("Oslo \(count)"), true)
      let status = await next.checkRemoteState()
      XCTAssertEqual(status, .current)
      let stored = try await saved.stored().value
      XCTAssertEqual(stored, root.value)
    }
  }

  func testASaveWithoutARestoreAndWithoutTheStoreIsSentByTheNextLaunch() async throws {
    let saved = try await SavedOften()
    saved.network.isReachable = false
    var keeper: StateKeeper? = try saved.here.launch()
    let ours = SavedOften.node()
    ours.value = "Oslo"
    _ = try await keeper?.save([ours])
    keeper = nil
    saved.network.isReachable = true
    let (next, root) = (try saved.here.launch(), SavedOften.node())
    _ = try await next.restore(into: [root])
    XCTAssertEqual(root.value, "Oslo")
    let status = await next.checkRemoteState()
    XCTAssertEqual(status, .current)
    // Nobody has read what it replaces, so that is set aside.
    let states = try await saved.there.launch().setAsideStates()
    XCTAssertEqual(states.map(\.reason), [.unread])
  }
}
