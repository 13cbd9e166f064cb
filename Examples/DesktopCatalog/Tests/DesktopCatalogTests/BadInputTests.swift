import Foundation
import RestorationKit
import XCTest

/// Whatever is wrong around the app, it says so or goes on, and nothing is lost.
final class BadInputTests: XCTestCase {
  func testWithoutADisplayItSaysSoAndFails() throws {
    let desktop = try Desktop()
    let app = try CatalogApp(on: desktop, [], changing: ["DISPLAY": nil])
    XCTAssertEqual(try app.end(), 1)
    XCTAssertEqual(
      try app.sentences,
      [
        "desktop-catalog: There is no display. "
          + "Set DISPLAY or WAYLAND_DISPLAY, or run it with xvfb-run."
      ])
  }

  func testWithoutASessionBusItComesBackAllTheSame() throws {
    let desktop = try Desktop()
    let address = "unix:path=/nowhere"
    let first = try desktop.launch(changing: ["DBUS_SESSION_BUS_ADDRESS": address])
    try first.press("Tab")
    try first.press("Down", times: 5)
    let before = try desktop.screen()
    first.kill()
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
    first.kill()
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
    let aside = desktop.storedNames.filter {
      $0.hasPrefix("\(file.lastPathComponent).unreadable-")
    }
    XCTAssertEqual(
      try aside.map { try Data(contentsOf: desktop.stateDirectory.appending(path: $0)) },
      [damaged])
    let before = try desktop.screen()
    again.kill()
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
    first.kill()

    try desktop.useFont("DejaVu Serif 14")
    let larger = try desktop.launch()
    XCTAssertEqual(desktop.activeTitle, title)
    let inAnotherFont = try desktop.screen()
    XCTAssertNotEqual(inAnotherFont, before)
    larger.kill()
    let again = try desktop.launch()
    try assertEqualScreens(inAnotherFont, try desktop.screen())
    XCTAssertEqual(try again.sentences, [])
    again.kill()

    try desktop.useFont(nil)
    let back = try desktop.launch()
    try assertEqualScreens(before, try desktop.screen())
    XCTAssertEqual(try back.sentences, [])
  }

  @MainActor
  func testASizeThatNobodyCouldUseIsCutToOneThatFits() async throws {
    for (stored, expected) in [
      (Size(width: 700, height: 500), "700x500"), (Size(width: 0, height: 0), "900x560"),
      (Size(width: -700, height: 500), "900x560"), (Size(width: 1, height: 1), nil),
      (Size(width: 100_000, height: 90_000), "1280x800"),
      (Size(width: .max, height: .min), "900x560"),
    ] {
      let desktop = try Desktop()
      try await Self.store(stored, on: desktop)
      let app = try desktop.launch()
      let number = try XCTUnwrap(app.windows.values.first)
      let facts = try XCTUnwrap(desktop.xdotool("getwindowgeometry", "--shell", number))
      let size = ["WIDTH=", "HEIGHT="].map { name in
        facts.split(separator: "\n").first { $0.hasPrefix(name) }?.dropFirst(name.count) ?? ""
      }
      // What is in the window may need more room than was stored.
      if let expected { XCTAssertEqual(size.joined(separator: "x"), expected, "\(stored)") }
      XCTAssertGreaterThan(try XCTUnwrap(Int(size[0])), 100, "\(stored)")
      XCTAssertGreaterThan(try XCTUnwrap(Int(size[1])), 100, "\(stored)")
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
      keys: FileKeyProvider(path: desktop.keyFile.path))
    let host = SceneHost(keeper)
    _ = try await host.start(SceneConfiguration { SizeScene(size) })
    try await host.terminate()
  }

  /// A window of which nothing but the size is stored.
  @MainActor
  private final class SizeScene: @MainActor SceneDelegate {
    private let node: WindowNode

    init(_ size: Size) { node = WindowNode(size) }

    func restorationRoots(for scene: Scene) -> [any RestorableNode] { [node] }
  }

  @MainActor
  private final class WindowNode: @MainActor RestorableNode {
    let restorationIdentifier: String? = "window"
    let restorationViews: [any RestorableView]

    init(_ size: Size) { restorationViews = [SizeView(size)] }
  }

  @MainActor
  private final class SizeView: @MainActor RestorableView, @MainActor StatefulRestoring {
    let restorationIdentifier: String? = "window"
    var restorableState: Size

    init(_ size: Size) { restorableState = size }
  }
}
