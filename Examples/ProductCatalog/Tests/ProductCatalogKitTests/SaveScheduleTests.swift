import ProductCatalogKit
import XCTest

@MainActor final class SaveScheduleTests: XCTestCase {
  private var value = 0
  private var saved: [Int] = []
  private var savesUnderWay = 0
  private var failures = 0

  private func schedule(interval: Duration) -> SaveSchedule {
    SaveSchedule(interval: interval) { [self] in
      savesUnderWay += 1
      XCTAssertEqual(savesUnderWay, 1)
      let walked = value
      for _ in 1...5 { await Task.yield() }
      savesUnderWay -= 1
      guard failures == 0 else {
        failures -= 1
        return false
      }
      saved.append(walked)
      return true
    }
  }

  private func change(_ schedule: SaveSchedule, times: Int) async {
    for _ in 1...times {
      value += 1
      schedule.noteChange()
      await Task.yield()
    }
  }

  func testNothingIsSavedWithoutAChange() async {
    let schedule = schedule(interval: .zero)
    await schedule.finish()
    XCTAssertEqual(saved, [])
  }

  func testTheFirstChangeIsSavedAtOnceAndTheRestTogether() async {
    let schedule = schedule(interval: .seconds(3600))
    await change(schedule, times: 100)
    XCTAssertEqual(saved, [1])
    await schedule.finish()
    XCTAssertEqual(saved, [1, 100])
    await schedule.finish()
    XCTAssertEqual(saved, [1, 100])
  }

  func testChangesAfterAFinishAreSavedToo() async {
    let schedule = schedule(interval: .zero)
    await change(schedule, times: 1)
    await schedule.finish()
    await change(schedule, times: 1)
    while saved.last != 2 { await Task.yield() }
    XCTAssertEqual(saved, [1, 2])
  }

  func testAChangeDuringASaveIsSavedByTheNextOne() async {
    let schedule = schedule(interval: .zero)
    await change(schedule, times: 3)
    while saved.last != 3 { await Task.yield() }
    XCTAssertEqual(saved, [1, 3])
  }

  func testWhatCouldNotBeSavedIsTriedAgainWithoutAnotherChange() async {
    failures = 3
    let schedule = schedule(interval: .zero)
    await change(schedule, times: 1)
    while saved.isEmpty { await Task.yield() }
    XCTAssertEqual(saved, [1])
    XCTAssertEqual(failures, 0)
  }

  func testALastFailureDoesNotHoldUpTheEnd() async {
    failures = .max
    let schedule = schedule(interval: .seconds(3600))
    await change(schedule, times: 1)
    await schedule.finish()
    XCTAssertEqual(saved, [])
  }
}
