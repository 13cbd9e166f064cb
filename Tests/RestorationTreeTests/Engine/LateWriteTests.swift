import ArchiveCodec
import Foundation
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// What comes late does nothing to what is newer.
@MainActor
final class LateWriteTests: XCTestCase {
  // The new core asks its file by one call after the other, and keeps the lock: see EndNowTests.
  #if !RESTORATION_NEXT
  private enum Step: CaseIterable, Sendable {
    case write, decline, discard

    func take(_ number: UInt64, in file: StateFile) async throws {
      switch self {
      case .write:
        let builder = RecordBuilder()
        try builder.append(record: number + 100) { _ in }
        _ = try await file.write(try builder.finish(), number: number)
      case .decline: _ = try await file.decline(number: number, SettingAside())
      case .discard: try await file.discard(number: number, includingSetAside: false)
      }
    }
  }

  private let context = ArchiveContext([Launch.application, "late"])
  #endif

  private let launch = Launch()

  /// A store that refuses the lock to the late one until that may pass.
  private func refusing(
    _ launch: Launch
  ) -> (store: HookedStore, isWaiting: Flag, isPassed: Flag) {
    let (isWaiting, isPassed) = (Flag(), Flag())
    let store = HookedStore(launch.store) { _, call throws(ArchiveError) in
      guard call == .lock, Late.isMe, !isPassed.isSet else { return }
      isWaiting.isSet = true
      throw ArchiveError(.locked)
    }
    return (store, isWaiting, isPassed)
  }

  #if !RESTORATION_NEXT
  private func file(_ store: any StateDirectory) -> StateFile {
    StateFile(
      claim: StateClaim(directory: store, name: "late"), directory: store, keys: launch.keys,
      application: Launch.application)
  }

  /// The number of the walk that is stored, nil if nothing is.
  private func stored() throws -> UInt64? {
    guard let key = try launch.keys.key(creating: false) else { return nil }
    let archive = try Archive.open(
      launch.store.memory(named: "late"), key: key, context: context)
    return try archive?.recordIdentifiers().first.map { $0 - 100 }
  }

  func testAfterAnyThreeStepsInAnyOrderTheNewestOneHasTheLastWord() async throws {
    let orders: [[UInt64]] = [
      [2, 3, 4], [2, 4, 3], [3, 2, 4], [3, 4, 2], [4, 2, 3], [4, 3, 2],
    ]
    for (first, second) in Step.allPairs {
      for third in Step.allCases {
        for order in orders {
          launch.store.memory(named: "late").bytes = nil
          let file = file(launch.store)
          try await Step.write.take(1, in: file)
          var (newest, left) = (1 as UInt64, 1 as UInt64?)
          for (step, number) in zip([first, second, third], order) {
            try await step.take(number, in: file)
            if number > newest { (newest, left) = (number, step == .write ? number : nil) }
            XCTAssertEqual(try stored(), left, "\([first, second, third]) \(order)")
          }
        }
      }
    }
  }

  func testAStepThatWaitsForAnotherInstanceGivesWayToANewerOne() async throws {
    for (newer, late) in Step.allPairs {
      launch.store.memory(named: "late").bytes = nil
      let (store, isWaiting, isPassed) = refusing(launch)
      try await Step.write.take(1, in: file(launch.store))
      let file = file(store)
      let waiting = Late.$isMe.withValue(true) {
        Task { try await late.take(2, in: file) }
      }
      try await waitUntil("the late one is refused the lock") { isWaiting.isSet }
      try await newer.take(3, in: file)
      isPassed.isSet = true
      try await waiting.value
      XCTAssertEqual(try stored(), newer == .write ? 3 : nil, "\(late) during \(newer)")
    }
  }

  func testWhatWasCalledBeforeASaveThatBlocksTheActorTakesThePlaceOfNothing() async throws {
    for isDiscard in [false, true] {
      let launch = Launch()
      let (store, isWaiting, isPassed) = refusing(launch)
      let keeper = try StateKeeper(
        application: Launch.application, directory: store, keys: launch.keys)
      keeper.policy.instances = .single
      // Nothing is stored, so this is known without the lock.
      try await keeper.discardState()
      let running = Late.$isMe.withValue(true) {
        Task { @MainActor in try await keeper.save([TestNode("a", value: "running")]) }
      }
      try await waitUntil("the save is refused the lock") { isWaiting.isSet }
      let waiting = Task { @MainActor () -> PreservationReport? in
        if isDiscard {
          try await keeper.discardState()
          return nil
        }
        return try await keeper.save([TestNode("a", value: "waiting")])
      }
      for _ in 0..<20 { await Task.yield() }
      XCTAssertTrue(keeper.endNow(saving: [TestNode("a", value: "last")], within: .seconds(60)))
      isPassed.isSet = true
      let reports = [try await running.value, try await waiting.value]
      XCTAssertEqual(
        reports.compactMap(\.?.outcome), isDiscard ? [.saved] : [.saved, .saved])
      XCTAssertTrue(reports.allSatisfy { $0?.version == nil })
      await keeper.close()
      let back = TestNode("a")
      _ = try await launch.keeper().restore(into: [back])
      XCTAssertEqual(back.value, "last", isDiscard ? "discard" : "save")
    }
  }

  #endif

  func testADeclinedSaveThatWaitsDoesNotRemoveANewerSave() async throws {
    let (store, isWaiting, isPassed) = refusing(launch)
    let keeper = try StateKeeper(
      application: Launch.application, directory: store, keys: launch.keys)
    let delegate = TestDelegate()
    keeper.delegate = delegate
    _ = try await launch.keeper().save([TestNode("a", value: "old")])
    delegate.saves = false
    let declined = Late.$isMe.withValue(true) {
      Task { @MainActor in try await keeper.save([]).outcome }
    }
    try await waitUntil("the late one is refused the lock") { isWaiting.isSet }
    delegate.saves = true
    let saved = Task { @MainActor in
      try await keeper.save([TestNode("a", value: "new")]).outcome
    }
    await Task.yield()
    isPassed.isSet = true
    let outcomes = [try await saved.value, try await declined.value]
    XCTAssertEqual(outcomes, [.saved, .declined])
    await keeper.close()
    let back = TestNode("a")
    _ = try await launch.keeper().restore(into: [back])
    XCTAssertEqual(back.value, "new")
  }
}

private enum Late {
  /// Whether the code that runs waits for the lock until the newer step was taken.
  @TaskLocal static var isMe = false
}

extension CaseIterable {
  fileprivate static var allPairs: [(Self, Self)] {
    allCases.flatMap { first in allCases.map { (first, $0) } }
  }
}
