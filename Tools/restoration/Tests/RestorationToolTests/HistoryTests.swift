import ArchiveCodec
import Foundation
import RestorationInspection
import RestorationKit
import XCTest

/// history, explain, diff and report.
@MainActor
final class HistoryTests: ToolTestCase {
  private func columns(_ run: ToolRun) -> [[String]] {
    run.rows.map {
      $0.split(separator: "\t", omittingEmptySubsequences: false).map { String($0) }
    }
  }

  func testHistoryListsTheStateAndTheOlderOnesWithTheirReasons() async throws {
    try await app().save(version: "7")
    try await app().save(version: "8")
    try sandbox().separateHistory()
    try damage(at: 0.6)
    let keeper = try app().keeper(version: "8")
    _ = try await keeper.restore(into: [NotesApp.tree()])
    _ = try await keeper.save([NotesApp.tree()])
    await keeper.close()
    let run = try inspect("history")
    let rows = columns(run)
    XCTAssertEqual(
      Array(rows.map { $0[0] }.prefix(3)), ["state", "damaged", "version"], run.output)
    XCTAssertEqual([rows[0][6], rows[2][6]], ["8", "7"])
    XCTAssertEqual(rows[0][7], "main.rka")
    XCTAssert(rows[2][7].hasPrefix("000000001-"), run.output)
    let stored = try XCTUnwrap(
      try inspect("history", "--json").object()["stored"] as? [[String: Any]])
    XCTAssertEqual(stored.map { $0["kind"] as? String }, rows.map { $0[0] })
    let file = "\(try sandbox().history())/\(rows[2][7])"
    for command in ["verify", "tree", "export"] {
      XCTAssertEqual(try self.run(command, file).status, 0, "an older state is a state, too")
    }
  }

  func testSavesAppendBehindAnOlderStateWhichStaysAsItIs() async throws {
    try await app().save(version: "7")
    let tree = try inspect("tree", "--json").object()
    try await app().save(NotesScreen("window", children: [NotesScreen("new")]), version: "8")
    let row = try XCTUnwrap(columns(try inspect("history")).first { $0[0] == "version" })
    let old = try run("tree", "\(try sandbox().history())/\(row[7])", "--json").object()
    XCTAssertEqual(
      (old["elements"] as? [[String: Any]])?.compactMap { $0["path"] as? String },
      (tree["elements"] as? [[String: Any]])?.compactMap { $0["path"] as? String })
    XCTAssertEqual(old["bytes"] as? Int, Int(row[2]))
    XCTAssertEqual(old["applicationVersion"] as? String, "7")
  }

  func testHistoryListsTheFilesWithoutTheKey() async throws {
    try await app().save(version: "7")
    try await app().save(version: "8")
    let known = columns(try inspect("history"))
    try FileManager.default.removeItem(atPath: try sandbox().keyFile)
    let run = try inspect("history")
    XCTAssertEqual(run.status, 3)
    XCTAssert(run.errors.contains("keyMissing"), run.errors)
    XCTAssertEqual(
      columns(run),
      known.filter { !["kept", "unread"].contains($0[0]) }.map {
        Array($0[..<3]) + ["", "", "", "", $0[7], ""]
      })
    let stored = try inspect("history", "--json").object()["stored"] as? [[String: Any]]
    XCTAssertEqual(stored?.compactMap { $0["file"] as? String }, columns(run).map { $0[7] })
  }

  func testHistoryNamesWhatIsKept() async throws {
    try await app().save()
    let keeper = try app().keeper()
    let root = NotesScreen("window")
    _ = try await keeper.restore(into: [root])
    _ = try await keeper.save([root])
    await keeper.close()
    let kept = columns(try inspect("history")).filter { $0[0] == "kept" }
    XCTAssertEqual(kept.map { $0[7] }, ["window/list", "window/editor"])
    XCTAssertEqual(kept.map { $0[8] }, ["NotesScreen: notFound", "NotesScreen: notFound"])
    XCTAssert(kept.allSatisfy { !$0[1].isEmpty }, "\(kept)")
    XCTAssert(try inspect("explain").output.contains("2 elements not back before"))
  }

