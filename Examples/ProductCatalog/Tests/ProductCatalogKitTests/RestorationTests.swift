import CatalogModel
import ArchiveCodec
import Foundation
import ProductCatalogKit
import RestorationKit
import XCTest

@MainActor final class RestorationTests: XCTestCase {
  private func fixture() throws -> Fixture {
    try Fixture(names: (1...30).map { "Product \($0)" })
  }

  /// Leads somewhere by a script, and checks that the next two launches begin there.
  private func check(_ script: String, line: UInt = #line) async throws {
    let fixture = try fixture()
    let launches = try Launches()
    let before = try await launches.run(script, on: fixture.catalog)
    for _ in 1...2 {
      let after = try await launches.run(on: fixture.loadCatalog())
      XCTAssertEqual(after.screen, before.screen, line: line)
      XCTAssertEqual(after.report?.problems, [], line: line)
    }
  }

  func testListComesBackWithItsSelectionAndScrollPosition() async throws {
    for script in ["down", "end", "end up*3", "pgdn*2 up*7"] { try await check(script) }
  }

  func testSearchComesBack() async throws {
    for script in ["/", #"/ text:"2" down"#, "/ 2 enter down*3", "/ text:zebra", "/ 2 esc"] {
      try await check(script)
    }
  }

  func testDetailComesBackWithItsTab() async throws {
    for script in ["down enter", "down enter tab", "enter shift-tab end up*4"] {
      try await check(script)
    }
  }

  func testEveryTabPageComesBackWithItsScrollPosition() async throws {
    let fixture = try fixture()
    let launches = try Launches()
    let script = "enter down*1 tab down*2 tab down*3 tab"
    let small = Size(columns: 40, rows: 9)
    let before = try await launches.run(script, on: fixture.catalog, size: small)
    let after = try await launches.run(on: fixture.catalog, size: small)
    let offsets = try [before, after].map { launch in
      try XCTUnwrap(launch.navigation.top as? DetailScreen).pages.map(\.scrollOffset)
    }
    XCTAssertEqual(offsets, [[1, 2, 3], [1, 2, 3]])
  }

  func testEditInProgressComesBackInBothFields() async throws {
    let fixture = try fixture()
    let launches = try Launches()
    let script = #"enter e text:" 日本é" left left tab home text:"a\nb" left"#
    let before = try await launches.run(script, on: fixture.catalog)
    let after = try await launches.run(on: fixture.catalog)
    let edits = try [before, after].map { try XCTUnwrap($0.navigation.top as? EditScreen) }
    XCTAssertEqual(edits[0].words.title, "Product 1 日本é")
    XCTAssertEqual(edits[1].words, edits[0].words)
    XCTAssertEqual(edits[1].fields.map(\.buffer), edits[0].fields.map(\.buffer))
    XCTAssertEqual(edits[1].activeFieldIndex, 1)
    XCTAssertFalse(fixture.catalog.isEdited(fixture.firstID))
  }

  func testEditScreenComesBackAsItLooked() async throws {
    for script in [
      "enter e", "enter e tab", "enter e ! tab up", "enter e ! esc",
      "enter e home delete*9 ctrl-s",
    ] {
      try await check(script)
    }
  }

  func testProductsAreFoundByTheirIdentifierAndNotByTheirRow() async throws {
    let fixture = try fixture()
    let launches = try Launches()
    _ = try await launches.run("down*4 enter", on: fixture.catalog)
    let reversed = try fixture.loadCatalog { $0.reversed() }
    let after = try await launches.run(on: reversed)
    XCTAssertEqual(after.navigation.top.title, "Product 5")
    let list = try XCTUnwrap(after.navigation.root as? ProductListScreen)
    XCTAssertEqual(list.selectedRow(in: list.products), 25)
  }

  func testAProductThatIsGoneTakesItsScreensAlong() async throws {
    for script in ["enter", "enter e"] {
      let fixture = try fixture()
      let launches = try Launches()
      _ = try await launches.run(script, on: fixture.catalog)
      let after = try await launches.run(on: fixture.loadCatalog { Array($0.dropFirst()) })
      XCTAssertEqual(after.navigation.screens.map(\.title), ["Catalog"])
      XCTAssertEqual(after.report?.outcome(of: "navigation/detail"), .vetoed)
      XCTAssertEqual(after.report?.problems, [])
      XCTAssertNil(after.notice)
    }
  }

