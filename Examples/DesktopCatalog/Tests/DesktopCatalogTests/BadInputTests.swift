import ArchiveCodec
import DesktopTestSupport
import Foundation
import RestorationKit
import XCTest

/// Whatever is wrong around the app, it says so or goes on, and nothing is lost.
final class BadInputTests: XCTestCase {
  func testWithoutADisplayItSaysSoAndFails() throws {
    let desktop = try Desktop()
    let app = try CatalogApp(on: desktop, changing: ["DISPLAY": nil])
    XCTAssertEqual(try app.child.ending(), .exit(1))
    XCTAssertEqual(
      try app.sentences,
      [
        "desktop-catalog: There is no display. "
          + "Set DISPLAY or WAYLAND_DISPLAY, or run it with xvfb-run."
      ])
  }

  func testAnOptionThatDoesNotExistIsSaidAndNothingIsStored() throws {
    let desktop = try Desktop()
    let app = try CatalogApp(on: desktop, ["--forgetfull"], changing: [:])
    XCTAssertEqual(try app.child.ending(), .exit(1))
    XCTAssertEqual(
      try app.sentences,
      [
        "desktop-catalog: There is no option “--forgetfull”."
          + " Use --forgetful or --keyring, or none."
      ])
    XCTAssertEqual(desktop.storedNames, [])
  }

  func testWithoutASessionBusItComesBackAllTheSame() throws {
    let desktop = try Desktop()
    let address = "unix:path=/nowhere"
    let first = try desktop.launch(changing: ["DBUS_SESSION_BUS_ADDRESS": address])
    try first.press("Tab")
    try first.press("Down", times: 5)
    let before = try desktop.screen()
    try first.kill()
    let again = try desktop.launch(changing: ["DBUS_SESSION_BUS_ADDRESS": address])
    try assertEqualScreens(before, try desktop.screen())
    XCTAssertEqual(try again.sentences, [])
  }

  func testADamagedStateIsSaidAndSetAside() throws {
    let desktop = try Desktop()
    let first = try desktop.launch()
    let fresh = try desktop.screen()
    try first.press("Tab")
    try first.press("Down", times: 5)
    try first.kill()
    let file = try XCTUnwrap(desktop.windowFiles.first)
    let damaged = try Data(contentsOf: file).prefix(300)
    try damaged.write(to: file)

    let again = try desktop.launch()
    try assertEqualScreens(fresh, try desktop.screen())
    let sentences = try again.sentences
    XCTAssertEqual(
      sentences.map { $0.hasPrefix("desktop-catalog: Not everything is as you left it.") }, [true],
      "\(sentences)")
    try again.press("Tab")
    let history = "main.history"
    let aside = try FileManager.default.contentsOfDirectory(
      atPath: desktop.stateDirectory.appending(path: history).path
    ).map { "\(history)/\($0)" }
    XCTAssertEqual(
      try aside.map { try Data(contentsOf: desktop.stateDirectory.appending(path: $0)) },
      [damaged])
    let before = try desktop.screen()
    try again.kill()
    let third = try desktop.launch()
    try assertEqualScreens(before, try desktop.screen())
    XCTAssertEqual(try third.sentences, [])
  }

  /// The font and the theme are the desktop's, and may be others at the next launch.
  func testAnotherFontKeepsTheRowsAndTheTextAndSoDoesTheWayBack() throws {
    let desktop = try Desktop()
    let first = try desktop.launch()
    try first.press("Tab")
    try first.press("Down", times: 70)
    try first.press("ctrl+e")
    try first.press("Tab")
    try first.type("New words. ")
    let before = try desktop.screen()
    let title = desktop.activeTitle
    try first.kill()

    try desktop.useFont("DejaVu Serif 14")
    let larger = try desktop.launch()
    XCTAssertEqual(desktop.activeTitle, title)
    let inAnotherFont = try desktop.screen()
    XCTAssertNotEqual(inAnotherFont, before)
    try larger.kill()
    let again = try desktop.launch()
    try assertEqualScreens(inAnotherFont, try desktop.screen())
    XCTAssertEqual(try again.sentences, [])
    try again.kill()

    try desktop.useFont(nil)
    let back = try desktop.launch()
    try assertEqualScreens(before, try desktop.screen())
    XCTAssertEqual(try back.sentences, [])
  }

