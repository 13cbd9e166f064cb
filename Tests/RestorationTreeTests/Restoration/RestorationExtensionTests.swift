import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// Work of a restore that goes on after it.
@MainActor
final class RestorationExtensionTests: XCTestCase {
  private let launch = Launch()

  /// A launch that has restored, with what the body did while it decoded.
  private func restored(_ body: @escaping (StateKeeper) -> Void) async throws -> StateKeeper {
    if launch.storedBytes == nil { _ = try await launch.keeper().save([TestNode("a")]) }
    let keeper = try launch.keeper()
    keeper.policy.crashThreshold = 1
    let node = TestNode("a")
    node.onDecode = { _ in body(keeper) }
    _ = try await keeper.restore(into: [node])
    held.append(keeper)
    return keeper
  }

  /// A keeper that goes ends its restore, and a process that is killed does not.
  private var held: [StateKeeper] = []

  private func nextOutcome() async throws -> RestorationReport.Outcome {
    let keeper = try launch.keeper()
    keeper.policy.crashThreshold = 1
    return try await keeper.restore().outcome
  }

  func testACrashBetweenExtendAndCompleteIsBlamedOnTheState() async throws {
    _ = try await restored { $0.extendStateRestoration() }
    let outcome = try await nextOutcome()
    XCTAssertEqual(outcome, .crashed(setAsideAt: "memory 1"))
  }

  func testOneCompleteOfTwoExtendsIsNotEnough() async throws {
    let keeper = try await restored {
      $0.extendStateRestoration()
      $0.extendStateRestoration()
      $0.completeStateRestoration()
    }
    XCTAssertEqual(keeper.status, .restoring)
    let outcome = try await nextOutcome()
    XCTAssertEqual(outcome, .crashed(setAsideAt: "memory 1"))
  }

  func testALaunchAfterAnExtensionThatDidNotEndAsksNothingAndSetsTheStateAside() async throws {
    for completes in 0...2 {
      _ = try await launch.keeper().save([TestNode("a", value: "\(completes)")])
      let bytes = try XCTUnwrap(launch.storedBytes)
      let setAside = launch.setAside
      let keeper = try await restored {
        $0.extendStateRestoration()
        $0.extendStateRestoration()
      }
      XCTAssertNotNil(launch.markerBytes)
      // The restore itself is through.
      for _ in 0..<completes { keeper.completeStateRestoration() }
      if completes == 2 { await keeper.restorationEnded() }
      XCTAssertEqual(launch.markerBytes == nil, completes == 2)
      XCTAssertEqual(launch.storedBytes, bytes)

      let trace = Trace()
      let delegate = TestDelegate(trace)
      let next = try launch.keeper(delegate: delegate)
      next.policy.crashThreshold = 1
      let node = TestNode("a", trace: trace)
      _ = try await next.restore(into: [node])
      if completes == 2 {
        XCTAssertEqual(node.value, "2")
        XCTAssertEqual(launch.disk, LaunchDisk(state: bytes))
        XCTAssertEqual(launch.setAside, setAside)
      } else {
        XCTAssertEqual(trace.events, [])
        XCTAssertEqual(launch.disk, LaunchDisk())
        XCTAssertEqual(launch.setAside, setAside + [bytes])
      }
    }
  }

  func testTheLastCompleteEndsTheRestore() async throws {
    let keeper = try await restored { $0.extendStateRestoration() }
    XCTAssertNotNil(launch.markerBytes)
    keeper.completeStateRestoration()
    await keeper.restorationEnded()
    XCTAssertNil(launch.markerBytes)
    XCTAssertEqual(keeper.status, .active)
    let outcome = try await nextOutcome()
    XCTAssertEqual(outcome, .restored)
  }

  func testACompleteTooManyIsIgnored() async throws {
    let keeper = try launch.keeper()
    keeper.completeStateRestoration()
    _ = try await restored {
      $0.completeStateRestoration()
      $0.extendStateRestoration()
      $0.completeStateRestoration()
      $0.completeStateRestoration()
    }
    XCTAssertNil(launch.markerBytes)
    // The counter did not go below 0: one extend is open again.
    _ = try await restored {
      $0.completeStateRestoration()
      $0.extendStateRestoration()
    }
    XCTAssertNotNil(launch.markerBytes)
  }

  func testWithoutARestoreNobodyWaits() async throws {
    await (try launch.keeper()).restorationEnded()
  }

  func testAWaitBeginsBeforeTheRestoreIsThrough() async throws {
    var ended: Task<Bool, Never>?
    let keeper = try await restored { [launch] keeper in
      keeper.extendStateRestoration()
      ended = Task { @MainActor in
        await keeper.restorationEnded()
        return launch.markerBytes == nil
      }
    }
    keeper.completeStateRestoration()
    let wasUnmarked = await ended?.value
    XCTAssertEqual(wasUnmarked, true)
  }

  /// Meant for the thread sanitizer, too.
  func testAnyThreadMayExtendAndComplete() async throws {
    let keeper = try await restored { keeper in
      keeper.extendStateRestoration()
      let work = keeper.restorationExtension
      DispatchQueue.concurrentPerform(iterations: 64) { _ in
        work.extend()
        work.complete()
      }
      for _ in 1...64 { work.extend() }
    }
    XCTAssertNotNil(launch.markerBytes)
    let work = keeper.restorationExtension
    await withTaskGroup { group in
      for _ in 1...64 { group.addTask { work.complete() } }
      for _ in 1...8 {
        group.addTask {
          work.extend(); work.complete()
        }
      }
    }
    XCTAssertEqual(keeper.status, .restoring)
    async let first: Void = work.ended()
    async let second: Void = work.ended()
    work.complete()
    _ = await (first, second)
    XCTAssertNil(launch.markerBytes)
  }

  func testAKeeperThatGoesInARestoreAfterItsKeyWasLostMakesNoOtherKey() async throws {
    _ = try await restored { $0.extendStateRestoration() }
    XCTAssertNotNil(launch.markerBytes)
    launch.keys.lose()
    held = []
    // The file of its state goes after it, and not on this thread.
    try await waitUntil("the lock is let go") {
      try !launch.store.storage(named: "main").isLocked()
    }
    XCTAssertNil(try launch.keys.key(creating: false))
  }
}
