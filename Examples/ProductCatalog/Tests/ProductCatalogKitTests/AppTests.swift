import ProductCatalogKit
import XCTest

@MainActor final class AppTests: XCTestCase {
  private func app(_ script: String, stays: Bool = false) throws -> App {
    let catalog = try Fixture().catalog
    let console = ScriptedConsole(
      try Script(script), size: Size(columns: 60, rows: 12), staysAfterwards: stays
    ) { _ in }
    return App(
      windows: Windows(NavigationStack(root: ProductListScreen(catalog: catalog))),
      console: console)
  }

  func testHookRunsAfterEveryEvent() async throws {
    let app = try app("down enter tab e")
    var depths: [Int] = []
    app.afterEvent = { _ in depths.append(app.windows.focused?.navigation.screens.count ?? 0) }
    let ending = await app.run()
    XCTAssertEqual(ending, .inputEnded)
    XCTAssertEqual(depths, [1, 2, 2, 3])
  }

  func testHookRunsAfterTheKeyThatQuits() async throws {
    let app = try app("enter q down")
    var calls = 0
    app.afterEvent = { _ in calls += 1 }
    let ending = await app.run()
    XCTAssertEqual(ending, .quit)
    XCTAssertEqual(calls, 2)
  }

  func testTicksComeWhileNothingHappens() async throws {
    let app = try app("wait:1ms wait:1ms")
    var calls = 0
    app.afterEvent = { _ in calls += 1 }
    _ = await app.run()
    XCTAssertEqual(calls, 2)
  }

  func testRootIsNeverPopped() async throws {
    let app = try app("enter esc esc esc")
    _ = await app.run()
    let navigation = try XCTUnwrap(app.windows.focused).navigation
    XCTAssertTrue(navigation.top is ProductListScreen)
    navigation.pop()
    XCTAssertEqual(navigation.screens.count, 1)
  }
}
