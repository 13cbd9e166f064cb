import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// Instances of one app beside each other.
@MainActor
class InstanceTestCase: XCTestCase {
  let app = SceneLaunch()
  var launch: Launch { app.launch }
  let day: TimeInterval = 24 * 60 * 60

  func second(_ name: String = "main") throws -> StateKeeper {
    try StateKeeper(
      application: Launch.application, name: name, directory: launch.store, keys: launch.keys,
      now: { [launch] in launch.now })
  }

  func save(_ value: String, with keeper: StateKeeper) async throws -> PreservationReport {
    try await keeper.save([TestNode("a", value: value)])
  }

  func value(with keeper: StateKeeper) async throws -> String? {
    let node = TestNode("a")
    _ = try await keeper.restore(into: [node])
    return node.value
  }

  func host(_ keeper: StateKeeper) -> SceneHost {
    let host = SceneHost(keeper)
    host.delegate = app.hostDelegate
    host.declaredActivityTypes = ["product"]
    host.register(SceneConfiguration { [app] in app.makeDelegate() })
    return host
  }
}
