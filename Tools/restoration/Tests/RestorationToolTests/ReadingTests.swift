import ArchiveCodec
import Foundation
import RestorationKit
import XCTest

/// tree, show, verify and export on a state that is whole, damaged, or cannot be opened.
@MainActor
final class ReadingTests: ToolTestCase {
  func testTreeListsEachElementWithItsPathClassAndVersion() async throws {
    try await app().save()
    let run = try inspect("tree")
    XCTAssertEqual(run.status, 0, run.errors)
    let rows = run.rows.map { $0.split(separator: "\t", omittingEmptySubsequences: false) }
    XCTAssertEqual(rows.map { $0[5] }, ["window", "window/list", "window/editor"])
    XCTAssertEqual(rows.map { $0[4] }, ["NotesScreen", "NotesScreen", "NotesScreen"])
    XCTAssertEqual(rows.map { $0[3] }, ["root", "child", "child"])
    XCTAssertEqual(rows.map { $0[1] }, ["1", "1", "1"])
    XCTAssert(rows.allSatisfy { (Int($0[0]) ?? 0) > 0 })
    XCTAssertEqual(run.errors, "")
  }

  func testTheFirstLineNamesTheColumnsUnlessItIsNotWanted() async throws {
    try await app().save(version: "7")
    let old = try sandbox().newFile().path
    try FileManager.default.copyItem(atPath: try sandbox().stateFile, toPath: old)
    let tree = NotesApp.tree()
    let keeper = try app().keeper(version: "8")
    _ = try await keeper.restore(into: [tree])
    tree.text = "another"
    _ = try await keeper.save([tree])
    await keeper.close()
    let element = "bytes\tversion\tkind\trole\tclass\tpath\tnotes"
    let headers = [
      ["tree"]: element, ["show", "window"]: element, ["verify"]: "what\tabout",
      ["explain"]: "topic\tsentence",
      ["history"]: "what\tsince\tbytes\tgeneration\tchanges\tsaved\tversion\tfile\twrong",
      [
        "prune", "--dry-run", "--all", "--keep-oldest", "0", "--keep-newest", "0", "--older-than",
        "0",
      ]: "what\tsince\tbytes\tfile",
      ["diff", old, try sandbox().stateFile, "--state", "main"]: "\tpath\tdiffers",
    ]
    for (command, header) in headers {
      let arguments = command + ["--app", Sandbox.application]
      let run = try Tool.run(arguments, in: sandbox())
      XCTAssertEqual(run.lines.first, header, "\(command): \(run.errors)")
      XCTAssertGreaterThan(run.lines.count, 1, "\(command)")
      let bare = try Tool.run(arguments + ["--no-header"], in: sandbox())
      XCTAssertEqual(bare.lines, Array(run.lines.dropFirst()), "\(command)")
    }
  }

  func testTreeTakesAFileAndAKeyFromAFileOrADescriptor() async throws {
    try await app().save()
    let (file, key) = (try sandbox().stateFile, try sandbox().keyFile)
    let expected = try inspect("tree").output
    XCTAssertFalse(expected.isEmpty)
    XCTAssertEqual(try run("tree", file, "--key-file", key).output, expected)
    let bytes = try Data(contentsOf: URL(filePath: key))
    XCTAssertEqual(try run("tree", file, "--key-fd", "0", input: bytes).output, expected)
    let raw = bytes.dropFirst(8).prefix(32)
    XCTAssertEqual(try run("tree", file, "--key-fd", "0", input: Data(raw)).output, expected)
    XCTAssertEqual(try run("tree", file, "--key-fd", "0", input: Data(raw.dropLast())).status, 3)
  }

  func testValuesAreShownOnlyWhenAskedFor() async throws {
    try await app().save()
    var runs = try Self.reading.map { try inspect($0) }
    runs += try Self.reading.map { try inspect($0, "--json") }
    runs.append(try inspect("show", "window/editor"))
    for run in runs {
      XCTAssertEqual(run.status, 0, run.errors)
      XCTAssertFalse(run.output.contains(NotesScreen.value), run.output)
    }
    let asked = [
      try inspect("tree", "--values"), try inspect("tree", "--values", "--json"),
      try inspect("show", "window/editor", "--values"),
      try inspect("show", "window/editor", "--values", "--json"),
      try inspect("export", "--values"),
    ]
    for run in asked {
      XCTAssertEqual(run.status, 0, run.errors)
      XCTAssert(run.output.contains(NotesScreen.value), run.output)
    }
  }

