import DesktopTestSupport
import Foundation
import XCTest

/// What a screen reader says, asked for as it asks.
@MainActor
final class AccessibilityTests: XCTestCase {
  func testEverythingThatTakesTheKeyboardHasAName() async throws {
    let desktop = try Desktop()
    let app = try desktop.launch(changing: ["GTK_A11Y": nil])
    let bus = try Bus(on: desktop)
    let product = try bus.elements()
    XCTAssertEqual(nameless(product), [])
    for expected in ["Search the catalog", "Products", "Info", "Details", "Related", "Edit"] {
      XCTAssertTrue(product.contains { $0.name == expected }, "\(expected): \(product)")
    }

    try app.press("ctrl+e")
    try app.type("x")
    try app.press("Escape")
    let editor = try bus.elements()
    XCTAssertEqual(nameless(editor), [])
    for expected in [
      "Title", "Description", "Cancel", "Save", "Unsaved changes", "Keep editing", "Discard",
    ] {
      XCTAssertTrue(editor.contains { $0.name == expected }, "\(expected): \(editor)")
    }

    try app.press("Escape")
    try desktop.saveElsewhere("Theirs")
    try app.press("ctrl+s")
    let question = try bus.elements()
    XCTAssertEqual(nameless(question), [])
    for expected in ["Changed meanwhile", "Their words", "Save mine", "Take theirs", "Edit both"] {
      XCTAssertTrue(question.contains { $0.name == expected }, "\(expected): \(question)")
    }
    // An alert is read aloud when it comes.
    XCTAssertTrue(question.contains { $0.role == 2 && $0.name == "Changed meanwhile" })
  }

  private struct Element: Hashable {
    /// As `AtspiRole` numbers it.
    let role: Int
    let name: String
  }

  private func nameless(_ elements: [Element]) -> [Element] {
    // Dialogs, frames, lists, page tabs, buttons, texts, windows and entries.
    let roles = [16, 23, 31, 37, 43, 61, 69, 79]
    return elements.filter { roles.contains($0.role) && $0.name.isEmpty }
  }

  /// The bus of what helps people who cannot see the screen.
  private struct Bus {
    private static let root = "/org/a11y/atspi/accessible/root"

    private let desktop: Desktop
    private let address: String

    init(on desktop: Desktop) throws {
      let answer = desktop.output(of: [
        "gdbus", "call", "--session", "--dest", "org.a11y.Bus", "--object-path", "/org/a11y/bus",
        "--method", "org.a11y.Bus.GetAddress",
      ])
      guard let answer else {
        throw XCTSkip("gdbus or at-spi2-core is not on this machine. Scripts/test installs them.")
      }
      self.desktop = desktop
      address = Self.words(in: answer).first ?? ""
    }

    /// Everything that the windows of the app consist of.
    func elements() throws -> [Element] {
      let children = "org.a11y.atspi.Accessible.GetChildren"
      let app = try XCTUnwrap(
        Self.words(in: try call("org.a11y.atspi.Registry", Self.root, children)).first)
      // What nobody has asked for is not in the list of all elements.
      var waiting = [Self.root]
      while let path = waiting.popLast() {
        let found = Self.words(in: (try? call(app, path, children)) ?? "")
        // The rows of the list are so many that some will do.
        waiting += found.filter { $0.hasPrefix("/") }.prefix(5)
      }
      let all = try call(app, "/org/a11y/atspi/cache", "org.a11y.atspi.Cache.GetItems")
      // The interfaces, the name, the role and a description.
      return all.matches(of: #/\], (?:'([^']*)'|"([^"]*)"), (?:uint32 )?(\d+), ['"]/#).map {
        Element(role: Int($0.3) ?? 0, name: String($0.1 ?? $0.2 ?? ""))
      }
    }

    private func call(_ name: String, _ path: String, _ method: String) throws -> String {
      let answer = desktop.output(of: [
        "gdbus", "call", "--address", address, "--dest", name, "--object-path", path, "--method",
        method,
      ])
      return try XCTUnwrap(answer, "\(path) \(method)")
    }

    /// What stands between quotes.
    private static func words(in answer: String) -> [String] {
      answer.split(separator: "'", omittingEmptySubsequences: false).enumerated()
        .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }
  }
}
