import ArchiveCodec
import Foundation
import RestorationKit
import RestorationTesting
import TestSupport
import XCTest

@MainActor
final class GoldenStatesTests: XCTestCase {
  /// A screen of an app whose state gets another key in version 2.
  private final class Note: @MainActor RestorableNode {
    let restorationIdentifier: String? = "note"
    var text = ""
    private let key: String

    init(key: String) { self.key = key }

    func encodeRestorableState(with coder: StateEncoder) throws {
      coder.encode(text, forKey: key)
    }

    func decodeRestorableState(with coder: StateDecoder) throws {
      text = try coder.decode(forKey: key)
    }
  }

  private func states(
    _ folder: String, version: Int = 1, migrations: Migrations = [:]
  ) -> GoldenStates {
    GoldenStates(folder: folder) {
      RestorationTester { keeper in
        try keeper.register(Note.self, version: version, migrations: migrations)
      }
    }
  }

  private let migration: Migrations = [1: { try $0.rename("text", to: "words") }]

  private func recordTwoReleases(in folder: String) async throws {
    let (first, second) = (Note(key: "text"), Note(key: "words"))
    (first.text, second.text) = ("one", "two")
    try await states(folder).record("1.9", first)
    try await states(folder, version: 2, migrations: migration).record("1.10", second)
  }

  func testEveryRecordedStateIsRestoredByTheCodeOfToday() async throws {
    let directory = try TemporaryDirectory()
    let folder = directory.child("states")
    try await recordTwoReleases(in: folder)
    let today = states(folder, version: 2, migrations: migration)
    XCTAssertEqual(try today.releases(), ["1.9", "1.10"])
    let restored = try await today.restoreAll { Note(key: "words") }
    XCTAssertEqual(restored.map(\.release), ["1.9", "1.10"])
    XCTAssertEqual(restored.map(\.root.text), ["one", "two"])
    XCTAssertEqual(restored.map { $0.report.notes.first }, [.migrated(from: 1), nil])
  }

  func testAllThatDoesNotComeBackIsThrownTogether() async throws {
    let directory = try TemporaryDirectory()
    let folder = directory.child("states")
    try await recordTwoReleases(in: folder)
    // Somebody has forgotten the migration, and then reads another key.
    for (today, expected) in [
      (states(folder), ["1.10: "]), (states(folder, version: 2), []),
      (states(folder, version: 2, migrations: migration), []),
    ] {
      do {
        _ = try await today.restoreAll { Note(key: "other") }
        XCTFail("It did not throw.")
      } catch let failure as RestorationTestFailure {
        XCTAssertEqual(failure.code, .stateNotBack)
        XCTAssertEqual(failure.subject, folder)
        for release in ["1.9: ", "1.10: "] + expected {
          XCTAssertTrue(failure.seen.contains(release), failure.seen)
        }
      }
    }
  }

  func testAReleaseThatIsRecordedStaysAsItIs() async throws {
    let directory = try TemporaryDirectory()
    let golden = states(directory.child("states"))
    let note = Note(key: "text")
    note.text = "old"
    let (first, second) = (try await golden.record("1", note), try await golden.record("1", note))
    XCTAssertTrue(first)
    XCTAssertFalse(second)
    let bytes = try directory.bytes(of: "states/1/main.rka")
    note.text = "new"
    try await golden.record("1", note)
    XCTAssertEqual(try directory.bytes(of: "states/1/main.rka"), bytes)
    XCTAssertEqual(
      try FileManager.default.contentsOfDirectory(atPath: directory.child("states")), ["1"])
  }

  func testAFolderWithoutStatesFailsTheTest() async throws {
    let directory = try TemporaryDirectory()
    let golden = states(directory.child("states"))
    XCTAssertEqual(try golden.releases(), [])
    do {
      _ = try await golden.restoreAll { Note(key: "text") }
      XCTFail("It did not throw.")
    } catch let failure as RestorationTestFailure {
      XCTAssertEqual(failure.code, .notRecorded)
    }
  }