  func testTreeAsJSONHasTheElementsAndTheirValues() async throws {
    try await app().save()
    let tree = try inspect("tree", "--json", "--values").object()
    XCTAssertEqual(tree["application"] as? String, Sandbox.application)
    XCTAssertEqual(tree["state"] as? String, "main")
    XCTAssertEqual(tree["applicationVersion"] as? String, "7")
    let elements = try XCTUnwrap(tree["elements"] as? [[String: Any]])
    XCTAssertEqual(
      elements.map { $0["path"] as? String }, ["window", "window/list", "window/editor"])
    let state = try XCTUnwrap(elements.last?["state"] as? [String: Any])
    XCTAssertEqual(state["text"] as? String, NotesScreen.value)
    XCTAssertEqual(state["numbers"] as? [Int], [1, 2, 3])
    XCTAssertEqual(state["zoom"] as? [String: String], ["$number": "inf"])
    XCTAssertEqual(state["date"] as? [String: String], ["$date": "2027-01-15T08:00:00.000Z"])
  }

  func testExportHasWhatTreeHas() async throws {
    try await app().save()
    let export = try inspect("export", "--values").object()
    let tree = try inspect("tree", "--json", "--values").object()
    func paths(_ object: [String: Any]) throws -> [String] {
      try XCTUnwrap(object["elements"] as? [[String: Any]]).compactMap { $0["path"] as? String }
        .sorted()
    }
    XCTAssertEqual(try paths(export), try paths(tree))
  }

  func testShowNamesTheKeysOfOneElement() async throws {
    try await app().save()
    let run = try inspect("show", "window/editor")
    XCTAssertEqual(run.status, 0, run.errors)
    XCTAssertEqual(
      run.rows.dropFirst().prefix(4).map { $0.trimmingCharacters(in: .whitespaces) },
      ["text", "numbers", "zoom", "date"])
    XCTAssertEqual(try inspect("show", "window/nothing").status, 6)
    XCTAssertEqual(
      (try inspect("show", "window/editor", "--json").json() as? [[String: Any]])?.count, 1)
  }

  func testIdentifiersCannotSteerATerminalOrMakeAColumn() async throws {
    try await app().save(NotesScreen("a\tb\n\u{1B}[31m", children: []))
    let run = try inspect("tree")
    XCTAssertEqual(run.rows.count, 1)
    XCTAssert(run.output.contains("a\\tb\\n\\u{1b}[31m"), run.output)
    XCTAssertEqual(try inspect("show", "a\\tb\\n\\u{1b}[31m").status, 0)
    XCTAssertEqual(try inspect("show", "a\tb\n\u{1B}[31m").status, 0)
    XCTAssertFalse(run.output.contains("\u{1B}"))
    let elements = try XCTUnwrap(
      try inspect("tree", "--json").object()["elements"] as? [[String: Any]])
    XCTAssertEqual(elements.first?["path"] as? String, "a\tb\n\u{1B}[31m")
  }

  func testVerifySaysThatAllIsWell() async throws {
    try await app().save()
    let run = try inspect("verify")
    XCTAssertEqual(run.status, 0, run.errors)
    XCTAssertEqual(run.rows.count, 1)
    XCTAssertEqual(run.rows.first?.hasPrefix("intact\t3 elements, "), true, run.output)
    XCTAssertEqual(try inspect("verify", "--json").object()["isIntact"] as? Bool, true)
  }

