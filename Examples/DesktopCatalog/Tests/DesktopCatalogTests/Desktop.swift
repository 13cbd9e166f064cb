import Foundation
import XCTest

/// A screen, a window manager and a session bus that belong to one test, with a home of their own.
///
/// Nobody sees the screen: it is Xvfb's, which keeps it in a file.
final class Desktop {
  /// Everything that the programs of the test read and write is in here.
  let directory: URL
  /// The screen without any window.
  private(set) var bare: Screenshot?

  private let framebuffer: URL
  private var environment: [String: String]
  private var children: [Child] = []

  /// Starts the screen and what belongs to it.
  ///
  /// - Throws: `XCTSkip` if this machine does not have what is needed.
  init(width: Int = 1280, height: Int = 800) throws {
    try Self.skipIfAnythingIsMissing()
    directory = FileManager.default.temporaryDirectory
      .appending(path: "desktop-\(UUID().uuidString)")
    framebuffer = directory.appending(path: "screen")
    environment = Self.environment(in: directory)
    try FileManager.default.createDirectory(at: framebuffer, withIntermediateDirectories: true)
    try useFont(nil)

    environment["DISPLAY"] =
      ":"
      + (try start([
        "Xvfb", "-displayfd", "1", "-screen", "0", "\(width)x\(height)x24", "-nocursor",
        "-nolisten", "tcp", "-noreset", "-fbdir", framebuffer.path,
      ]))
    environment["DBUS_SESSION_BUS_ADDRESS"] = try start([
      "dbus-daemon", "--session", "--nofork", "--print-address=1",
    ])
    let settings = newFile()
    try Data(Self.windowManagerSettings.utf8).write(to: settings)
    let complaints = newFile()
    children.append(
      try child(
        ["openbox", "--sm-disable", "--config-file", settings.path], errors: complaints))
    try wait(for: "the window manager. \(String(contentsOf: complaints, encoding: .utf8))") {
      self.xdotool("get_num_desktops") != nil
    }
    // The pointer is where no window is, so that it is over no widget.
    _ = xdotool("mousemove", "\(width - 1)", "\(height - 1)")
    bare = try settledScreen()
  }

  deinit {
    // A screen that is killed leaves its number locked.
    for child in children.reversed() {
      child.send(SIGTERM)
      _ = try? child.ending()
    }
    try? FileManager.default.removeItem(at: directory)
  }

  static func skipIfAnythingIsMissing() throws {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    for tool in ["Xvfb", "dbus-daemon", "openbox", "xdotool", "import", "setpriv"]
    where !folders.contains(where: {
      FileManager.default.isExecutableFile(atPath: "\($0)/\(tool)")
    }) {
      throw XCTSkip("\(tool) is not on this machine. Scripts/test installs it where it can.")
    }
  }

  // MARK: Settings

  private static func environment(in directory: URL) -> [String: String] {
    let homes = [
      "HOME": "home", "XDG_STATE_HOME": "state", "XDG_DATA_HOME": "data",
      "XDG_CONFIG_HOME": "config", "XDG_CACHE_HOME": "cache", "XDG_RUNTIME_DIR": "runtime",
    ]
    var environment = ProcessInfo.processInfo.environment
    for name in ["WAYLAND_DISPLAY", "GTK_THEME", "GTK_MODULES", "SESSION_MANAGER"] {
      environment[name] = nil
    }
    return environment.merging(homes.mapValues { directory.appending(path: $0).path }) { $1 }
      .merging([
        "GSK_RENDERER": "cairo", "GDK_BACKEND": "x11", "GTK_A11Y": "none",
        "GSETTINGS_BACKEND": "memory", "LC_ALL": "C.UTF-8",
      ]) { $1 }
  }

