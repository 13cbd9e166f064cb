import ArchiveCodec
import Foundation
import RestorationInspection
import RestorationKit
import XCTest

/// put-back, of what was set aside, of generations and of sessions.
@MainActor
final class PutBackTests: ToolTestCase {
  private func columns(_ run: ToolRun) -> [[String]] {
    run.rows.map {
      $0.split(separator: "\t", omittingEmptySubsequences: false).map { String($0) }
    }
  }

  private func tree(_ text: String = "") -> NotesScreen {
    let tree = NotesScreen("window")
    tree.text = text
    return tree
  }

  /// A launch that says what it finds, and saves a text.
  @discardableResult
  private func launch(
    _ text: String?, version: String = "7", sessions: Bool = false
  ) async throws -> String {
    let keeper = try app().keeper(version: version)
    if sessions { keeper.policy.sessions = .last(10) }
    let tree = tree()
    _ = try await keeper.restore(into: [tree])
    let found = tree.restored
    if let text {
      tree.text = text
      _ = try await keeper.save([tree])
    }
    await keeper.close()
    return found
  }

  private func names(_ kind: String) throws -> [String] {
    columns(try inspect("history")).filter { $0[0] == kind }.map { $0[7] }
  }

  func testAGenerationIsPutBackAndWhatItReplacesIsSetAside() async throws {
    try await launch("one", version: "7")
    try await launch("two", version: "8")
    let name = try XCTUnwrap(try names("upgraded").first)
    let run = try inspect("put-back", name)
    XCTAssertEqual(run.status, 0, run.errors)
    let replaced = try XCTUnwrap(try names("replaced").first)
    XCTAssertEqual(run.lines, ["state\tfrom\tset aside", "main\t\(name)\t\(replaced)"])
    XCTAssertEqual(try names("upgraded"), [], "It is in its place, and nowhere else.")
    let found = try await launch(nil, version: "8")
    XCTAssertEqual(found, "one")
    // And back again, by its path.
    let path = "\(try sandbox().states)/\(replaced)"
    let again = try self.run("put-back", path, "--json")
    XCTAssertEqual(again.status, 0, again.errors)
    let lines = try XCTUnwrap(try again.json() as? [[String: String]])
    XCTAssertEqual(lines.map { $0["from"] }, [replaced])
    let last = try await launch(nil, version: "8")
    XCTAssertEqual(last, "two")
  }

  func testAStateThatWasSetAsideComesBackAlsoWhereNothingIsStored() async throws {
    try await launch("one")
    let storage = FileStorage(path: try sandbox().stateFile)
    _ = try storage.setAside(.unread, at: Date(timeIntervalSince1970: 1_700_000_001))
    let name = try XCTUnwrap(try names("unread").first)
    let run = try inspect("put-back", name, "--no-header")
    XCTAssertEqual(run.lines, ["main\t\(name)\t"], run.errors)
    let found = try await launch(nil)
    XCTAssertEqual(found, "one")
  }

  func testAStateThatIsPutBackIsRestoredAsIfNoRestoreOfItHadCrashed() async throws {
    try await launch("one", version: "8")
    let keeper = try app().keeper(version: "8")
    let tree = tree()
    var files = try sandbox().files()
    tree.onDecode = { files = try self.sandbox().files() }
    _ = try await keeper.restore(into: [tree])
    await keeper.close()
    for (name, bytes) in files {
      try bytes.write(to: URL(filePath: "\(try sandbox().states)/\(name)"))
    }
    XCTAssert(try inspect("explain").output.contains("1 restore by version 8 crashed"))
    let storage = FileStorage(path: try sandbox().stateFile)
    _ = try storage.setAside(.unread, at: Date(timeIntervalSince1970: 1_700_000_001))
    let name = try XCTUnwrap(try names("unread").first)
    XCTAssertEqual(try inspect("put-back", name).status, 0)
    XCTAssert(try inspect("explain").output.contains("No restore of this state crashed last."))
  }

  func testASessionIsPutBackAndStays() async throws {
    try await launch("one", sessions: true)
    try await launch("two", sessions: true)
    try await launch("three", sessions: true)
    let sessions = try names("session")
    XCTAssertEqual(sessions.count, 2)
    let oldest = try XCTUnwrap(sessions.last)
    let run = try inspect("put-back", oldest)
    XCTAssertEqual(run.status, 0, run.errors)
    XCTAssertEqual(columns(run).map { Array($0[..<2]) }, [["main", oldest]])
    XCTAssertEqual(try names("session"), sessions)
    XCTAssertEqual(try names("replaced").count, 1)
    // A run that was killed behind its last change says the same, and changes nothing.
    XCTAssertEqual(columns(try inspect("put-back", oldest)), [["main", oldest, ""]])
    XCTAssertEqual(try names("replaced").count, 1)
    let found = try await launch(nil)
    XCTAssertEqual(found, "one")
  }