  func testAStateWhoseFilesAreGoneOrDamagedFailsTheTest() async throws {
    let directory = try TemporaryDirectory()
    let golden = states(directory.child("states"))
    try await golden.record("1", Note(key: "text"))
    let bytes = try directory.bytes(of: "states/1/main.rka")
    try directory.write(Array(bytes.dropLast()), to: "states/1/main.rka")
    for _ in 0..<2 {
      do {
        _ = try await golden.restoreAll { Note(key: "text") }
        XCTFail("It did not throw.")
      } catch let failure as RestorationTestFailure {
        XCTAssertEqual(failure.code, .stateNotBack)
      }
      try? FileManager.default.removeItem(atPath: directory.child("states/1/main.rka"))
    }
  }

  func testAReleaseWhoseFilesAreAllGoneIsNotHandedToTheApp() async throws {
    let directory = try TemporaryDirectory()
    let golden = states(directory.child("states"))
    try await golden.record("1", Note(key: "text"))
    try FileManager.default.removeItem(atPath: directory.child("states/1/main.rka"))
    var releases: [String] = []
    do {
      // One that only looks at the windows that are back would find nothing wrong.
      try await golden.restoreAll { release, _ in releases.append(release) }
      XCTFail("It did not throw.")
    } catch let failure as RestorationTestFailure {
      XCTAssertEqual(failure.code, .stateNotBack)
      XCTAssertEqual(
        failure.seen,
        "1: \(directory.child("states/1")): A recorded release has a file for each state."
          + " There is no file that ends in “.rka”.")
    }
    XCTAssertEqual(releases, [])
  }

  func testReleasesAreInTheOrderOfTheirNumbers() throws {
    let directory = try TemporaryDirectory()
    let expected = [
      "1", "1.9", "1.9b2", "1.9b10", "1.10", "1a", "2", "2.0-beta", "10", "2026-01", "next",
    ]
    let golden = states(directory.path)
    for release in expected.reversed() {
      try FileManager.default.createDirectory(
        atPath: directory.child(release), withIntermediateDirectories: false)
    }
    XCTAssertEqual(try golden.releases(), expected)
  }

  func testNothingIsRecordedUnderANameThatIsNoFolderOrWhereNothingIsSaved() async throws {
    let directory = try TemporaryDirectory()
    let golden = states(directory.child("states"))
    for name in ["", "..", ".1", "1/2"] {
      do {
        try await golden.record(name, Note(key: "text"))
        XCTFail("It did not throw for “\(name)”.")
      } catch let failure as RestorationTestFailure {
        XCTAssertEqual(failure.code, .notRecorded)
      }
    }
    do {
      try await golden.record("1") { _ in }
      XCTFail("It did not throw.")
    } catch let failure as RestorationTestFailure {
      XCTAssertEqual(failure.seen, "Nothing was saved.")
    }
    XCTAssertEqual(try golden.releases(), [])
  }

  func testWindowsAreRecordedAndRestored() async throws {
    let directory = try TemporaryDirectory()
    let golden = GoldenStates(folder: directory.child("states")) {
      let tester = RestorationTester()
      tester.prepareHost = { host in
        host.register(SceneConfiguration { TestSceneDelegate(root: TestNode("root")) })
      }
      return tester
    }
    try await golden.record("1") { tester in
      let host = try await tester.launchHost()
      for value in ["a", "b"] {
        let scene = try await host.open()
        scene.testRoot?.value = value
        try await host.background(scene)
      }
    }
    var values: [String: [String]] = [:]
    try await golden.restoreAll { release, tester in
      let host = try await tester.launchHost()
      values[release] = host.connectedScenes.compactMap { $0.testRoot?.value }
    }
    XCTAssertEqual(values.mapValues { $0.sorted() }, ["1": ["a", "b"]])
  }
}
