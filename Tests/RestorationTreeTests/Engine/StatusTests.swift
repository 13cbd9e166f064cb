import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// What a keeper says of itself; locked and failed are in LockedTests.
@MainActor
final class StatusTests: XCTestCase {
  private let launch = Launch()

  func testALaunchIsNotRestoredThenRestoringThenActive() async throws {
    let keeper = try launch.keeper()
    XCTAssertEqual(keeper.problem, KeeperProblem.notRestoredYet)
    _ = try await keeper.save([TestNode("a")])
    let node = TestNode("a")
    var during: String? = "not asked"
    node.onDecode = { _ in during = keeper.problem }
    _ = try await keeper.restore(into: [node])
    XCTAssertNil(during)
    XCTAssertNil(keeper.problem)
  }

  func testARestoreThatWaitsForItsTurnIsNotUnderWay() async throws {
    let keeper = try launch.keeper()
    let node = TestNode("a")
    var (waiting, during): (Task<Void, any Error>?, String?)
    node.onEncode = { _ in
      waiting = Task.immediate { @MainActor in _ = try await keeper.restore() }
      during = keeper.problem
    }
    _ = try await keeper.save([node])
    XCTAssertEqual(during, KeeperProblem.notRestoredYet)
    try await waiting?.value
    XCTAssertNil(keeper.problem)
  }

  func testALaunchWithoutStateIsActive() async throws {
    let keeper = try launch.keeper()
    _ = try await keeper.restore()
    XCTAssertNil(keeper.problem)
  }

  func testADelegateThatIsGoneIsSaid() throws {
    let keeper = try launch.keeper()
    do {
      let delegate = TestDelegate()
      keeper.delegate = delegate
      XCTAssertEqual(keeper.problem, KeeperProblem.notRestoredYet)
      _ = delegate
    }
    XCTAssertEqual(
      keeper.problem,
      "Nothing restored: the delegate is gone. Keep it alive, or set it to nil to go on without"
        + " one.")
  }

  func testARestoreThatWasDeclinedIsSaid() async throws {
    _ = try await launch.keeper().save([])
    let delegate = TestDelegate()
    delegate.restores = false
    let keeper = try launch.keeper(delegate: delegate)
    _ = try await keeper.restore()
    XCTAssertEqual(
      keeper.problem, "Nothing restored: the gate said no.")
  }

  func testCrashesAreSaidWithThePlaceOfTheState() async throws {
    _ = try await launch.keeper().save([TestNode("a")])
    for _ in 1...2 { try await launch.crash() }
    let keeper = try launch.keeper()
    _ = try await keeper.restore()
    XCTAssertEqual(
      keeper.problem,
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
      XCTAssertEqual(
        keeper.problem, "Nothing was restored. \(error)")
    }
  }
}