  func testExplainSaysWhatALaunchWouldDo() async throws {
    XCTAssertEqual(try inspect("explain").status, 6)
    try await app().save()
    let run = try inspect("explain")
    XCTAssertEqual(run.status, 0, run.errors)
    XCTAssert(run.output.contains("owner\tNobody has the state"), run.output)
    XCTAssert(run.output.contains("source\tThe state main.rka is restored"), run.output)
    XCTAssert(run.output.contains("crashes\tNo restore of this state crashed last."), run.output)
    XCTAssert(
      run.output.contains(
        "making\tIt must be there, or be made by a closure, the delegate or a storyboard."),
      run.output)
    let findings = try XCTUnwrap(try inspect("explain", "--json").json() as? [[String: String]])
    XCTAssertEqual(
      findings.compactMap { $0["topic"] },
      ["owner", "source", "crashes", "elements", "class", "making"])
    XCTAssertEqual(
      findings.first { $0["topic"] == "class" }?["sentence"], "3 of NotesScreen with version 1.")
  }

  private final class ListScreen: NotesScreen {}

  private final class EditorScreen: NotesScreen {}

  func testExplainRepeatsNothingForEachClass() async throws {
    try await app().save(
      NotesScreen("window", children: [ListScreen("list"), EditorScreen("editor")]))
    let findings = try XCTUnwrap(try inspect("explain", "--json").json() as? [[String: String]])
    let classes = findings.filter { $0["topic"] == "class" }.compactMap { $0["sentence"] }
    XCTAssertEqual(
      classes,
      ["EditorScreen", "ListScreen", "NotesScreen"].map { "1 of \($0) with version 1." })
    let text = findings.compactMap { $0["sentence"] }.joined(separator: "\n")
    for sentence in ["must be there", "A version that the app does not know"] {
      XCTAssertEqual(text.components(separatedBy: sentence).count, 2, text)
    }
  }

  func testExplainNamesTheOlderStateThatStandsIn() async throws {
    try await app().save(version: "7")
    try await app().save(version: "8")
    try sandbox().separateHistory()
    try damage(at: 0.6)
    let run = try inspect("explain")
    XCTAssertEqual(run.status, 2)
    XCTAssert(run.output.contains("main.rka is passed over: damaged"), run.output)
    XCTAssert(run.output.contains("The older state 000000001-"), run.output)
  }

  func testExplainCountsCrashes() async throws {
    try await app().save()
    // Copies of the files are what a killed process leaves.
    let keeper = try app().keeper()
    let tree = NotesApp.tree()
    var files = try sandbox().files()
    tree.onDecode = { files = try self.sandbox().files() }
    _ = try await keeper.restore(into: [tree])
    XCTAssert(try inspect("explain").output.contains("An instance of the app has the state."))
    await keeper.close()
    for (name, bytes) in files {
      try bytes.write(to: URL(filePath: "\(try sandbox().states)/\(name)"))
    }
    let run = try inspect("explain")
    XCTAssert(run.output.contains("1 restore by version 7 crashed"), run.output)
  }

  func testDiffSaysWhatIsNewGoneAndChanged() async throws {
    let tree = NotesApp.tree()
    let keeper = try app().keeper()
    _ = try await keeper.save([tree])
    let old = try sandbox().newFile().path
    try FileManager.default.copyItem(atPath: try sandbox().stateFile, toPath: old)
    tree.text = "ANOTHER-VALUE"
    tree.restorationChildren = [NotesScreen("new")] + tree.restorationChildren.dropFirst()
    _ = try await keeper.save([tree])
    let names = ["--app", Sandbox.application, "--state", "main"]
    func diff(_ arguments: String...) throws -> ToolRun {
      try Tool.run(
        ["diff", old, sandbox().stateFile] + names + arguments, in: sandbox())
    }
    let run = try diff()
    XCTAssertEqual(run.status, 1, run.errors)
    XCTAssertEqual(
      columns(run),
      [
        ["~", "window", "~text"], ["-", "window/list", "NotesScreen"],
        ["+", "window/new", "NotesScreen"],
      ])
    XCTAssertFalse(run.output.contains("VALUE"))
    let values = try diff("--values")
    XCTAssert(values.output.contains("- text = \"\(NotesScreen.value)\""), values.output)
    XCTAssert(values.output.contains("+ text = \"ANOTHER-VALUE\""), values.output)
    XCTAssertEqual((try diff("--json").json() as? [[String: Any]])?.count, 3)
    XCTAssertNotNil(try diff("--json", "--values").json() as? [[String: Any]])
    let same = try Tool.run(["diff", old, old] + names, in: sandbox())
    XCTAssertEqual(same.status, 0, same.errors)
    XCTAssertEqual(same.output, "")
  }