  func testAnotherThemeKeepsEverythingAndSoDoesTheWayBack() throws {
    let desktop = try Desktop()
    let first = try desktop.launch()
    try first.press("Tab")
    try first.press("Down", times: 70)
    try first.press("ctrl+e")
    try first.press("Tab")
    try first.type("New words. ")
    let before = try desktop.screen()
    let title = desktop.activeTitle
    try first.kill()

    for theme in ["Default:dark", "HighContrast", "NoSuchTheme"] {
      let other = try desktop.launch(changing: ["GTK_THEME": theme])
      XCTAssertEqual(desktop.activeTitle, title, theme)
      if theme == "Default:dark" { XCTAssertNotEqual(try desktop.screen(), before) }
      XCTAssertEqual(try other.sentences, [], theme)
      try other.kill()
    }
    let back = try desktop.launch()
    try assertEqualScreens(before, try desktop.screen())
    XCTAssertEqual(try back.sentences, [])
  }

  @MainActor
  func testASizeThatNobodyCouldUseIsCutToOneThatFits() async throws {
    // What is in the window needs some room, and the window manager adds a frame.
    for (stored, widths, heights) in [
      (Size(width: 700, height: 500), 700...700, 500...500),
      (Size(width: 0, height: 0), 900...900, 560...560),
      (Size(width: -700, height: 500), 900...900, 560...560),
      (Size(width: .max, height: .min), 900...900, 560...560),
      (Size(width: 1, height: 1), 100...600, 100...400),
      (Size(width: 100_000, height: 90_000), 1260...1280, 760...800),
    ] {
      let desktop = try Desktop()
      try await Self.store(stored, on: desktop)
      let app = try desktop.launch()
      let number = try XCTUnwrap(app.windows.first)
      let facts = try XCTUnwrap(desktop.xdotool("getwindowgeometry", "--shell", number))
        .split(separator: "\n")
      XCTAssertTrue(widths.contains { facts.contains("WIDTH=\($0)") }, "\(stored): \(facts)")
      XCTAssertTrue(heights.contains { facts.contains("HEIGHT=\($0)") }, "\(stored): \(facts)")
      XCTAssertEqual(try app.sentences, [], "\(stored)")
    }
  }

  private struct Size: Codable {
    var width: Int32
    var height: Int32
    var isMaximized = false
    var isFullscreen = false
  }

  @MainActor
  private static func store(_ size: Size, on desktop: Desktop) async throws {
    let keeper = try StateKeeper(
      application: Desktop.application,
      directory: FileStateDirectory(path: desktop.stateDirectory.path),
      keys: KeyFile(path: desktop.keyFile.path))
    let host = SceneHost(keeper)
    _ = try await host.start(SceneConfiguration { SizeScene(size) })
    try await host.terminate()
  }

  /// A window of which nothing but the size is stored, under the names that the app uses.
  @MainActor
  private final class SizeScene: @MainActor SceneDelegate {
    private let node: WindowNode

    init(_ size: Size) { node = WindowNode(size) }

    func restorationRoots(for scene: RestorableScene) -> [any RestorableNode] { [node] }
  }

  @MainActor
  private final class WindowNode: @MainActor RestorableNode {
    let restorationIdentifier: String? = "window"
    let restorationViews: [any RestorableView]

    init(_ size: Size) { restorationViews = [WindowSize(size)] }
  }

  @MainActor
  private final class WindowSize: @MainActor RestorableView, @MainActor StatefulRestoring {
    let restorationIdentifier: String? = "window"
    var restorableState: Size

    init(_ size: Size) { restorableState = size }
  }
}
