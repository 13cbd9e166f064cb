import Foundation
import TestSupport
import XCTest

/// A stored body leaves the file by an encode of the object that has read or written it, by a removal, a
/// veto, a discard or a bound, and by nothing else.
@MainActor
final class LedgerTests: XCTestCase {
  /// A save dropped what a body refers to that had not said so in this launch, a body that was as old as the
  /// kept element above, what lay below an element that was left out and whose state was given up, what was stored
  /// below a kept one that could say nothing for a year, and what a late node had read that moved before its first
  /// save, in which its hook threw.
  ///
  /// In the last life the ledger took what a removed node had for that of a late one at its place.
  func testLivesThatHaveLostABodyLoseNone() async throws {
    for seed: UInt64 in [
      2_839_705_122_457_348_000, 11_136_480_827_641_565_819, 17_723_970_666_237_500_126,
      18_399_995_745_189_971_476, 8_365_703_443_596_978_286, 2_498_600_590_319_221_748,
      16_835_812_417_310_938_095,
    ] {
      let life = LedgerLife(seed: seed)
      let lost = try await life.run(steps: 40)
      XCTAssertEqual(lost, [], "\(seed)")
    }
  }

  func testEachStoredBodyStaysUntilTheAppOrABoundLetsItGo() async throws {
    var random = SeededGenerator()
    let count = LongTests.given("LEDGER_LIVES") ?? (LongTests.areOn ? 6000 : 300)
    var failureCount = 0
    for number in 0..<count where failureCount < 5 {
      let given = ProcessInfo.processInfo.environment["LEDGER_SEED"].flatMap { UInt64($0) }
      let seed = given ?? random.next()
      let life = LedgerLife(seed: seed)
      do {
        let lost = try await life.run(steps: 40)
        guard !lost.isEmpty else { continue }
        XCTFail(
          "life \(number), LEDGER_SEED=\(seed): lost \(lost) \(life.log.joined(separator: "\n"))")
      } catch {
        XCTFail("life \(number), LEDGER_SEED=\(seed): \(error) \(life.log.joined(separator: "\n"))")
      }
      failureCount += 1
    }
  }
}
