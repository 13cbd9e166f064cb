import ArchiveCodec
import Foundation
import RestorationInspection
import RestorationKit
import XCTest

/// rekey, passphrase and prune, which take the lock of a state.
@MainActor
final class ChangingTests: ToolTestCase {
  private func plainTree() -> NotesScreen {
    NotesScreen("window", children: [NotesScreen("list")])
  }

  private func restored() async throws -> RestorationReport {
    let keeper = try app().keeper(version: "8")
    let report = try await keeper.restore(into: [plainTree()])
    await keeper.close()
    return report
  }

  func testRekeySealsTheStateAndItsHistoryUnderANewKey() async throws {
    try await app().save(plainTree(), version: "7")
    try await app().save(plainTree(), version: "8")
    let keyFile = try sandbox().keyFile
    let old = try Data(contentsOf: URL(filePath: keyFile))
    let before = try inspect("tree").output
    let run = try inspect("rekey")
    XCTAssertEqual(run.status, 0, run.errors)
    XCTAssert(run.output.hasPrefix("Sealed under the new key "), run.output)
    XCTAssert(run.output.hasSuffix(": 2.\n"), run.output)
    XCTAssertNotEqual(try Data(contentsOf: URL(filePath: keyFile)), old)
    XCTAssertFalse(FileManager.default.fileExists(atPath: "\(keyFile).new"))
    XCTAssertEqual(try inspect("tree").output, before)
    XCTAssertEqual(try inspect("history").status, 0)
    XCTAssertEqual(try inspect("tree", "--key-fd", "0", input: old).status, 3)
    let report = try await restored()
    XCTAssertEqual(report.outcome, .restored)
    XCTAssertEqual(
      report.entries.filter { $0.path.count > 0 }.map(\.outcome),
      [.restored(by: .existing), .restored(by: .existing)])
  }

  func testRekeyGoesOnWhereAnEarlierOneWasKilled() async throws {
    try await app().save(plainTree(), version: "8")
    // It had let both keys open the state, and not replaced the key file yet.
    let (file, keyFile) = (try sandbox().stateFile, try sandbox().keyFile)
    let old = try XCTUnwrap(try KeyFile(path: keyFile).load())
    let new = try KeyFile(path: "\(keyFile).new").loadOrCreate()
    let context = StoredState.context(of: "main", in: Sandbox.application)
    try ArchiveWriter.open(FileStorage(path: file), key: old, context: context)
      .addSlot(.key(new))
    XCTAssertEqual(try inspect("verify").status, 0)
    XCTAssertEqual(try inspect("rekey", "--json").object()["sealed"] as? Int, 1)
    XCTAssertEqual(try inspect("passphrase", "list").output, "key\n")
    XCTAssertNotNil(try Archive.open(FileStorage(path: file), key: new, context: context))
    let outcome = try await restored().outcome
    XCTAssertEqual(outcome, .restored)
  }

  func testRekeyTakesTheHistoryOfAStateThatIsGoneAndNamesWhatAnotherKeySealed() throws {
    try storeMoment(number: 1)
    let other = try storeMoment(number: 2, key: try ArchiveKey())
    let run = try inspect("rekey")
    XCTAssertEqual(run.status, 2)
    XCTAssert(run.errors.contains("\(other) stays as it is: wrongKey"), run.errors)
    XCTAssert(run.output.hasSuffix(": 1.\n"), run.output)
    let folder = try sandbox().history()
    let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    XCTAssertEqual(names.count, 2)
    XCTAssertEqual(try self.run("verify", "\(folder)/\(names[0])").status, 0)
  }

  func testWhatChangesAStateRefusesWhileAnAppHasIt() async throws {
    try await app().save(plainTree())
    let before = try sandbox().files()
    let keeper = try app().keeper()
    _ = try await keeper.restore(into: [plainTree()])
    let key = try Data(contentsOf: URL(filePath: try sandbox().keyFile))
    for arguments in [["rekey"], ["passphrase", "add", "--new-passphrase-fd", "0"], ["prune"]] {
      let run = try Tool.run(
        arguments + ["--app", Sandbox.application], in: sandbox(), input: Data("word".utf8))
      XCTAssertEqual(run.status, 4, "\(arguments): \(run.errors)")
    }
    XCTAssertEqual(try inspect("tree").status, 0, "reading needs no lock")
    await keeper.close()
    XCTAssertEqual(try Data(contentsOf: URL(filePath: try sandbox().keyFile)), key)
    XCTAssertEqual(try sandbox().files()["main.rka"], before["main.rka"])
  }