  func testAClosedWindowIsOpenWhenItIsPutBack() async throws {
    let open = try await app().launchWindows { host in
      for title in ["Milk", "Tea"] {
        let scene = try await host.open()
        (scene.delegate as? NotesScene)?.title = title
        _ = try await host.save(scene)
      }
    }
    try await app().launchWindows { host in
      host.closedSceneBound = ClosedSceneBound(count: 5)
      for scene in host.connectedScenes where scene.session.title == "Milk" {
        try await host.close(scene)
      }
    }
    let session = try XCTUnwrap(try names("session").last)
    let state = "main.scene-\(try XCTUnwrap(open["Milk"]))"
    XCTAssertEqual(
      columns(try inspect("windows")).filter { $0[6] == state }.map { $0[1] }, ["closed"])
    let run = try inspect("put-back", session, "--state", state)
    XCTAssertEqual(run.status, 0, run.errors)
    // The list, which calls it closed, is set aside.
    XCTAssertEqual(columns(run).map { $0[0] }, [state, "main.scenes"])
    XCTAssertEqual(
      columns(try inspect("windows")).map { [$0[0], $0[1]] }.sorted { $0[0] < $1[0] },
      [["Milk", "unlisted"], ["Tea", "unlisted"]])
    var titles: [String?] = []
    try await app().launchWindows { titles = $0.connectedScenes.map(\.session.title) }
    XCTAssertEqual(Set(titles), ["Milk", "Tea"])
  }

  func testTheWindowsOfASessionComeBackAndNoneOfTodayIsLost() async throws {
    func titles() async throws -> [String] {
      var titles: [String] = []
      try await app().launchWindows { host in
        titles = host.connectedScenes.map { $0.session.title ?? "" }
        for scene in host.connectedScenes {
          (scene.delegate as? NotesScene)?.title = scene.session.title
        }
      }
      return titles.sorted()
    }
    func open(_ title: String, _ host: SceneHost) async throws {
      let scene = try await host.open()
      (scene.delegate as? NotesScene)?.title = title
      _ = try await host.save(scene)
    }
    try await app().launchWindows { host in
      try await open("Milk", host)
      try await open("Tea", host)
    }
    // This launch keeps the session with both; it closes one, changes the other, and opens a third.
    try await app().launchWindows { host in
      for scene in host.connectedScenes {
        if scene.session.title == "Milk" {
          try await host.close(scene)
        } else {
          (scene.delegate as? NotesScene)?.title = "Coffee"
          _ = try await host.save(scene)
        }
      }
      try await open("Bread", host)
    }
    let today = try await titles()
    XCTAssertEqual(today, ["Bread", "Coffee"])
    let all = try names("session")
    let session = try XCTUnwrap(
      try all.last { id in
        columns(try inspect("windows", "--session", id)).map { $0[0] }.sorted() == ["Milk", "Tea"]
      })
    let run = try inspect("put-back", session)
    XCTAssertEqual(run.status, 0, run.errors)
    let back = try await titles()
    XCTAssertEqual(back, ["Bread", "Milk", "Tea"])
  }

  func testOneWindowOfASessionIsPutBackAlthoughTheListHasDiscardedIt() async throws {
    let open = try await app().launchWindows { host in
      let scene = try await host.open()
      (scene.delegate as? NotesScene)?.title = "Milk"
      _ = try await host.save(scene)
    }
    let identifier = try XCTUnwrap(open["Milk"])
    try await app().launchWindows { host in
      for scene in host.connectedScenes { try await host.close(scene) }
    }
    let session = try XCTUnwrap(try names("session").last)
    let state = "main.scene-\(identifier)"
    let run = try inspect("put-back", session, "--state", state)
    XCTAssertEqual(run.status, 0, run.errors)
    var titles: [String?] = []
    try await app().launchWindows { titles = $0.connectedScenes.map(\.session.title) }
    XCTAssertEqual(titles, ["Milk"])
  }

  // MARK: What it refuses

