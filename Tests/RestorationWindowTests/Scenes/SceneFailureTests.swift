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
    let panel = SceneRole(rawValue: "panel")
    var made: [String] = []
    func register(_ role: SceneRole, _ name: String?, _ maker: String) {
      host.register(
        SceneConfiguration(role: role, name: name) { [app] in
          made.append(maker)
          return app.makeDelegate()
        })
    }
    register(.windowApplication, nil, "first")
    register(panel, nil, "panel")
    register(.windowApplication, "other", "other")
    register(.windowApplication, nil, "last")
    try await host.launch()
    try await host.open()
    try await host.open(panel)
    try await host.open(configurationName: "other")
    XCTAssertEqual(made, ["last", "panel", "other"])
  }

  /// A list of scenes that cannot be looked through for what was set aside.
  private struct StubbornStore: StateDirectory {
    let store: MemoryStateDirectory

    func storage(named name: String) -> any ArchiveStorage {
      let storage = store.storage(named: name)
      return name == "main.scenes" ? StubbornStorage(storage: storage) : storage
    }
  }

  private struct StubbornStorage: ArchiveStorage {
    let storage: any ArchiveStorage

    var location: String { storage.location }
    func open() throws(ArchiveError) -> (any ArchiveFile)? { try storage.open() }
    func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)? {
      try storage.openForAppending()
    }
    func lock() throws(ArchiveError) -> any ArchiveLock { try storage.lock() }
    func isLocked() throws(ArchiveError) -> Bool { try storage.isLocked() }
    func replace(_ body: (any ArchiveSink) throws(ArchiveError) -> Void) throws(ArchiveError) {
      try storage.replace(body)
    }
    func remove() throws(ArchiveError) { try storage.remove() }
    func setAside() throws(ArchiveError) -> String? { try storage.setAside() }
    func setAside(_ reason: SetAsideReason, at date: Date) throws(ArchiveError) -> String? {
      try storage.setAside(reason, at: date)
    }
    func setAsideArchives() throws(ArchiveError) -> [SetAsideArchive] {
      throw ArchiveError(.inputOutput, location: location)
    }
    func putBack(_ archive: SetAsideArchive) throws(ArchiveError) { try storage.putBack(archive) }
  }
}