  func testADamagedStateIsReadAsFarAsItGoes() async throws {
    let root = NotesScreen("window")
    let text = String(repeating: "x", count: 3000)
    root.restorationChildren = (1...200).map { number in
      let child = NotesScreen("note \(number)")
      child.text = text
      return child
    }
    try await app().save(root)
    try damage(at: 0.5)
    for command in ["tree", "verify", "export", "explain", "report"] {
      let run = try inspect(command)
      XCTAssertEqual(run.status, 2, command)
    }
    let run = try inspect("tree")
    let paths = Set(run.lines.compactMap { $0.split(separator: "\t").dropFirst(5).first })
    XCTAssert(paths.contains("window/note 1"), run.output)
    XCTAssert(paths.contains("window/note 200"), run.output)
    XCTAssert(run.output.contains("damaged: chunk"), run.output)
    let damage = try XCTUnwrap(
      try inspect("verify", "--json").object()["damage"] as? [String: Any])
    XCTAssertEqual(damage["code"] as? String, "damaged")
    XCTAssertNotNil(damage["byte"] as? Int)
    XCTAssert(try inspect("explain").output.contains("is passed over"))
    XCTAssertFalse(try inspect("verify").output.contains("restored"))
    XCTAssertEqual(try inspect("verify", "--json").object()["isRestorable"] as? Bool, false)
  }

  func testAStateThatIsCutSaysWhere() async throws {
    try await app().save()
    let url = URL(filePath: try sandbox().stateFile)
    let bytes = try Data(contentsOf: url)
    try bytes.dropLast(10).write(to: url)
    let run = try inspect("tree")
    XCTAssertEqual(run.status, 2)
    XCTAssert(run.errors.contains("byte \(bytes.count - 10)"), run.errors)
  }

  func testATornChangeIsLeftOutAndNamed() async throws {
    let tree = NotesApp.tree()
    let keeper = try app().keeper()
    _ = try await keeper.save([tree])
    tree.text = "another"
    _ = try await keeper.save([tree])
    await keeper.close()
    let url = URL(filePath: try sandbox().stateFile)
    try Data(contentsOf: url).dropLast(10).write(to: url)
    let run = try inspect("verify")
    XCTAssertEqual(run.status, 2)
    XCTAssertEqual(run.rows.first?.hasPrefix("dropped\ttruncated"), true, run.output)
    let json = try inspect("verify", "--json").object()
    let byte = try XCTUnwrap((json["dropped"] as? [String: Any])?["byte"] as? Int)
    let date = try XCTUnwrap(json["savedAt"] as? String)
    XCTAssertEqual(
      run.lines.last,
      "restored\tthe state before that, saved \(date); the changes from byte \(byte) on are lost")
    XCTAssertEqual(json["isRestorable"] as? Bool, true)
    XCTAssertEqual(try inspect("tree").rows.count, 4)
    XCTAssert(try inspect("explain").output.contains("of a save that did not return"))
  }

  func testAStateWithoutItsKeyIsNotOpened() async throws {
    try await app().save()
    try FileManager.default.removeItem(atPath: try sandbox().keyFile)
    for command in Self.reading {
      let run = try inspect(command)
      XCTAssertEqual(run.status, 3, "\(command): \(run.errors)")
    }
    XCTAssertEqual(try inspect("show", "window").status, 3)
    XCTAssertEqual(try inspect("passphrase", "list").output, "key\n")
    let other = try sandbox().newFile()
    _ = try FileManager.default.copyItem(
      atPath: try sandbox().stateFile, toPath: other.path)
    XCTAssertEqual(
      try run(
        "tree", other.path, "--app", "x", "--state", "main", "--key-fd", "0",
        input: Data(repeating: 1, count: 32)
      ).status, 3)
  }

  func testACopiedFileAsksForTheNameOfItsApp() async throws {
    try await app().save()
    let folder = try sandbox().url.appending(path: "good")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    let copy = folder.appending(path: "main.rka").path
    try FileManager.default.copyItem(atPath: try sandbox().stateFile, toPath: copy)
    let hint =
      "Its app was taken to be “good”, the folder of the file; if it is another one, name it"
    for command in [["tree", copy], ["diff", copy, copy], ["history", copy]] {
      for key in [[], ["--key-file", try sandbox().keyFile]] {
        let run = try Tool.run(command + key, in: sandbox())
        XCTAssertEqual(run.status, 3)
        XCTAssert(run.errors.contains("\(hint) with --app."), "\(command) \(key) \(run.errors)")
      }
    }
    XCTAssertEqual(try run("tree", copy, "--app", Sandbox.application).status, 0)
    let explained = try run("explain", copy)
    XCTAssertEqual(explained.status, 3)
    XCTAssert(explained.output.contains("app\t\(hint) with --app."), explained.output)
    let wrong = try run("explain", copy, "--key-file", try sandbox().keyFile)
    XCTAssertEqual(wrong.status, 3)
    XCTAssert(wrong.errors.contains("\(hint) with --app."), wrong.errors)
    let named = try run("explain", copy, "--app", "org.example.nobody")
    XCTAssertEqual(named.status, 3)
    XCTAssertFalse((named.output + named.errors).contains("--app"), named.output)
  }

