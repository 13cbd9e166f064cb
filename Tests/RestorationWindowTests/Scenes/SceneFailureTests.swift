import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// Scenes of which some cannot be stored.
@MainActor
final class SceneFailureTests: XCTestCase {
  private let app = SceneLaunch()

  func testOfTwoConfigurationsOfOneRoleAndNameTheLastCounts() async throws {
    let host = SceneHost(try app.launch.keeper())
    let panel = "panel"
    var made: [String] = []
    func register(_ role: String, _ name: String?, _ maker: String) {
      host.register(
        SceneConfiguration(role: role, name: name) { [app] in
          made.append(maker)
          return app.makeDelegate()
        })
    }
    register("windowApplication", nil, "first")
    register(panel, nil, "panel")
    register("windowApplication", "other", "other")
    register("windowApplication", nil, "last")
    try await host.launch()
    try await host.open()
    try await host.open(panel)
    try await host.open(configurationName: "other")
    XCTAssertEqual(made, ["last", "panel", "other"])
  }
}