  func testAPassphraseIsAddedChangedAndRemoved() async throws {
    try await app().save(plainTree())
    let tree = try inspect("tree").output
    let word = Data("first word\n".utf8)
    XCTAssertEqual(
      try inspect("passphrase", "add", "--new-passphrase-fd", "0", input: word).status, 0)
    XCTAssertEqual(try inspect("passphrase", "list").lines.count, 2)
    XCTAssertEqual(try inspect("tree", "--passphrase-fd", "0", input: word).output, tree)
    XCTAssertEqual(
      try inspect("tree", "--passphrase-fd", "0", input: Data("wrong".utf8)).status, 3)
    let other = Data("second word".utf8)
    let change = try inspect(
      "passphrase", "change", "--passphrase-fd", "3", "--new-passphrase-fd", "4",
      files: [word, other])
    XCTAssertEqual(change.status, 0, change.errors)
    XCTAssertEqual(try inspect("tree", "--passphrase-fd", "0", input: word).status, 3)
    XCTAssertEqual(try inspect("tree", "--passphrase-fd", "0", input: other).output, tree)
    XCTAssertEqual(
      try inspect("passphrase", "remove", "--json").object()["changed"] as? Int, 1)
    XCTAssertEqual(try inspect("passphrase", "list").output, "key\n")
    XCTAssertEqual(try inspect("tree", "--passphrase-fd", "0", input: other).status, 3)
    let outcome = try await restored().outcome
    XCTAssertEqual(outcome, .restored)
  }

  #if os(Linux)
  func testAPassphraseIsAskedForWithoutShowingItAndAnInterruptEndsTheQuestion() async throws {
    try await app().save(plainTree())
    let word = "first word"
    XCTAssertEqual(
      try inspect("passphrase", "add", "--new-passphrase-fd", "0", input: Data(word.utf8)).status,
      0)
    for (typed, status, said) in [
      ("\(word)\n", 0, "intact"), ("wrong word\n", 3, "does not open this archive"),
      ("wor\u{3}", 3, "No passphrase was given."),
    ] {
      let run = try Tool.run(
        ["verify", "--passphrase", "--app", Sandbox.application], in: sandbox(), typing: typed)
      XCTAssertEqual(run.status, Int32(status), typed)
      XCTAssert(run.output.contains(said), run.output)
      XCTAssertFalse(run.output.contains("wor\u{3}") || run.output.contains("word"), run.output)
    }
  }
  #endif

  func testPruneRemovesWhatIsBeyondItsBound() async throws {
    try await app().save(plainTree(), version: "7")
    try await app().save(plainTree(), version: "8")
    for number in 11...15 { try storeMoment(number: number, at: 1_700_000_000 + number) }
    let count = {
      try FileManager.default.contentsOfDirectory(atPath: self.sandbox().history()).count
    }
    XCTAssertEqual(try count(), 6)
    let dry = try inspect("prune", "--dry-run")
    XCTAssertEqual(dry.status, 0, dry.errors)
    XCTAssertEqual(dry.rows.count, 2)
    XCTAssertEqual(try count(), 6)
    let run = try inspect("prune")
    XCTAssertEqual(run.output, dry.output)
    XCTAssertEqual(try count(), 4)
    XCTAssertEqual(
      (try inspect("prune", "--keep-oldest", "0", "--keep-newest", "0", "--json").json()
        as? [Any])?.count, 3)
    XCTAssertEqual(try count(), 1, "the one that a restore may take")
    XCTAssertEqual(
      try inspect(
        "prune", "--all", "--keep-oldest", "0", "--keep-newest", "0", "--older-than", "0"
      ).status, 0)
    XCTAssertFalse(FileManager.default.fileExists(atPath: try sandbox().history()))
    XCTAssertEqual(try inspect("verify").status, 0)
    XCTAssertEqual(try inspect("prune", "--keep-oldest", "-1").status, 64)
  }
}
