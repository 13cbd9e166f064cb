package import RestorationKit
import XCTest

/// What the tests of saves by time share.
@MainActor
open class AutosavePollTestCase: AutosaveTestCase {
  /// The root of most of these tests, which says nothing of its changes.
  package let plain = PlainNode("root")

  /// An autosave that has made its first save, and waits for its next save by time alone.
  package func polled(
    _ keeper: StateKeeper, of other: (any RestorableNode)? = nil
  ) async throws -> Autosave {
    let autosave = try await begun(keeper, of: other ?? plain)
    clock.advance(by: Self.interval)
    try await pauses([.milliseconds(1750)])
    clock.advance(by: .milliseconds(1750))
    try await pauses([.seconds(2)])
    return autosave
  }

  /// Waits until somebody sleeps for so long, and moves on by that.
  package func pass(_ duration: Duration) async throws {
    try await pauses([duration])
    clock.advance(by: duration)
  }
}
