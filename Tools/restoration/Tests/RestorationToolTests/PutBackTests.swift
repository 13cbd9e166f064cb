import ArchiveCodec
import Foundation
import RestorationInspection
import RestorationKit
import XCTest

/// put-back, of what history lists.
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
    _ text: String?, version: String = "7"
  ) async throws -> String {
    let keeper = try app().keeper(version: version)
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

  func testAnOlderStateIsPutBackAndSoIsWhatItHasReplaced() async throws {
    try await launch("one", version: "7")
    try await launch("two", version: "8")
    let name = try XCTUnwrap(try names("version").first)
    let run = try inspect("put-back", name)
    XCTAssertEqual(run.status, 0, run.errors)
    let replaced = try XCTUnwrap(try names("putBack").first)
    XCTAssertEqual(run.lines, ["state\tfrom\tkept", "main\t\(name)\t\(replaced)"])
    XCTAssertEqual(try names("version"), [name])
    // A run that was killed behind its last change says the same, and changes nothing.
    XCTAssertEqual(try inspect("put-back", name).rows, ["main\t\(name)\t"])
    XCTAssertEqual(try names("putBack"), [replaced])
    let found = try await launch(nil, version: "8")
    XCTAssertEqual(found, "one")
    // And back again, by its path.
    let path = "\(try sandbox().history())/\(replaced)"
    let again = try self.run("put-back", path, "--json")
    XCTAssertEqual(again.status, 0, again.errors)
    XCTAssertEqual(try again.object()["from"] as? String, replaced)
    let last = try await launch(nil, version: "8")
    XCTAssertEqual(last, "two")
  }

  func testAnOlderStateComesBackAlsoWhereNothingIsStored() async throws {
    try await launch("one", version: "7")
    try await launch("two", version: "8")
    try FileManager.default.removeItem(atPath: try sandbox().stateFile)
    let name = try XCTUnwrap(try names("version").first)
    let run = try inspect("put-back", name, "--no-header")
    XCTAssertEqual(run.lines, ["main\t\(name)\t"], run.errors)
    let found = try await launch(nil)
    XCTAssertEqual(found, "one")
  }

  func testTheStateOfAnotherInstanceIsPutBack() async throws {
    try await launch("one")
    let first = try app().keeper(version: "8")
    _ = try await first.restore(into: [tree()])
    for (text, version) in [("two", "8"), ("three", "9")] {
      let second = try app().keeper(version: version)
      let tree = tree()
      _ = try await second.restore(into: [tree])
      XCTAssertEqual(second.stateName, "main~2")
      tree.text = text
      _ = try await second.save([tree])
      await second.close()
    }
    await first.close()
    let history = try inspect("history", "--state", "main~2")
    let name = try XCTUnwrap(columns(history).first { $0[0] == "version" }?[7])
    let run = try inspect("put-back", name, "--state", "main~2")
    XCTAssertEqual(run.status, 0, run.errors)
    let shown = try inspect("show", "window", "--values", "--state", "main~2")
    XCTAssert(shown.output.contains("\"two\""), shown.output)
  }

  func testAStateThatIsPutBackIsRestoredAsIfNoRestoreOfItHadCrashed() async throws {
    try await launch("one", version: "7")
    try await launch("two", version: "8")
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
    let name = try XCTUnwrap(try names("version").first)
    XCTAssertEqual(try inspect("put-back", name).status, 0)
    XCTAssert(try inspect("explain").output.contains("No restore of this state crashed last."))
  }

  func testWindowsArePutBackWithTheState() async throws {
    func launchTitles(_ body: (SceneHost) async throws -> Void = { _ in }) async throws -> [String]
    {
      var titles: [String] = []
      try await app().launchWindows { host in
        titles = host.connectedScenes.map { $0.session.title ?? "" }.sorted()
        for scene in host.connectedScenes {
          (scene.delegate as? NotesScene)?.title = scene.session.title
        }
        try await body(host)
      }
      return titles
    }
    _ = try await launchTitles { host in
      for title in ["Milk", "Tea"] {
        let scene = try await host.open()
        (scene.delegate as? NotesScene)?.title = title
        _ = try await host.save(scene)
      }
    }
    // This launch keeps the session that it has found, and lets a window go.
    _ = try await launchTitles { host in
      for scene in host.connectedScenes where scene.session.title == "Milk" {
        try await host.close(scene)
      }
      let scene = try await host.open()
      (scene.delegate as? NotesScene)?.title = "Bread"
      _ = try await host.save(scene)
    }
    // What a discarded window has said is in no state that a restore may take by itself.
    let today = try await launchTitles()
    XCTAssertEqual(today, ["Bread", "Tea"])
    let before = try inspect("windows", "--no-header").output
    XCTAssertFalse(before.contains("Milk"), before)
  }

  // MARK: What it refuses

  func testItRefusesWhileTheAppRuns() async throws {
    try await launch("one", version: "7")
    try await launch("two", version: "8")
    let name = try XCTUnwrap(try names("version").first)
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
    let name = try XCTUnwrap(try names("version").first)
    try sandbox().separateHistory()
    let path = "\(try sandbox().history())/\(name)"
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
    let name = try XCTUnwrap(try names("version").first)
    try sandbox().separateHistory()
    let path = "\(try sandbox().history())/\(name)"
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

  func testWhatIsNotThereOrIsNoPartOfAHistoryIsNamed() async throws {
    let gone = "000000001-1700000001-version-100"
    XCTAssertEqual(try inspect("put-back", gone).status, 6)
    try await launch("one")
    let before = try sandbox().files()
    for (name, status) in [
      ("main.rka", 6), (gone, 6), ("../../key/\(gone)", 64), ("notes.txt", 6),
      ("\(try sandbox().history())/\(gone)", 6), (try sandbox().stateFile, 6),
    ] {
      let run = try inspect("put-back", name)
      XCTAssertEqual(run.status, Int32(status), "\(name): \(run.errors)")
      XCTAssertEqual(run.output, "")
    }
    XCTAssertEqual(try run("put-back", gone).status, 64)
    XCTAssertEqual(try inspect("put-back").status, 64)
    XCTAssertEqual(try sandbox().files(), before)
  }

  func testAStateThatIsAlsoInAStoreIsLeftToTheApp() async throws {
    try await launch("one", version: "7")
    try await launch("two", version: "8")
    let name = try XCTUnwrap(try names("version").first)
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
