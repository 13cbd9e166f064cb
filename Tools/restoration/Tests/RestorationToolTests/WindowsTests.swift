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

  func testWindowsAreNamedByTheirTitlesTheLastOneFirst() async throws {
    let titles = try await app().launchWindows { host in
      for title in ["Milk", "Bread\t\u{1b}[31m", "Tea"] {
        let scene = try await host.open()
        (scene.delegate as? NotesScene)?.title = title
        _ = try await host.save(scene)
      }
      let last = try await host.open()
      try await host.close(last)
    }
    let run = try inspect("windows")
    XCTAssertEqual(run.status, 0, run.errors)
    XCTAssertEqual(
      run.lines.first,
      "window\twhat\trole\tconfiguration\tsaved\tbytes\tstate\twrong")
    let rows = columns(run)
    XCTAssertEqual(rows.map { $0[0] }.sorted(), ["Bread\\t\\u{1b}[31m", "Milk", "Tea"])
    XCTAssertEqual(Set(rows.map { $0[1] }), ["open"])
    let milk = try XCTUnwrap(rows.first { $0[0] == "Milk" })
    XCTAssertEqual(milk[6], "main.scene-\(titles["Milk"] ?? "")")
    XCTAssertGreaterThan(Int(milk[5]) ?? 0, 0)
    XCTAssertEqual(try inspect("verify", "--state", milk[6]).status, 0)
    let json = try XCTUnwrap(try inspect("windows", "--json").json() as? [[String: Any]])
    XCTAssertEqual(json.map { $0["state"] as? String }, rows.map { $0[6] })
    for arguments in [["report"], ["history"], ["explain"], ["tree", "--state", milk[6]]] {
      let run = try Tool.run(arguments + ["--app", Sandbox.application], in: sandbox())
      XCTAssertFalse(run.output.contains("Milk"), "\(arguments): \(run.output)")
    }
  }

  func testAWindowThatTheListHasLostIsNamedByItsState() async throws {
    try await app().launchWindows { host in
      let scene = try await host.open()
      (scene.delegate as? NotesScene)?.title = "Milk"
      _ = try await host.save(scene)
    }
    try FileManager.default.removeItem(atPath: "\(try sandbox().states)/main.scenes.rka")
    let rows = columns(try inspect("windows"))
    XCTAssertEqual(rows.map { Array($0[..<3]) }, [["Milk", "unlisted", "windowApplication"]])
  }

  func testWithoutWindowsItSaysSoAndWhereNothingElseIsStoredItIsNamed() async throws {
    XCTAssertEqual(try inspect("windows").status, 6)
    try await app().save()
    let run = try inspect("windows")
    XCTAssertEqual(run.status, 6)
    XCTAssert(run.errors.contains("No window of main is stored"), run.errors)
    try FileManager.default.removeItem(atPath: try sandbox().states)
    try await app().launchWindows { _ = try await $0.open() }
    let tree = try inspect("tree")
    XCTAssertEqual(tree.status, 6)
    XCTAssert(tree.errors.contains("The windows are named by windows."), tree.errors)
    // As an app that has values and windows, and no value was set.
    let keeper = try app().keeper()
    _ = try await keeper.save([])
    await keeper.close()
    let empty = try inspect("tree")
    XCTAssertEqual(empty.status, 0)
    XCTAssertEqual(
      empty.errors,
      "restoration: main.rka has no elements. The windows have states of their own; see windows.\n")
    try FileManager.default.removeItem(atPath: try sandbox().keyFile)
    XCTAssertEqual(try inspect("windows").status, 3)
  }
}
