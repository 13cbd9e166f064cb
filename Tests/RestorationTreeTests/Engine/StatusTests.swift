import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// What a keeper says of itself; locked and failed are in LockedTests.
@MainActor
final class StatusTests: XCTestCase {
  private let launch = Launch()

  private let delegateIsGone = RestorationStatus.notRestored(.delegateGone)
  private let wasDeclined = RestorationStatus.notRestored(.declined)
  private func hasCrashed(_ location: String?) -> RestorationStatus {
    .notRestored(.crashed(setAsideAt: location))
  }

  private func check(
    _ keeper: StateKeeper, _ status: RestorationStatus, _ problem: String?, line: UInt = #line
  ) {
    XCTAssertEqual(keeper.status, status, line: line)
    XCTAssertEqual(keeper.problem, problem, line: line)
  }

  func testALaunchIsNotRestoredThenRestoringThenActive() async throws {
    let keeper = try launch.keeper()
    check(
      keeper, .notRestoredYet, "Nothing was restored yet. Call restore(into:) at launch.")
    _ = try await keeper.save([TestNode("a")])
    let node = TestNode("a")
    var during: RestorationStatus?
    node.onDecode = { _ in during = keeper.status }
    _ = try await keeper.restore(into: [node])
    XCTAssertEqual(during, .restoring)
    XCTAssertNil(RestorationStatus.restoring.problem)
    check(keeper, .active, nil)
  }

  func testARestoreThatWaitsForItsTurnIsNotUnderWay() async throws {
    let keeper = try launch.keeper()
    let node = TestNode("a")
    var (waiting, during): (Task<Void, any Error>?, RestorationStatus?)
    node.onEncode = { _ in
      waiting = Task.immediate { @MainActor in _ = try await keeper.restore() }
      during = keeper.status
    }
    _ = try await keeper.save([node])
    XCTAssertEqual(during, .notRestoredYet)
    try await waiting?.value
    XCTAssertEqual(keeper.status, .active)
  }

  func testALaunchWithoutStateIsActive() async throws {
    let keeper = try launch.keeper()
    _ = try await keeper.restore()
    XCTAssertEqual(keeper.status, .active)
  }

  func testADelegateThatIsGoneIsSaid() throws {
    let keeper = try launch.keeper()
    do {
      let delegate = TestDelegate()
      keeper.delegate = delegate
      XCTAssertEqual(keeper.status, .notRestoredYet)
      _ = delegate
    }
    check(
      keeper, delegateIsGone,
      "Nothing restored: the delegate is gone. Keep it alive, or set it to nil to go on without"
        + " one.")
  }

  func testARestoreThatWasDeclinedIsSaid() async throws {
    _ = try await launch.keeper().save([])
    let delegate = TestDelegate()
    delegate.restores = false
    let keeper = try launch.keeper(delegate: delegate)
    _ = try await keeper.restore()
    check(
      keeper, wasDeclined, "Nothing restored: the gate said no.")
  }

  func testCrashesAreSaidWithThePlaceOfTheState() async throws {
    _ = try await launch.keeper().save([TestNode("a")])
    for _ in 1...2 { try await launch.crash() }
    let keeper = try launch.keeper()
    _ = try await keeper.restore()
    check(
      keeper, hasCrashed(launch.crashedLocation),
      "Nothing restored: the last restores crashed."
        + " What was stored is set aside at \(launch.crashedLocation ?? "").")
  }

  func testAStateThatCannotBeReadIsSaid() async throws {
    launch.storedBytes = [1, 2, 3]
    _ = try launch.keys.key(creating: true)
    let keeper = try launch.keeper()
    do {
      _ = try await keeper.restore()
      XCTFail("did not throw")
    } catch {
      XCTAssertEqual(
        WholeError(error),
        WholeError(notRestored: ArchiveError(.notAnArchive, offset: 0, location: "memory")))
      check(
        keeper, .failed(error.description), "Nothing was restored. \(error)")
    }
  }

  func testALockedKeyIsSaid() {
    XCTAssertEqual(
      RestorationStatus.locked.problem,
      "Nothing restored: the key is locked. Restore again when it is unlocked.")
  }
}