  func testItRefusesWhileTheAppRuns() async throws {
    try await launch("one", version: "7")
    try await launch("two", version: "8")
    let name = try XCTUnwrap(try names("upgraded").first)
    let keeper = try app().keeper(version: "8")
    _ = try await keeper.restore(into: [tree()])
    let before = try sandbox().files()
    let run = try inspect("put-back", name)
    XCTAssertEqual(run.status, 4)
    XCTAssert(run.errors.contains("The state main is in use by process"), run.errors)
    XCTAssert(run.errors.contains("so nothing was changed. End the app"), run.errors)
    XCTAssertEqual(run.output, "")
    XCTAssertEqual(try sandbox().files(), before)
    await keeper.close()
    XCTAssertEqual(try inspect("put-back", name).status, 0)
  }

  func testWhatCannotBeReadTakesNoPlace() async throws {
    try await launch("one", version: "7")
    try await launch("two", version: "8")
    let name = try XCTUnwrap(try names("upgraded").first)
    let path = "\(try sandbox().states)/\(name)"
    let whole = try Data(contentsOf: URL(filePath: path))
    let state = try Data(contentsOf: URL(filePath: try sandbox().stateFile))
    for offset in stride(from: 0, to: whole.count, by: max(1, whole.count / 24)) {
      var damaged = whole
      damaged[offset] ^= 1
      try damaged.write(to: URL(filePath: path))
      let run = try inspect("put-back", name)
      XCTAssert([2, 3].contains(run.status), "\(offset): \(run.status) \(run.errors)")
      XCTAssertEqual(try Data(contentsOf: URL(filePath: try sandbox().stateFile)), state)
      XCTAssertEqual(try Data(contentsOf: URL(filePath: path)), damaged)
    }
    try whole.write(to: URL(filePath: path))
    try FileManager.default.removeItem(atPath: try sandbox().keyFile)
    XCTAssertEqual(try inspect("put-back", name).status, 3)
    XCTAssertEqual(try Data(contentsOf: URL(filePath: try sandbox().stateFile)), state)
  }

  func testDamageThatOnlyReadingToTheEndFindsTakesNoPlace() async throws {
    let tree = NotesScreen("window", children: (0..<4_000).map { NotesScreen("note \($0)") })
    try await app().save(tree, version: "7")
    try await launch("two", version: "8")
    let name = try XCTUnwrap(try names("upgraded").first)
    let path = "\(try sandbox().states)/\(name)"
    let state = try Data(contentsOf: URL(filePath: try sandbox().stateFile))
    var damaged = try Data(contentsOf: URL(filePath: path))
    XCTAssertGreaterThan(damaged.count, 1 << 17)
    damaged[damaged.count / 3] ^= 1
    try damaged.write(to: URL(filePath: path))
    let run = try inspect("put-back", name)
    XCTAssertEqual(run.status, 2)
    XCTAssert(run.errors.contains("cannot be read whole (damaged"), run.errors)
    XCTAssertEqual(try Data(contentsOf: URL(filePath: try sandbox().stateFile)), state)
    XCTAssertEqual(try Data(contentsOf: URL(filePath: path)), damaged)
  }

  func testWhatIsNotThereOrIsNoPartOfAStateIsNamed() async throws {
    XCTAssertEqual(try inspect("put-back", "main.rka.unread-1700000001-0").status, 6)
    try await launch("one")
    let before = try sandbox().files()
    for (name, status) in [
      ("main.rka", 6), ("main.rka.unread-1700000001-0", 6), ("../../key.rka.unread-1-0", 6),
      ("000000000001-000000000-0123456789abcdef", 6), ("notes.txt", 64),
    ] {
      let run = try inspect("put-back", name)
      XCTAssertEqual(run.status, Int32(status), "\(name): \(run.errors)")
      XCTAssertEqual(run.output, "")
    }
    XCTAssertEqual(try inspect("put-back").status, 64)
    XCTAssertEqual(try sandbox().files(), before)
  }

  func testAStateThatIsAlsoInAStoreIsLeftToTheApp() async throws {
    try await launch("one", version: "7")
    try await launch("two", version: "8")
    let name = try XCTUnwrap(try names("upgraded").first)
    let note = "\(try sandbox().states)/main.remote.launch.rka"
    try Data([1]).write(to: URL(filePath: note))
    let before = try sandbox().files()
    let run = try inspect("put-back", name)
    XCTAssertEqual(run.status, 5)
    XCTAssert(run.errors.contains("also in a store"), run.errors)
    XCTAssertEqual(
      try sandbox().files().filter { $0.key.hasSuffix(".lock") == false },
      before.filter { $0.key.hasSuffix(".lock") == false })
  }
}