  func testTypedWordsComeBackWithoutTheirProduct() async throws {
    let fixture = try fixture()
    let launches = try Launches()
    _ = try await launches.run("enter e text:\" typed\"", on: fixture.catalog)
    let location = fixture.directory.appending(path: "products.json")
    let products = try Data(contentsOf: location)
    let fewer = try fixture.loadCatalog { Array($0.dropFirst()) }
    for script in ["", "ctrl-s", "left"] {
      let gone = try await launches.run(script, on: fewer)
      XCTAssertEqual(gone.navigation.screens.map(\.title), ["Catalog", "Unknown", "Edit"])
      XCTAssertTrue(gone.screen.contains("Product 1 typed"), gone.screen)
      XCTAssertEqual((gone.navigation.top as? EditScreen)?.hasUnsavedChanges, true)
    }
    try products.write(to: location)
    let back = try await launches.run("ctrl-s", on: fixture.loadCatalog())
    XCTAssertEqual(back.navigation.top.title, "Product 1 typed")
    XCTAssertEqual(try fixture.loadCatalog().product(fixture.firstID)?.title, "Product 1 typed")
  }

  func testAScreenOnAMissingOneIsNotShown() async throws {
    let fixture = try fixture()
    let launches = try Launches()
    let catalog = fixture.catalog
    let navigation = NavigationStack(root: ProductListScreen(catalog: catalog))
    navigation.push(DetailScreen(catalog: catalog, productID: UUID()))
    navigation.push(try fixture.editScreen())
    try await launches.store([navigation], by: try launches.keeper(for: catalog))
    let after = try await launches.run(on: catalog)
    XCTAssertEqual(after.report?.outcome(of: "navigation/detail"), .vetoed)
    XCTAssertEqual(after.report?.outcome(of: "navigation/edit"), .stackCut)
    XCTAssertEqual(after.navigation.screens.map(\.title), ["Catalog"])
  }

  func testWhatMattersIsInSightInATerminalOfAnotherSize() async throws {
    let places = [
      ("end", "▸ Product 30"), ("enter tab end", "[Details]"),
      (#"enter e tab end text:"\n\n\n\n\n\n\n\nhere""#, "here"),
    ]
    let fixture = try fixture()
    for (script, expected) in places {
      let launches = try Launches()
      _ = try await launches.run(script, on: fixture.catalog, size: Size(columns: 60, rows: 12))
      for size in [Size(columns: 24, rows: 5), Size(columns: 200, rows: 60)] {
        let restored = try await launches.run(on: fixture.catalog, size: size)
        XCTAssertTrue(restored.screen.contains(expected), restored.screen)
      }
    }
  }

  func testAWindowIsNotStoredAgainWithoutAKey() async throws {
    let fixture = try fixture()
    let launches = try Launches()
    _ = try await launches.run("down", on: fixture.catalog)
    let stored = try XCTUnwrap(launches.windowFile?.bytes)
    _ = try await launches.run("wait:1ms resize:80x24", on: fixture.catalog)
    XCTAssertEqual(try launches.windowFile?.bytes, stored)
  }

  func testAStateThatCrashedTwoLaunchesIsSaidAndSetAside() async throws {
    let fixture = try fixture()
    let launches = try Launches()
    _ = try await launches.run("down enter", on: fixture.catalog)
    var crashed: [SceneHost] = []
    for _ in 1...2 {
      let host = SceneHost(try launches.keeper(for: fixture.catalog))
      let scene = FixedScene()
      var failure: (any Error)?
      scene.onConnect = {
        do { try launches.crash() } catch { failure = error }
      }
      host.register(SceneConfiguration { scene })
      try await host.launch()
      await host.restoreScenes()
      crashed.append(host)
      XCTAssertNil(failure)
    }
    let after = try await launches.run(on: fixture.catalog)
    XCTAssertEqual(crashed.count, 2)
    // The window stays stored, and another one is open.
    XCTAssertEqual(
      after.notice,
      "Your screens are not back. The last launches crashed while this window was made, so it is"
        + " left out, and stays stored. The keeper's retrySkippedNodes() lets the next launch try"
        + " it.")
    XCTAssertEqual(after.titles.count, 2)
    XCTAssertTrue(after.titles.contains("Catalog › Product 2"))
  }

  func testAStateThatCannotBeReadIsSaidAndSetAside() async throws {
    let fixture = try fixture()
    let launches = try Launches()
    _ = try await launches.run("down enter", on: fixture.catalog)
    let file = try XCTUnwrap(launches.windowFile)
    let damaged = try XCTUnwrap(file.bytes).prefix(300)
    file.bytes = Array(damaged)
    let after = try await launches.run(on: fixture.catalog)
    XCTAssertEqual(after.navigation.screens.count, 1)
    XCTAssertEqual(after.notice?.hasPrefix("Your screens are not back. "), true)
    XCTAssertEqual(try launches.setAside, [Array(damaged)])
    let next = try await launches.run("down", on: fixture.catalog)
    XCTAssertNil(next.notice)
    // The catalog also keeps what each launch has found.
    XCTAssertEqual(try launches.setAside.first, Array(damaged))
  }
}

private typealias NodeOutcome = ElementOutcome

extension RestorationReport {
  fileprivate func outcome(of path: String) -> NodeOutcome? {
    entries.first { $0.path.description == path }?.outcome
  }
}
