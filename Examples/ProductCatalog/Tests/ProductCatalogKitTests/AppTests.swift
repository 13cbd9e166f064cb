import CatalogModel
import ArchiveCodec
import ProductCatalogKit
import RestorationKit
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

  func testInputThatComesAtOnceIsDrawnOnceAndNotSavedInParts() async throws {
    let navigation = NavigationStack(root: ProductListScreen(catalog: try Fixture().catalog))
    let edit = try Fixture().editScreen()
    navigation.push(edit)
    let pasted = String(repeating: "tea pot, ", count: 334).prefix(3000)
    let console = CountingConsole(
      ScriptedConsole(try Script("text:\"\(pasted)\""), size: Size(columns: 60, rows: 12)) { _ in })
    let app = App(windows: Windows(navigation), console: console)
    let keeper = try StateKeeper.ofCatalog(
      try Fixture().catalog, store: MemoryStateDirectory(), keys: try ArchiveKey()
    )
    _ = try await keeper.restore()
    var saved: [String] = []
    // Asked for the roots by each save.
    let autosave = keeper.autosave(every: .zero) {
      saved.append(edit.words.title)
      return [navigation]
    }
    await autosave.flush()
    saved = []
    app.afterEvent = { _ in autosave.setNeedsSave() }
    _ = await app.run()
    await autosave.flush()
    XCTAssertEqual(console.shows, 2)
    XCTAssertEqual(Set(saved), ["Alpha" + pasted])
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

/// A console that counts what it is told to show.
@MainActor private final class CountingConsole: Console {
  private let console: ScriptedConsole
  private(set) var shows = 0

  init(_ console: ScriptedConsole) {
    self.console = console
  }

  var size: Size { console.size }

  func show(_ canvas: Canvas) {
    shows += 1
    console.show(canvas)
  }

  func suspend() { console.suspend() }

  func nextEvents() async -> [InputEvent]? { await console.nextEvents() }
}
