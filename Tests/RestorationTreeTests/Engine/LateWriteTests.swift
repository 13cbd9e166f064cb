import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// What comes late does nothing to what is newer.
@MainActor
final class LateWriteTests: XCTestCase {
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
