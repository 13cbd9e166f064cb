import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// States that older versions wrote, kept as files.
@MainActor
final class StoredStateTests: XCTestCase {
  private struct FixedKey: KeyProvider {
    func key(creating: Bool) throws(ArchiveError) -> ArchiveKey? {
      let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 32, alignment: 1)
      defer { bytes.deallocate() }
      for place in bytes.indices { bytes[place] = UInt8(place) }
      return try ArchiveKey(moving: bytes)
    }
  }

  private static let time = Date(timeIntervalSinceReferenceDate: 800_000_000)

  /// Kept alive, which a keeper does not do.
  private let delegate = TestDelegate()

  private func file(_ version: Int) -> URL {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("StoredStates/version-\(version).rka")
  }

  private func keeper(
    _ store: MemoryStateDirectory, version: Int = GoldenScreen.version
  ) throws -> StateKeeper {
    let keeper = try StateKeeper(
      application: "org.example.golden", directory: store, keys: FixedKey(),
      environment: ApplicationEnvironment(applicationVersion: "\(version)", systemVersion: "6.1"),
      now: { Self.time })
    try keeper.register(
      GoldenScreen.self, version: version,
      migrations: GoldenScreen.migrations.filter { $0.key < version })
    return keeper
  }

  private func screens() -> [GoldenScreen] {
    let (left, right) = (GoldenScreen("left"), GoldenScreen("right"))
    left.restorationChildren = [GoldenScreen("empty")]
    return [left, right]
  }

  func testEveryVersionThatWasEverStoredIsMigrated() async throws {
    for version in 1...GoldenScreen.version {
      let store = MemoryStateDirectory()
      store.memory(named: "main").bytes = Array(try Data(contentsOf: file(version)))
      let keeper = try keeper(store)
      let screens = screens()
      var facts: [String?] = []
      delegate.onShouldRestore = {
        facts = [
          $0.applicationVersion, $0.userInterfaceIdiom, $0.systemVersion, $0.timestamp?.description,
        ]
      }
      keeper.delegate = delegate
      let report = try await keeper.restore(into: screens)
      XCTAssertEqual(facts, ["\(version)", "unspecified", "6.1", Self.time.description])
      XCTAssertEqual(report.problems, [], "version \(version)")
      let notes: [ReportNote] =
        version == GoldenScreen.version ? [] : [.migrated(from: version)]
      XCTAssertEqual(report.entries.map(\.notes), Array(repeating: notes, count: 3))
      let left = screens[0]
      XCTAssertEqual(left.title, "Left “1”", "version \(version)")
      XCTAssertEqual([left.breadth, left.height], [640, -480], "version \(version)")
      XCTAssertEqual(left.filter, GoldenScreen.Filter(tags: ["new"]), "version \(version)")
      XCTAssertEqual(left.since, Date(timeIntervalSinceReferenceDate: 1.5), "version \(version)")
      XCTAssertIdentical(left.sibling, screens[1], "version \(version)")
      XCTAssertIdentical(screens[1].sibling, left, "version \(version)")
      let empty = try XCTUnwrap(left.restorationChildren.first as? GoldenScreen)
      XCTAssertEqual(empty.filter, GoldenScreen.Filter(tags: []), "version \(version)")
    }
  }

  func testMissingStatesAreWritten() async throws {
    try XCTSkipUnless(
      ProcessInfo.processInfo.environment["WRITE_STATES"] == "1",
      "Stored states are only read. Run with WRITE_STATES=1 to write those that are missing.")
    for version in 1...GoldenScreen.version
    where !FileManager.default.fileExists(atPath: file(version).path) {
      try Data(try await written(version)).write(to: file(version))
    }
  }

  /// The bytes that a version stores.
  private func written(_ version: Int) async throws -> [UInt8] {
    let screens = screens()
    screens[0].title = "Left “1”"
    (screens[0].breadth, screens[0].height) = (640, -480)
    screens[0].filter.tags = ["new"]
    screens[0].since = Date(timeIntervalSinceReferenceDate: 1.5)
    (screens[0].sibling, screens[1].sibling) = (screens[1], screens[0])
    for screen in screens + screens[0].restorationChildren.compactMap({ $0 as? GoldenScreen }) {
      screen.playedVersion = version
    }
    let store = MemoryStateDirectory()
    let report = try await keeper(store, version: version).save(screens)
    XCTAssertEqual(report.problems, [])
    return try XCTUnwrap(store.memory(named: "main").bytes)
  }
}