  func testDiffComparesWhereReferencesLeadAndNotTheNumbersOfRecords() async throws {
    /// A state that is written whole, so that its records are numbered in the order of the screens.
    func storeState(_ order: [String], to target: String) async throws -> String {
      try FileManager.default.removeItem(atPath: try sandbox().states)
      let screens = order.map { NotesScreen($0) }
      let window = NotesScreen("window", children: screens)
      window.target = screens.first { $0.restorationIdentifier == target }
      let keeper = try app().keeper()
      _ = try await keeper.save([window])
      await keeper.close()
      let copy = try sandbox().newFile().path
      try FileManager.default.copyItem(atPath: try sandbox().stateFile, toPath: copy)
      return copy
    }
    try await app().save()
    let first = try await storeState(["a", "b"], to: "b")
    let same = try await storeState(["b", "a"], to: "b")
    let other = try await storeState(["b", "a"], to: "a")
    func diff(_ files: String...) throws -> ToolRun {
      try Tool.run(
        ["diff"] + files + ["--app", Sandbox.application, "--state", "main"], in: sandbox())
    }
    let none = try diff(first, same)
    XCTAssertEqual(none.output, "")
    XCTAssertEqual(none.status, 0, none.errors)
    let run = try diff(first, other)
    XCTAssertEqual(columns(run), [["~", "window", "~target"]])
    XCTAssertEqual(run.status, 1, run.errors)
  }

  func testDiffComparesTheApplicationAndVersionsAndKeysInAnyOrder() throws {
    func storeState(_ title: String, version: Int, _ keys: [String]) throws {
      try store { builder in
        try builder.append(record: StoredState.applicationRecord) { state in
          state.encode(title, forKey: "title")
          if version > 1 { state.encode(true, forKey: "isNew") }
        }
        try appendTree(builder, version: version)
        try appendNode(builder) { state in
          for key in keys { state.encode(key, forKey: key) }
        }
      }
    }
    try storeState("first", version: 1, ["a", "b"])
    let old = try sandbox().newFile().path
    try FileManager.default.copyItem(atPath: try sandbox().stateFile, toPath: old)
    try storeState("second", version: 2, ["b", "a"])
    let run = try run(
      "diff", old, sandbox().stateFile, "--app", Sandbox.application, "--state", "main")
    XCTAssertEqual(run.status, 1, run.errors)
    XCTAssertEqual(
      columns(run),
      [["~", "application", "+isNew, ~title"], ["~", "window", "version 1 is now 2"]])
  }

  func testReportHasTheStructureAndNoDirectory() async throws {
    try await app().save()
    let run = try inspect("report")
    XCTAssertEqual(run.status, 0, run.errors)
    XCTAssertFalse(run.output.contains(try sandbox().url.path), run.output)
    let states = try XCTUnwrap(try run.object()["states"] as? [[String: Any]])
    XCTAssertEqual(states.map { $0["state"] as? String }, ["main"])
    XCTAssertEqual((states.first?["elements"] as? [Any])?.count, 3)
    XCTAssertNotNil(states.first?["launch"])
    let file = try sandbox().newFile().path
    XCTAssertEqual(try inspect("report", "--output", file).status, 0)
    XCTAssertEqual(try String(contentsOfFile: file, encoding: .utf8), run.output)
    XCTAssertEqual(try inspect("report", "--output", file).status, 5, "it replaces nothing")
  }
}