  func testWhereNothingIsStoredItSaysSo() async throws {
    try await app().save()
    for command in ["tree", "verify", "export", "history"] {
      let run = try inspect(command, "--state", "other")
      XCTAssertEqual(run.status, 6, "\(command): \(run.errors)")
    }
    XCTAssert(
      try inspect("tree", "--state", "other").errors.contains("for --state: main."))
    XCTAssertEqual(try run("tree").status, 64)
    XCTAssertEqual(try run("tree", "file-without-name", "--app", "x").status, 64)
  }

  func testAReaderThatHasGoneEndsItQuietly() async throws {
    try await app().save()
    for command in Self.reading + ["verify"] {
      let run = try Tool.run(
        [command, "--app", Sandbox.application], in: sandbox(), readsOutput: false)
      XCTAssertEqual(run.status, 141, command)
      XCTAssertEqual(run.errors, "", command)
    }
  }

  func testReadingChangesNoFile() async throws {
    try await app().save()
    let before = try sandbox().files()
    for command in Self.reading { _ = try inspect(command) }
    XCTAssertEqual(try sandbox().files(), before)
  }

  func testTheHelpListsTheExitStatuses() throws {
    let run = try run("--help")
    XCTAssertEqual(run.status, 0)
    for status in ["0 ", "1 ", "2 ", "3 ", "4 ", "5 ", "6 ", "64 ", "141 "] {
      XCTAssert(run.output.contains("  \(status)"), status)
    }
    XCTAssertEqual(try self.run("--generate-completion-script", "bash").status, 0)
  }

  func testStatesThatNoObjectHasReadAreShownWithWhy() async throws {
    struct Failure: Error {}
    try await app().save()
    let keeper = try app().keeper()
    let tree = NotesApp.tree()
    tree.onDecode = { throw Failure() }
    _ = try await keeper.restore(into: [tree])
    tree.text = "ANOTHER"
    _ = try await keeper.save([tree])
    await keeper.close()
    let row = try XCTUnwrap(try inspect("tree").rows.first)
    XCTAssert(row.hasSuffix("\twindow\t1 unread state"), row)
    let shown = try inspect("show", "window")
    XCTAssertEqual(shown.status, 0, shown.errors)
    XCTAssert(shown.output.contains("    unread: decodeThrew since "), shown.output)
    XCTAssert(shown.output.contains(", NotesScreen v1, "), shown.output)
    XCTAssertFalse(shown.output.contains(NotesScreen.value), shown.output)
    for arguments in [["tree"], ["show", "window"]] {
      for form in [[], ["--json"]] {
        let run = try Tool.run(
          arguments + ["--values", "--app", Sandbox.application] + form, in: sandbox())
        XCTAssertEqual(run.status, 0, run.errors)
        for value in [NotesScreen.value, "ANOTHER"] {
          XCTAssert(run.output.contains(value), "\(arguments) \(form): \(run.output)")
        }
      }
    }
    let export = try inspect("export", "--values").object()
    let elements = try XCTUnwrap(export["elements"] as? [[String: Any]])
    XCTAssertEqual(elements.compactMap { $0["unreadOf"] as? String }, ["window"])
    let history = try inspect("history").rows.filter { $0.hasPrefix("unread") }
    XCTAssertEqual(history.count, 1)
    XCTAssert(history[0].hasSuffix("\twindow\tNotesScreen: decodeThrew"), history[0])
    XCTAssert(try inspect("explain").output.contains("unread\t1 state that no object has read"))
    XCTAssertEqual(try inspect("verify").status, 0)
  }
}
