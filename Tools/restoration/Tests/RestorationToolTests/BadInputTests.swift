import ArchiveCodec
import Foundation
import RestorationInspection
import RestorationKit
import XCTest

/// Files that no save writes, and what a person gets wrong.
@MainActor
final class BadInputTests: ToolTestCase {
  private func code(_ fields: [String: Any]?) -> String? {
    (fields?["error"] as? [String: Any])?["code"] as? String
  }

  func testValuesThatCannotBeReadAreNamedInEveryForm() throws {
    try store { builder in
      try appendTree(builder)
      try appendNode(builder) { $0.encode(String(repeating: "x", count: 1 << 19), forKey: "text") }
    }
    try damage(at: 0.5)
    let tree = try inspect("tree", "--values")
    XCTAssertEqual(tree.status, 2)
    XCTAssert(tree.output.contains("\n    damaged: chunk"), tree.output)
    XCTAssert(tree.output.contains("\nproblem\trecord 2\tdamaged: "), tree.output)
    let json = try inspect("tree", "--values", "--json")
    XCTAssertEqual(json.status, 2)
    XCTAssertEqual(try elements(json).map { code($0) }, ["damaged"])
    let export = try inspect("export", "--values")
    XCTAssertEqual(export.status, 2)
    XCTAssertEqual(try elements(export).map { code($0) }, ["damaged"])
    let show = try inspect("show", "window")
    XCTAssertEqual(show.status, 2)
    XCTAssert(show.output.contains("    damaged"), show.output)
    let shown = try inspect("show", "window", "--json")
    XCTAssertEqual(shown.status, 2)
    XCTAssertEqual((try shown.json() as? [[String: Any]])?.map { code($0) }, ["damaged"])
    let file = try sandbox().stateFile
    let diff = try run("diff", file, file)
    XCTAssertEqual(diff.status, 2, "nobody can say that what cannot be read is equal")
    XCTAssertEqual(diff.output, "")
    XCTAssertEqual(
      diff.errors,
      "restoration: A part of the first file, main.rka, cannot be read; see verify.\n"
        + "restoration: A part of the second file, main.rka, cannot be read; see verify.\n")
  }

  private func elements(_ run: ToolRun) throws -> [[String: Any]] {
    try XCTUnwrap(try run.object()["elements"] as? [[String: Any]])
  }

  func testAStateThatNobodyCanPlaceIsPassedOver() throws {
    try store { builder in
      try builder.append(record: Self.formsRecord) { $0.encode("text", forKey: "idLimit") }
      try appendNode(builder) { _ in }
    }
    let verify = try inspect("verify")
    XCTAssertEqual(verify.status, 2)
    XCTAssertEqual(
      verify.rows.first?.hasPrefix("problem\trecord \(Self.formsRecord)\ttypeMismatch: "), true,
      verify.output)
    let explain = try inspect("explain")
    XCTAssertEqual(explain.status, 2)
    XCTAssert(explain.output.contains("main.rka is passed over: typeMismatch"), explain.output)
    XCTAssertEqual(try inspect("history").status, 2)
  }

  func testFilesThatAreNoArchivesSaySoInEveryCommand() async throws {
    try await app().save()
    let url = URL(filePath: try sandbox().stateFile)
    let stored = try Data(contentsOf: url)
    let commands =
      Self.reading.map { [$0] } + [
        ["show", "window"], ["passphrase", "list"],
        ["passphrase", "add", "--new-passphrase-fd", "0"],
      ]
    for content in [Data(), Data("no archive".utf8), stored.prefix(100), stored.dropLast()] {
      try content.write(to: url)
      for command in commands where command != ["passphrase", "list"] || content.count < 100 {
        for form in [[], ["--json"]] {
          let run = try Tool.run(
            command + ["--app", Sandbox.application] + form, in: sandbox(), input: Data("x".utf8))
          XCTAssertEqual(run.status, 2, "\(command) \(content.count): \(run.errors)")
          XCTAssertNotEqual(run.output + run.errors, "")
          if !form.isEmpty, !run.output.isEmpty { XCTAssertNoThrow(try run.json(), run.output) }
          XCTAssertEqual(try Data(contentsOf: url), content)
        }
      }
    }
    try FileManager.default.removeItem(at: url)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    for command in commands {
      let run = try Tool.run(command + ["--app", Sandbox.application], in: sandbox())
      XCTAssertEqual(run.status, 5, "\(command): \(run.errors)")
    }
    XCTAssertEqual(try run("tree", "--app", "x", "--directory", url.path + "/x").status, 6)
    let file = try sandbox().newFile()
    try Data().write(to: file)
    for command in Self.reading + ["rekey", "prune"] {
      XCTAssertEqual(try inspect(command, "--directory", file.path).status, 5, command)
    }
  }

  func testWhereNothingIsStoredNoKeyIsMissed() async throws {
    let commands =
      (Self.reading + ["rekey", "prune"]).map { [$0] } + [
        ["show", "window"], ["passphrase", "list"],
        ["passphrase", "add", "--new-passphrase-fd", "0"],
      ]
    for command in commands {
      let run = try Tool.run(command + ["--app", Sandbox.application], in: sandbox())
      XCTAssertEqual(run.status, 6, "\(command): \(run.errors)")
    }
    let file = try sandbox().stateFile
    XCTAssertEqual(try run("diff", file, file).status, 6)
    try await app().save()
    XCTAssertEqual(try inspect("prune", "--state", "other").status, 6)
    XCTAssertEqual(try inspect("prune").status, 0)
    XCTAssertEqual(try run("tree", "--app", "").status, 64)
    XCTAssertEqual(try inspect("tree", "--state", "").status, 64)
  }