  /// Sets what GTK reads at a launch; nothing on the screen moves by itself.
  ///
  /// The font is one as `Sans 14`, or the usual one.
  func useFont(_ font: String?) throws {
    let folder = directory.appending(path: "config/gtk-4.0")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let runtime = directory.appending(path: "runtime")
    try FileManager.default.createDirectory(at: runtime, withIntermediateDirectories: true)
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: runtime.path)
    let settings = """
      [Settings]
      gtk-cursor-blink=false
      gtk-enable-animations=false
      gtk-overlay-scrolling=false
      \(font.map { "gtk-font-name=\($0)" } ?? "")
      """
    try Data(settings.utf8).write(to: folder.appending(path: "settings.ini"))
  }

  /// The keys are those of the tests, and no user's.
  private static let windowManagerSettings = """
    <openbox_config xmlns="http://openbox.org/3.4/rc">
      <theme><name>Clearlooks</name></theme>
      <keyboard>
        <keybind key="A-F10"><action name="ToggleMaximize"/></keybind>
        <keybind key="A-Tab"><action name="NextWindow"/></keybind>
        <keybind key="A-F4">
          <action name="ForEach"><then><action name="Close"/></then></action>
        </keybind>
      </keyboard>
    </openbox_config>
    """

  // MARK: Programs

  /// Starts a program with the environment of the desktop, or with other variables; nil takes
  /// one away.
  func child(
    _ command: [String], changing changes: [String: String?] = [:], output: URL? = nil,
    errors: URL? = nil
  ) throws -> Child {
    try Child(
      command, environment: changes.reduce(into: environment) { $0[$1.key] = $1.value },
      output: output, errors: errors)
  }

  /// A place for a file that nobody else uses.
  func newFile() -> URL { directory.appending(path: UUID().uuidString) }

  /// Starts a server, which ends with the test at the latest, even if that crashes.
  ///
  /// - Returns: The first line that it prints.
  private func start(_ command: [String]) throws -> String {
    let file = newFile()
    let server = try child(["setpriv", "--pdeathsig", "TERM"] + command, output: file)
    children.append(server)
    var text = ""
    try wait(for: "\(command[0]) to start") {
      text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
      return text.hasSuffix("\n")
    }
    return text.trimmingCharacters(in: .newlines)
  }

  /// Runs a program to its end.
  ///
  /// - Returns: What it printed; nil if it failed.
  func output(of command: [String]) -> String? {
    do {
      let file = newFile()
      guard try child(command, output: file).ending() == .exit(0) else { return nil }
      return String(decoding: try Data(contentsOf: file), as: UTF8.self)
        .trimmingCharacters(in: .newlines)
    } catch {
      return nil
    }
  }

  /// Runs one command of xdotool.
  ///
  /// - Returns: What it printed; nil if it failed.
  @discardableResult
  func xdotool(_ arguments: String...) -> String? { output(of: ["xdotool"] + arguments) }

  // MARK: The screen

  /// What is on the screen now.
  func screen() throws -> Screenshot {
    try Screenshot(contentsOf: framebuffer.appending(path: "Xvfb_screen0"))
  }

  /// What is on the screen when nothing has moved for a while.
  func settledScreen() throws -> Screenshot {
    try waitUntilStill("the screen", for: 0.4) { try screen() }
  }

  /// The title of the window that has the keyboard; nil if there is none.
  var activeTitle: String? { xdotool("getactivewindow", "getwindowname") }

  // MARK: Stored files

  static let application = "org.restorationkit.desktop-catalog"

  var stateDirectory: URL { directory.appending(path: "state/\(Self.application)") }

  var keyFile: URL {
    directory.appending(path: "data/restoration-keys/\(Self.application).key")
  }

  /// The files of windows.
  var windowFiles: [URL] {
    storedNames.filter {
      $0.hasPrefix("main.scene-") && $0.hasSuffix(".rka") && !$0.hasSuffix(".launch.rka")
    }.map { stateDirectory.appending(path: $0) }
  }

  /// The names of all files beside the state.
  var storedNames: [String] {
    // There is no directory before the first save.
    (try? FileManager.default.contentsOfDirectory(atPath: stateDirectory.path))?.sorted() ?? []
  }

  /// Changes whenever anything is stored anew.
  var stateVersion: [String] {
    storedNames.map { name in
      let facts = try? FileManager.default.attributesOfItem(
        atPath: stateDirectory.appending(path: name).path)
      let date = facts?[.modificationDate] as? Date
      return "\(name) \(facts?[.systemFileNumber] ?? 0) \(date?.timeIntervalSince1970 ?? 0)"
    }
  }

  /// A copy of the state.
  func copyOfState() throws -> URL {
    let copy = directory.appending(path: UUID().uuidString)
    try FileManager.default.copyItem(at: stateDirectory, to: copy)
    return copy
  }

  /// Makes the state what it was when it was copied.
  func putBack(_ copy: URL) throws {
    try FileManager.default.removeItem(at: stateDirectory)
    try FileManager.default.copyItem(at: copy, to: stateDirectory)
  }
}
