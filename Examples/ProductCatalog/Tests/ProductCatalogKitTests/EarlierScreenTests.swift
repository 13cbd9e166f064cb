import ArchiveCodec
import CatalogModel
import Foundation
import ProductCatalogKit
import RestorationKit
import XCTest

/// The screen that lists the windows of earlier launches.
@MainActor final class EarlierScreenTests: XCTestCase {
  private let size = Size(columns: 100, rows: 14)
  private let directory = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")

  override func tearDown() async throws {
    try FileManager.default.removeItem(at: directory)
  }

  private func run(_ script: String, on catalog: Catalog, _ key: ArchiveKey) async throws
    -> (windows: Windows, screen: String)
  {
    let keeper = try StateKeeper.ofCatalog(
      catalog, store: FileStateDirectory(path: directory.path), keys: key)
    let restoration = WindowRestoration(of: catalog, keeper: keeper)
    try await restoration.restore()
    let console = ScriptedConsole(try Script(script), size: size) { _ in }
    _ = await App(windows: restoration.windows, console: console).run(keeping: restoration)
    return (
      restoration.windows, WindowFrame(size: size).draw(restoration.windows).plainText
    )
  }

  private func titles(_ windows: Windows) -> [String] {
    windows.all.map { $0.navigation.screens.map(\.title).joined(separator: " › ") }
  }

  func testTheWindowsOfAnEarlierLaunchOpenAgain() async throws {
    let catalog = try Fixture(names: (1...9).map { "Product \($0)" }).catalog
    let key = try ArchiveKey()
    let first = try await run("down enter ctrl-n esc down*3 enter", on: catalog, key)
    XCTAssertEqual(titles(first.windows), ["Catalog › Product 2", "Catalog › Product 4"])
    // The next one finds both, and closes one.
    let second = try await run("ctrl-w", on: catalog, key)
    XCTAssertEqual(titles(second.windows), ["Catalog › Product 2"])

    let listed = try await run("ctrl-r", on: catalog, key)
    XCTAssertTrue(listed.screen.contains("at the start"), listed.screen)
    XCTAssertTrue(listed.screen.contains("Enter"), listed.screen)
    // The screen is not among what is restored.
    let third = try await run("ctrl-r end enter", on: catalog, key)
    XCTAssertEqual(titles(third.windows), ["Catalog › Product 2", "Catalog › Product 4"])
    XCTAssertEqual(third.windows.focused?.navigation.top.title, "Product 4")
    let last = try await run("ctrl-r end enter", on: catalog, key)
    XCTAssertEqual(last.windows.all.count, 2)
    // What another state has replaced can be put back in turn.
    let again = try await run("ctrl-r", on: catalog, key)
    XCTAssertTrue(again.screen.contains("before going back"), again.screen)
  }

  func testTheScreenSaysThatNothingIsKeptAndEscapeLeavesIt() async throws {
    let catalog = try Fixture(names: ["Product"]).catalog
    let key = try ArchiveKey()
    let listed = try await run("ctrl-r enter up down home end", on: catalog, key)
    XCTAssertTrue(listed.screen.contains("Nothing is kept of earlier launches."), listed.screen)
    let left = try await run("ctrl-r ctrl-r esc", on: catalog, key)
    XCTAssertEqual(titles(left.windows), ["Catalog"])
  }
}
