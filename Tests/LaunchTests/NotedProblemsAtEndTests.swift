// The new core notes no problems beside a state: they are printed, and `Restoration.lastSave` has the report.
#if !RESTORATION_NEXT
import ArchiveCodec
import Foundation
import RestorationInspection
import RestorationKit
import TestSupport
import XCTest

/// The problems of the last save, which a tool reads when the process is gone.
final class NotedProblemsAtEndTests: XCTestCase {
  private static let application = "org.example.notes"

  private func noted(in home: TemporaryDirectory) throws -> [String] {
    let keys = FileKeyProvider(
      path: home.child(".local/share/restoration-keys/\(Self.application).key"))
    return StoredLaunches.problemsOfLastSave(
      in: FileStateDirectory(path: home.child(".local/state/\(Self.application)")),
      named: "main", of: Self.application, with: try XCTUnwrap(try keys.key(creating: false)))
  }

  func testTheyOutliveEachEndUntilASaveHasNone() throws {
    let home = try TemporaryDirectory()
    let problems = ["Note: encodeFailed"]
    for (end, text) in [(SIGKILL, ""), (SIGTERM, "words")] {
      let app = try LaunchedApp("FailingNote", home: home)
      XCTAssertEqual(try app.line(), "text \(text)")
      XCTAssertEqual(try app.ask("words"), "problems 0")
      XCTAssertEqual(try noted(in: home), [])
      XCTAssertEqual(try app.ask("words!"), "problems 1")
      XCTAssertEqual(try noted(in: home), problems, "It is read beside the running app.")
      XCTAssertEqual(app.end(by: end), .killed(by: end))
      XCTAssertEqual(try noted(in: home), problems)
    }
    let app = try LaunchedApp("FailingNote", home: home)
    XCTAssertEqual(try app.line(), "text words")
    XCTAssertEqual(try noted(in: home), problems, "A restore is no save.")
    XCTAssertEqual(try app.ask("words"), "problems 0")
    XCTAssertEqual(app.end(by: SIGKILL), .killed(by: SIGKILL))
    XCTAssertEqual(try noted(in: home), [])
  }
}
#endif
