package import Foundation
import XCTest

/// Chromium without a screen, driven through chromedriver: WebDriver is JSON over HTTP.
package final class Chromium {
  private let driver: Child
  private let port: Int
  private var session = ""
  /// Where it has its socket, whose path the system bounds to some 100 bytes.
  private let shortFolder: URL

  /// Starts it.
  ///
  /// - Throws: `XCTSkip` if this machine does not have it.
  package init(
    in directory: URL, width: Int = 1100, height: Int = 760, scripts: Bool = true
  ) throws {
    for program in ["chromium", "chromedriver"] { try skipIfMissing(program) }
    // A home of its own; what it leaves is removed with the site.
    var environment = ProcessInfo.processInfo.environment
    let home = directory.appending(path: "home")
    try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
    for name in ["HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"] { environment[name] = home.path }
    shortFolder = URL(filePath: "/tmp/chromium-\(UInt32.random(in: 0 ... .max))")
    try FileManager.default.createDirectory(at: shortFolder, withIntermediateDirectories: false)
    environment["TMPDIR"] = shortFolder.path
    (driver, port) = try Self.startDriver(environment, in: directory)
    let arguments = [
      // As root it runs only without its sandbox, and it shows nothing but the pages of the test.
      "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
      "--window-size=\(width),\(height)", "--force-device-scale-factor=1", "--lang=en",
      // Else it paints only what has changed, and the corners of a button that is half in that
      // differ from those of one that is painted whole, by 1 of 255.
      "--disable-partial-raster",
    ]
    let capabilities: [String: Any] = [
      "capabilities": [
        "alwaysMatch": [
          "browserName": "chrome",
          "goog:chromeOptions": [
            "args": arguments,
            "prefs": scripts ? [:] : ["profile.managed_default_content_settings.javascript": 2],
          ],
          "goog:loggingPrefs": ["browser": "ALL"],
        ]
      ]
    ]
    let value = try send("POST", "/session", capabilities) as? [String: Any]
    session = try XCTUnwrap(value?["sessionId"] as? String)
  }

  /// Starts it, and once more if it ends: the port that it has chosen may be in use.
  private static func startDriver(
    _ environment: [String: String], in directory: URL
  ) throws -> (Child, port: Int) {
    var words = ""
    for _ in 1...5 {
      let output = directory.appending(path: "chromedriver-\(UUID().uuidString)")
      let driver = try Child(
        ["chromedriver", "--port=0"], environment: environment, output: output)
      var port: Int?
      try TestSupport.wait(for: "chromedriver. \(words)") {
        let isRunning = driver.isRunning
        words = (try? String(contentsOf: output, encoding: .utf8)) ?? ""
        port = words.firstMatch(of: /started successfully on port ([0-9]+)/).flatMap { Int($0.1) }
        return port != nil || !isRunning
      }
      if let port { return (driver, port) }
    }
    throw HTTP.Problem(description: words)
  }

  deinit {
    // It ends Chromium; what is killed leaves its children behind.
    _ = try? send("DELETE", "/session/\(session)")
    driver.send(SIGTERM)
    _ = try? driver.ending()
    try? FileManager.default.removeItem(at: shortFolder)
  }

  // MARK: What a person does

  package func open(_ address: String) throws { try command("url", ["url": address]) }

  package func reload() throws { try command("refresh") }

  package func back() throws { try command("back") }

  /// Types into a field.
  package func type(_ text: String, into selector: String) throws {
    try command("element/\(element(selector))/value", ["text": text])
  }

  /// Presses keys one after the other where the keyboard is.
  package func press(_ keys: String...) throws {
    let strokes = keys.flatMap {
      [["type": "keyDown", "value": $0], ["type": "keyUp", "value": $0]]
    }
    try command("actions", ["actions": [["type": "key", "id": "keyboard", "actions": strokes]]])
  }

  package func click(_ selector: String) throws {
    try command("element/\(element(selector))/click")
  }

  /// Runs a script in the page.
  @discardableResult
  package func run(_ script: String) throws -> Any? {
    try command("execute/sync", ["script": script, "args": []])
  }

  package func text(_ script: String) throws -> String {
    "\(try run("return String(\(script))") ?? "")"
  }

  /// Waits until an expression is true in the page.
  package func wait(until expression: String) throws {
    try TestSupport.wait(for: "\(expression) in \((try? text("document.body.innerText")) ?? "")") {
      // While a page gives way to another one, there is none to ask.
      (try? run("return Boolean(\(expression))") as? Bool) ?? false
    }
  }

  /// Waits until the page says that all is stored.
  package func waitUntilSaved() throws {
    try wait(until: #"document.getElementById("status").dataset.state === "saved""#)
  }

  package func cookie(_ name: String) throws -> String {
    let found = try send("GET", "/session/\(session)/cookie/\(name)") as? [String: Any]
    return try XCTUnwrap(found?["value"] as? String)
  }

  /// Rests the pointer on an element.
  package func point(at selector: String) throws {
    try movePointer(to: ["element-6066-11e4-a52e-4f735466cecf": try element(selector)])
  }

  /// Moves it to the middle of an element, or to the corner of the viewport.
  private func movePointer(to origin: Any) throws {
    let move: [String: Any] = [
      "type": "pointerMove", "duration": 0, "origin": origin, "x": 0, "y": 0,
    ]
    try command(
      "actions", ["actions": [["type": "pointer", "id": "mouse", "actions": [move]]]])
  }

  /// A picture of the page, as a PNG file, that two pages share only if they show the same.
  ///
  /// The pointer leaves the page's elements first: whether the one beneath it is shown as such
  /// after a reload is a matter of time.
  package func picture() throws -> Data {
    try movePointer(to: "viewport")
    return try pictureAsItIs()
  }

  /// A picture of the page and of what the pointer does to it, when nothing moves any more.
  package func pictureAsItIs() throws -> Data {
    var last = Data()
    try TestSupport.wait(for: "the page to stand still") {
      Thread.sleep(forTimeInterval: 0.3)
      let text = try XCTUnwrap(send("GET", "/session/\(session)/screenshot") as? String)
      let picture = try XCTUnwrap(Data(base64Encoded: text))
      defer { last = picture }
      return picture == last
    }
    return last
  }

  /// What the console of the browser complained of.
  package func complaints() throws -> [String] {
    let entries = try command("se/log", ["type": "browser"]) as? [[String: Any]]
    return (entries ?? []).map { "\($0["message"] ?? "")" }
  }

  // MARK: WebDriver

  private func element(_ selector: String) throws -> String {
    let found = try command("element", ["using": "css selector", "value": selector])
    return try XCTUnwrap((found as? [String: String])?.values.first, "\(selector) is not there.")
  }

  @discardableResult
  private func command(_ name: String, _ fields: [String: Any] = [:]) throws -> Any? {
    try send("POST", "/session/\(session)/\(name)", fields)
  }

  private func send(
    _ method: String, _ path: String, _ fields: [String: Any]? = nil
  ) throws -> Any? {
    let body = try fields.map { try JSONSerialization.data(withJSONObject: $0) } ?? Data()
    let answer = try HTTP.send(
      method, path, port: port, headers: ["Content-Type": "application/json"], body: body)
    let object = try JSONSerialization.jsonObject(with: answer.body) as? [String: Any]
    let value = object?["value"]
    guard answer.status == 200 else {
      let message = (value as? [String: Any])?["message"]
      throw HTTP.Problem(description: "\(path): \(message ?? answer.text)")
    }
    return value is NSNull ? nil : value
  }
}

/// Keys as WebDriver names them.
package enum Key {
  package static let left = "\u{E012}"
  package static let right = "\u{E014}"
  package static let home = "\u{E011}"
  package static let end = "\u{E010}"
  package static let enter = "\u{E007}"
}

/// Skips a test where a program is not installed, and says which.
package func skipIfMissing(_ program: String) throws {
  let paths = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
  guard (paths + ["/usr/sbin"]).contains(where: { access("\($0)/\(program)", X_OK) == 0 }) else {
    throw XCTSkip("\(program) is missing.")
  }
}
