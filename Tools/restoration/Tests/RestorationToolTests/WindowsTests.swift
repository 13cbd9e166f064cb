import ArchiveCodec
import Foundation
import RestorationInspection
import RestorationKit
import XCTest

/// windows, which names the windows of an app.
@MainActor
final class WindowsTests: ToolTestCase {
  private func columns(_ run: ToolRun) -> [[String]] {
    run.rows.map {
      $0.split(separator: "\t", omittingEmptySubsequences: false).map { String($0) }
    }
  }

  func testWindowsAreNamedByTheirTitlesTheClosedOnesLast() async throws {
    let titles = try await app().launchWindows { host in
      host.closedSceneCount = 5
      var scenes: [RestorableScene] = []
      for title in ["Milk", "Bread\t\u{1b}[31m", "Tea"] {
        let scene = try await host.open()
        (scene.delegate as? NotesScene)?.title = title
        _ = try await host.save(scene)
        scenes.append(scene)
      }
      try await host.close(scenes[2])
    }
    let run = try inspect("windows")
    XCTAssertEqual(run.status, 0, run.errors)
    XCTAssertEqual(
      run.lines.first,
      "window\twhat\trole\tconfiguration\tclosed\tbytes\telement\twrong")
    let rows = columns(run)
    XCTAssertEqual(rows.map { $0[0] }, ["Bread\\t\\u{1b}[31m", "Milk", "Tea"])
    XCTAssertEqual(rows.map { $0[1] }, ["open", "open", "closed"])
    XCTAssertEqual(rows.map { $0[4].isEmpty }, [true, true, false])
    XCTAssertEqual(rows[1][6], titles["Milk"])
    XCTAssert(rows.allSatisfy { Int($0[5]) ?? 0 > 0 })
    XCTAssertEqual(try inspect("show", rows[1][6]).status, 0)
    let json = try XCTUnwrap(try inspect("windows", "--json").json() as? [[String: Any]])
    XCTAssertEqual(json.map { $0["path"] as? String }, rows.map { $0[6] })
    for arguments in ["report", "history", "explain", "tree", "export", "verify"] {
      let run = try inspect(arguments)
      XCTAssertEqual(run.status, 0, run.errors)
      XCTAssertFalse(run.output.contains("Milk"), "\(arguments): \(run.output)")
    }
    XCTAssert(try inspect("explain").output.contains("windows\t3 windows"))
    XCTAssert(try inspect("tree", "--values").output.contains("Milk"))
  }

  func testTheWindowsOfAnOlderStateAreNamed() async throws {
    func open(_ title: String) async throws {
      try await app().launchWindows { host in
        for scene in host.connectedScenes {
          (scene.delegate as? NotesScene)?.title = scene.session.title
        }
        let scene = try await host.open()
        (scene.delegate as? NotesScene)?.title = title
        _ = try await host.save(scene)
      }
    }
    try await open("Milk")
    try await open("Tea")
    let name = try XCTUnwrap(columns(try inspect("history")).first { $0[0] == "session" }?[7])
    let run = try run("windows", "\(try sandbox().history())/\(name)")
    XCTAssertEqual(columns(run).map { $0[0] }, ["Milk"], run.errors)
    XCTAssertEqual(columns(try inspect("windows")).map { $0[0] }, ["Tea", "Milk"])
    XCTAssertEqual(try inspect("put-back", name).status, 0)
    XCTAssertEqual(columns(try inspect("windows")).map { $0[0] }, ["Milk"])
    var titles: [String?] = []
    try await app().launchWindows { titles = $0.connectedScenes.map(\.session.title) }
    XCTAssertEqual(titles, ["Milk"])
  }

  func testWithoutWindowsItSaysSo() async throws {
    XCTAssertEqual(try inspect("windows").status, 6)
    try await app().save()
    let run = try inspect("windows")
    XCTAssertEqual(run.status, 6)
    XCTAssert(run.errors.contains("No window of main is stored"), run.errors)
    try FileManager.default.removeItem(atPath: try sandbox().keyFile)
    XCTAssertEqual(try inspect("windows").status, 3)
  }
}
