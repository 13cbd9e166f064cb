import ArchiveCodec
import Foundation
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

  func testRekeySealsTheStateAndItsGenerationsUnderANewKey() async throws {
    try await app().save(plainTree(), version: "7")
    try await app().save(plainTree(), version: "8")
    let keyFile = try sandbox().keyFile
    let old = try Data(contentsOf: URL(filePath: keyFile))
    let before = try inspect("tree").output
    let run = try inspect("rekey")
    XCTAssertEqual(run.status, 0, run.errors)
    XCTAssert(run.output.hasPrefix("2 archives are sealed"), run.output)
    XCTAssertNotEqual(try Data(contentsOf: URL(filePath: keyFile)), old)
    XCTAssertFalse(FileManager.default.fileExists(atPath: "\(keyFile).new"))
    XCTAssertEqual(try inspect("tree").output, before)
    XCTAssertEqual(try inspect("history").status, 0)
    XCTAssertEqual(try inspect("tree", "--key-fd", "0", input: old).status, 3)
    let report = try await restored()
    XCTAssertEqual(report.outcome, .restored)
    XCTAssertEqual(
      report.entries.filter { $0.kind == .node }.map(\.outcome),
      [.restored(by: .existing), .restored(by: .existing)])
  }

  func testRekeyRefusesAnAppThatHasSecrets() async throws {
    try await app().save()
    let before = try sandbox().files()
    let run = try inspect("rekey")
    XCTAssertEqual(run.status, 5)
    XCTAssert(run.errors.contains("has secrets"), run.errors)
    XCTAssertEqual(try sandbox().files(), before)
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
    // Both come from one descriptor here: what opens the state, up to the line's end.
    let other = try sandbox().newFile().path
    try Data("second word".utf8).write(to: URL(filePath: other))
    let change = try self.run(
      "passphrase", "change", try sandbox().stateFile, "--passphrase-fd", "0", input: word)
    XCTAssertEqual(change.status, 3, "there is no terminal to ask for the new one")
    XCTAssertEqual(try inspect("passphrase", "remove").status, 0)
    XCTAssertEqual(try inspect("passphrase", "list").output, "key\n")
    XCTAssertEqual(try inspect("tree", "--passphrase-fd", "0", input: word).status, 3)
    let outcome = try await restored().outcome
    XCTAssertEqual(outcome, .restored)
  }

  func testPruneRemovesWhatIsBeyondItsBound() async throws {
    try await app().save(plainTree())
    let file = try sandbox().stateFile
    for second in 1...5 {
      _ = try FileStorage(path: file).setAside(
        .unread, at: Date(timeIntervalSince1970: Double(1_700_000_000 + second)))
      try await app().save(plainTree())
    }
    let setAside = { try FileStorage(path: file).setAsideArchives().count }
    XCTAssertEqual(try setAside(), 5)
    let dry = try inspect("prune", "--dry-run")
    XCTAssertEqual(dry.status, 0, dry.errors)
    XCTAssertEqual(dry.lines.count, 2)
    XCTAssertEqual(try setAside(), 5)
    let run = try inspect("prune")
    XCTAssertEqual(run.output, dry.output)
    XCTAssertEqual(try setAside(), 3)
    XCTAssertEqual(
      (try inspect("prune", "--keep-oldest", "0", "--keep-newest", "0", "--json").json()
        as? [Any])?.count, 3)
    XCTAssertEqual(try setAside(), 0)
    XCTAssertEqual(try inspect("verify").status, 0)
    XCTAssertEqual(try inspect("prune", "--keep-oldest", "-1").status, 64)
  }
}
