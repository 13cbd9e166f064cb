import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// What is stored opens with the contexts of the specification.
@MainActor
final class StoredContextTests: XCTestCase {
  private let app = SceneLaunch()

  func testStatesScenesListsAndMarkersHaveTheContextsOfTheSpecification() async throws {
    _ = try await app.launch.keeper().save([TestNode("a")])
    let scene = try await app.store(1, in: try await app.host())
    // A launch that has crashed leaves a marker.
    try await app.launch.crash()
    let key = try XCTUnwrap(try app.launch.keys.key(creating: false))
    for (name, fields) in [
      ("main", ["main"]), ("main.scenes", ["main.scenes"]),
      ("main.scene-\(scene)", ["main.scene-\(scene)"]),
    ] {
      let archive = try Archive.open(
        app.launch.store.memory(named: name), key: key,
        context: ArchiveContext(["org.example.test"] + fields))
      XCTAssertNotNil(archive, name)
    }
    let marker = try XCTUnwrap(app.launch.store.memory(named: "main.launch").bytes)
    let record = try SealedRecord.open(
      marker, key: key, context: ArchiveContext(["org.example.test", "main", "launch"]))
    XCTAssertEqual(record.byteCount, marker.count - 8, "Behind a marker is a note.")
  }
}