  func testTheValuesOfARecordWithManyKeysAreShownInOnePass() throws {
    let keys = (1...5000).map { "key \($0)" }
    try store { builder in
      try appendTree(builder)
      try appendNode(builder) { state in
        for key in keys { state.encode([1, 2], forKey: key) }
      }
    }
    let run = try inspect("tree", "--values")
    XCTAssertEqual(run.rows.dropFirst(), keys.map { "    \($0) = [1,2]" }[...])
  }

  func testDamageIsToldByWhatLooksElsewhere() async throws {
    let root = NotesScreen("window", children: (1...200).map { NotesScreen("note \($0)") })
    for child in root.restorationChildren.compactMap({ $0 as? NotesScreen }) {
      child.text = String(repeating: "x", count: 3000)
    }
    try await app().save(root)
    try damage(at: 0.5)
    let show = try inspect("show", "window/note 1")
    XCTAssertEqual(show.status, 2)
    XCTAssert(show.output.contains("    text\n"), show.output)
    XCTAssert(show.errors.contains("see verify"), show.errors)
    let history = try inspect("history")
    XCTAssertEqual(history.status, 2)
    XCTAssert(history.output.contains("\tdamaged: chunk"), history.output)
    XCTAssertEqual(try inspect("show", "nothing").status, 2, "it may be in what is damaged")
  }

  func testAReportTakesItsKeyFromADescriptorOnce() async throws {
    try await app().save()
    try await app().save(NotesApp.tree(), version: "8")
    let file = try sandbox().stateFile
    try FileManager.default.copyItem(
      atPath: file, toPath: file.replacing("main.rka", with: "main~2.rka"))
    let key = try Data(contentsOf: URL(filePath: try sandbox().keyFile))
    let run = try inspect("report", "--key-fd", "0", input: key)
    let states = try XCTUnwrap(try run.object()["states"] as? [[String: Any]])
    XCTAssertEqual(states.map { ($0["elements"] as? [Any])?.count }, [3, nil])
    XCTAssertEqual(states.map { code($0) }, [nil, "wrongContext"])
    XCTAssertEqual(run.status, 3)
  }

  func testAReportThatFailsLeavesNoFile() async throws {
    try await app().save()
    let file = try sandbox().newFile().path
    let run = try inspect("report", "--output", file, "--key-fd", "9")
    XCTAssertEqual(run.status, 5)
    XCTAssertFalse(FileManager.default.fileExists(atPath: file))
  }

  func testWhatIsToldIsNeverWrittenIntoAFile() async throws {
    try await app().save(NotesScreen("window"))
    // Nothing opens this one, which is said while others are open.
    try storeMoment(of: "main~2", key: try ArchiveKey())
    for closed in ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"] {
      let run = try Tool.run(
        ["rekey", "--app", Sandbox.application], in: sandbox(), redirections: closed)
      XCTAssert([2, 5].contains(run.status), "\(closed): \(run.status) \(run.errors)")
      XCTAssertEqual(try inspect("verify").status, 0, closed)
      for (name, content) in try sandbox().files() {
        XCTAssertNil(content.firstRange(of: Data("stays as it is".utf8)), "\(closed): \(name)")
        XCTAssertNil(content.firstRange(of: Data("Sealed under".utf8)), "\(closed): \(name)")
      }
    }
  }

  func testAComplaintThatNobodyCanReadEndsNothing() throws {
    for redirections in ["2>&-", "2>/dev/full"] {
      let run = try Tool.run(
        ["tree", "--app", Sandbox.application], in: sandbox(), redirections: redirections)
      XCTAssertEqual(run.status, 6, redirections)
    }
  }

  func testAnOutputThatCannotBeWrittenIsAnError() async throws {
    try await app().save()
    for redirections in ["1>&-", "1>/dev/full"] {
      let run = try Tool.run(
        ["tree", "--app", Sandbox.application], in: sandbox(), redirections: redirections)
      XCTAssertEqual(run.status, 5, redirections)
    }
  }

  func testValuesCannotSteerATerminal() async throws {
    let screen = NotesScreen("window")
    screen.text = "a\u{1B}[31m\u{202E}b\u{E0001}"
    try await app().save(screen)
    for form in ["--values", "--json"] {
      let run = try inspect("tree", "--values", form)
      XCTAssertFalse(run.output.unicodeScalars.contains("\u{1B}"), run.output)
      XCTAssertFalse(run.output.unicodeScalars.contains("\u{202E}"), run.output)
      XCTAssertFalse(run.output.unicodeScalars.contains("\u{E0001}"), run.output)
    }
    let state = try elements(try inspect("tree", "--values", "--json")).first?["state"]
    XCTAssertEqual((state as? [String: Any])?["text"] as? String, screen.text)
  }

  func testOneDescriptorGivesAnOldPassphraseAndANewOne() async throws {
    try await app().save()
    let old = Data("old word\n".utf8)
    XCTAssertEqual(
      try inspect("passphrase", "add", "--new-passphrase-fd", "0", input: old).status, 0)
    let change = try inspect(
      "passphrase", "change", "--passphrase-fd", "0", "--new-passphrase-fd", "0",
      input: Data("old word\r\nnew word\r\n".utf8))
    XCTAssertEqual(change.status, 0, change.errors)
    XCTAssertEqual(
      try inspect("verify", "--passphrase-fd", "0", input: Data("new word".utf8)).status, 0)
    XCTAssertEqual(try inspect("verify", "--passphrase-fd", "0", input: old).status, 3)
  }
}
