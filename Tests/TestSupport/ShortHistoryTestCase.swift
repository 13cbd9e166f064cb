import Foundation
public import XCTest

/// All short lives of an app on a disk that forgets: whatever one ends in, and whatever the launch
/// after it ends in, what comes back was saved, and is no older than what was said to be stored.
///
/// Each sequence of up to three operations is killed at each change that its last operation makes on
/// the disk, and again at each change of the launch that follows; the power fails with it, or not. A
/// call that only asks leaves the disk as the change before it. All of them take long, so a run has a
/// share, another one each day, and the first kills of each single operation. Set
/// `SHORT_HISTORY_SHARE` to `2/64` for the third of 64 shares, or to `0/1` for all.
@MainActor
open class ShortHistoryTestCase: XCTestCase {
  package struct Share: CustomStringConvertible {
    fileprivate let number: Int
    fileprivate let count: Int
    fileprivate let isGiven: Bool

    /// - Parameter count: How many shares there are if the environment does not say it.
    package init(of count: Int) {
      let given = ProcessInfo.processInfo.environment["SHORT_HISTORY_SHARE"]
      let parts = given?.split(separator: "/").compactMap { Int($0) } ?? []
      isGiven = parts.count == 2
      self.count = isGiven ? max(1, parts[1]) : count
      number =
        (isGiven ? max(0, parts[0]) : Int(Date().timeIntervalSince1970 / 86_400)) % self.count
    }

    /// Skips a test that takes minutes also for a share, unless the environment names one.
    package func skipUnlessGiven() throws {
      try XCTSkipUnless(isGiven, "\(self) runs it, and so does Scripts/soak.")
    }

    package var description: String { "SHORT_HISTORY_SHARE=\(number)/\(count)" }

    fileprivate func has(_ index: Int) -> Bool { index % count == number }
  }

  private var counts = (sequences: 0, kills: 0, secondKills: 0, failures: 0)

  package func tryAll<Operation, History: ShortHistory<Operation>>(
    _ type: History.Type, _ share: Share
  ) async throws {
    for (index, operations) in Self.sequences(of: Operation.self).enumerated()
    where share.has(index) || !share.isGiven && operations.count == 1 {
      counts.sequences += 1
      try await tryAll(operations, type, killsLaunch: share.has(index))
      if counts.failures > 0 { break }
    }
    print("\(type), \(share): \(counts)")
    XCTAssertGreaterThan(counts.sequences, share.isGiven ? 0 : 8)
    // Of the single operations some change the disk; a share may have none of these.
    if !share.isGiven { XCTAssertGreaterThan(counts.kills, 100) }
  }

  /// All sequences of one to three operations.
  private static func sequences<Operation: CaseIterable>(
    of type: Operation.Type
  ) -> [[Operation]] {
    let one = Operation.allCases.map { [$0] }
    let two = one.flatMap { first in Operation.allCases.map { first + [$0] } }
    return one + two + two.flatMap { first in Operation.allCases.map { first + [$0] } }
  }

  private func tryAll<Operation, History: ShortHistory<Operation>>(
    _ operations: [Operation], _ type: History.Type, killsLaunch: Bool
  ) async throws {
    let whole = type.init(operations, after: nil)
    try await whole.run()
    tell(whole, nil, nil)
    let secondKillsBefore = counts.secondKills
    var hasFoundState = false
    defer {
      // A launch that finds a state marks that it restores it, so there is something to kill.
      if killsLaunch, hasFoundState, counts.failures == 0 {
        XCTAssertGreaterThan(counts.secondKills, secondKillsBefore, "\(operations)")
      }
    }
    let ends: [ProcessEnd] = [.kill, .powerCut(.nothing), .powerCut(.names)]
    for end in ends {
      try await forEachKill { kill in
        var call: FaultyDisk.Call?
        @MainActor func run(_ second: KillPoint?) async throws -> FaultyDisk.Call? {
          let history = type.init(operations, after: whole)
          try await history.run(kill, end, second)
          tell(history, kill, second)
          guard let last = history.lastCall else { return nil }
          call = last
          counts.kills += 1
          if history.found != nil { hasFoundState = true }
          if history.lastCallOfLaunch != nil { counts.secondKills += 1 }
          return history.lastCallOfLaunch
        }
        if killsLaunch {
          try await forEachKill { try await run($0) }
        } else {
          _ = try await run(nil)
        }
        return call
      }
    }
  }

  private func tell<Operation>(
    _ history: ShortHistory<Operation>, _ kill: KillPoint?, _ second: KillPoint?
  ) {
    guard let problem = history.problem else { return }
    counts.failures += 1
    func text(_ kill: KillPoint?, _ call: FaultyDisk.Call?) -> String {
      "\(kill.map { "\($0)" } ?? "whole")\(call.map { ", a \($0)" } ?? "")"
    }
    XCTFail(
      "\(history.operations), \(text(kill, history.lastCall));"
        + " launch \(text(second, history.lastCallOfLaunch)): \(problem)\n"
        + history.story.joined(separator: "\n"))
  }

  /// Calls a body for each kill, until there is a call less than the kill waits for.
  ///
  /// - Parameter body: Returns the call in which the process has ended; nil if it has not.
  /// - Throws: What the body throws.
  private func forEachKill(_ body: (KillPoint) async throws -> FaultyDisk.Call?) async throws {
    guard try await body(KillPoint(callCount: 0, extent: .nothing)) != nil else { return }
    var callCount = 0
    while counts.failures < 5,
      let call = try await body(KillPoint(callCount: callCount, extent: .all))
    {
      if call == .write { _ = try await body(KillPoint(callCount: callCount, extent: .part)) }
      callCount += 1
    }
  }
}
