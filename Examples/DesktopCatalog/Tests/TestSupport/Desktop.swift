package import Foundation
import XCTest

/// A screen, a window manager, a session bus and a system bus that belong to one test, with a home
/// of their own.
///
/// Nobody sees the screen: it is Xvfb's, which keeps it in a file.
package final class Desktop {
  /// Everything that the programs of the test read and write is in here.
  package let directory: URL
  /// The file that holds what is on the screen, as an XWD picture.
  package var framebuffer: URL { directory.appending(path: "Xvfb_screen0") }
  package private(set) var buses: [Bus: Child] = [:]

  private var environment: [String: String]
  private var servers: [Child] = []
  private var peers: Child?
  private let commands = Pipe()

  /// A bus, as the variable that names its address.
  package enum Bus: String, CaseIterable {
    case session = "DBUS_SESSION_BUS_ADDRESS"
    case system = "DBUS_SYSTEM_BUS_ADDRESS"
  }

  /// Who else is on the buses.
  package enum Peers {
    case none
    /// A session manager and a portal.
    case sessionManager
    /// A logind besides.
    case all
  }

  /// Starts the screen and what belongs to it.
  ///
  /// - Throws: `XCTSkip` if this machine does not have what is needed.
  package init(width: Int = 1280, height: Int = 800, peers: Peers = .none) throws {
    directory = FileManager.default.temporaryDirectory
      .appending(path: "desktop-\(UUID().uuidString)")
    environment = Self.environment(in: directory)
    try Self.skipIfAnythingIsMissing()
    try FileManager.default.createDirectory(
      at: directory.appending(path: "runtime"), withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    try useFont(nil)

    let screen = try start([
      "Xvfb", "-displayfd", "1", "-screen", "0", "\(width)x\(height)x24", "-nocursor",
      "-nolisten", "tcp", "-noreset", "-fbdir", directory.path,
    ])
    environment["DISPLAY"] = ":" + (try screen.firstLine())
    for bus in Bus.allCases {
      let daemon = try start([
        "dbus-daemon", "--session", "--nofork", "--print-address=1",
        "--address=unix:dir=\(directory.path)",
      ])
      environment[bus.rawValue] = try daemon.firstLine()
      buses[bus] = daemon
    }
    let settings = newFile()
    try Data(Self.windowManagerSettings.utf8).write(to: settings)
    let manager = try start(["openbox", "--sm-disable", "--config-file", settings.path])
    try waitFor("the window manager. It says: \(try manager.errorLines)") {
      xdotool("get_num_desktops") != nil
    }
    // The pointer is where no window is, so that it is over no widget.
    xdotool("mousemove", "\(width - 1)", "\(height - 1)")
    if peers != .none { try start(peers) }
  }

  /// The desktop of the tests that show widgets in the process of the test, until it ends: GTK ends it when
  /// its screen goes.
  @MainActor
  package static func ofThisProcess() throws -> Desktop {
    if let entered { return entered }
    let desktop = try Desktop()
    desktop.enter()
    entered = desktop
    atexit { Desktop.entered = nil }
    return desktop
  }

  /// Set in tests on the main actor, and at the end of the process.
  private nonisolated(unsafe) static var entered: Desktop?

  deinit {
    // A screen that is killed leaves its number locked; a bus that a test has stopped must go on to end.
    for server in servers.reversed() {
      server.send(SIGTERM)
      server.send(SIGCONT)
      _ = try? server.ending()
    }
    try? FileManager.default.removeItem(at: directory)
  }

  // MARK: Settings

  /// Nothing of the user's but where programs are.
  private static func environment(in directory: URL) -> [String: String] {
    let homes = [
      "HOME": "home", "XDG_STATE_HOME": "state", "XDG_DATA_HOME": "data",
      "XDG_CONFIG_HOME": "config", "XDG_CACHE_HOME": "cache", "XDG_RUNTIME_DIR": "runtime",
    ]
    return homes.mapValues { directory.appending(path: $0).path }.merging([
      "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "", "LC_ALL": "C.UTF-8",
      "GSK_RENDERER": "cairo", "GDK_BACKEND": "x11", "GTK_A11Y": "none",
      "GSETTINGS_BACKEND": "memory",
    ]) { $1 }
  }

  /// Gives the process of the test itself the environment of the desktop.
  private func enter() {
    for (name, value) in environment { setenv(name, value, 1) }
  }

  /// Sets what GTK reads at a launch; nothing on the screen moves by itself.
  ///
  /// Letters begin at whole pixels: of one that begins between two, GTK 4.8 may draw an edge where it does
  /// not draw anew when the color changes.
  ///
  /// The font is one as `Sans 14`, or the usual one.
  package func useFont(_ font: String?) throws {
    let folder = directory.appending(path: "config/gtk-4.0")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let settings = """
      [Settings]
      gtk-cursor-blink=false
      gtk-enable-animations=false
      gtk-overlay-scrolling=false
      gtk-hint-font-metrics=true
      \(font.map { "gtk-font-name=\($0)" } ?? "")
      """
    try Data(settings.utf8).write(to: folder.appending(path: "settings.ini"))
  }

  /// Lets apps draw nothing that depends on how long ago a key was.
  ///
  /// The focus is also seen after three seconds, and a button that is down looks as one that is not.
  package func useSteadyLook() throws {
    let style = """
      *:focus { outline: 2px solid blue; outline-offset: -2px; }
      button { background: white; color: black; border-color: gray; box-shadow: none; }
      button:checked { background: silver; }
      """
    try Data(style.utf8).write(to: directory.appending(path: "config/gtk-4.0/gtk.css"))
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

  private static func skipIfAnythingIsMissing() throws {
    for tool in ["Xvfb", "dbus-daemon", "openbox", "xdotool", "import", "setpriv"]
    where places(of: tool).isEmpty {
      throw XCTSkip("\(tool) is not on this machine. Scripts/test installs it where it can.")
    }
  }

  /// Where programs of a name are, in the order of `PATH`.
  private static func places(of program: String) -> [String] {
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
      .map { "\($0)/\(program)" }.filter(FileManager.default.isExecutableFile)
  }

  /// Starts a program with the environment of the desktop, or with other variables; nil takes
  /// one away.
  package func child(
    _ command: [String], changing changes: [String: String?] = [:], input: Pipe? = nil
  ) throws -> Child {
    try Child(
      command, environment: changes.reduce(into: environment) { $0[$1.key] = $1.value },
      in: directory, input: input)
  }

  /// Starts a server, which ends with the test at the latest, even if that crashes.
  private func start(_ command: [String], input: Pipe? = nil) throws -> Child {
    servers.append(try child(["setpriv", "--pdeathsig", "TERM"] + command, input: input))
    return servers[servers.count - 1]
  }

  /// Whether the screen, the window manager and the buses have nothing to do.
  package var isAsleep: Bool { servers.allSatisfy(\.isAsleep) }

  /// A place for a file that nobody else uses.
  package func newFile() -> URL { directory.appending(path: UUID().uuidString) }

  /// Runs a program to its end.
  ///
  /// - Returns: What it printed; nil if it failed.
  package func output(of command: [String]) -> String? {
    do {
      let child = try child(command)
      guard try child.ending(within: 20) == .exit(0) else { return nil }
      return try child.lines.joined(separator: "\n")
    } catch {
      return nil
    }
  }

  /// Runs one command of xdotool.
  ///
  /// - Returns: What it printed; nil if it failed.
  @discardableResult
  package func xdotool(_ arguments: String...) -> String? { output(of: ["xdotool"] + arguments) }

  // MARK: The session manager, the portal and logind

  /// Starts them with the first Python that can talk over D-Bus: not every one in `PATH` can.
  private func start(_ peers: Peers) throws {
    let python = Self.places(of: "python3").first {
      output(of: [$0, "-c", "import dbus, gi.repository.GLib"]) != nil
    }
    guard let python else {
      throw XCTSkip("D-Bus for Python is not on this machine. Scripts/test installs it.")
    }
    let script = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "desktop-peers.py")
    self.peers = try start(
      [python, script.path] + (peers == .all ? [] : ["--without-logind"]),
      input: commands)
    try waitForReport("ready")
  }

  /// Lets the session manager, the portal or logind do something; see `desktop-peers.py`.
  package func tell(_ command: String) throws {
    try commands.fileHandleForWriting.write(contentsOf: Data("\(command)\n".utf8))
  }

  /// What the app has done to them.
  package var reports: [String] { get throws { try peers?.lines ?? [] } }

  /// Waits until a report has come, that many times.
  package func waitForReport(_ report: String, times: Int = 1, seconds: Double = 10) throws {
    try waitFor(
      "\(report), having seen \(try reports) \(try peers?.errorLines ?? [])", seconds: seconds
    ) {
      try reports.count { $0 == report } >= times
    }
  }

  // MARK: Stored files

  package static let application = "org.restorationkit.desktop-catalog"

  package var stateDirectory: URL { directory.appending(path: "state/\(Self.application)") }

  package var keyFile: URL {
    directory.appending(path: "data/restoration-keys/\(Self.application).key")
  }

  /// The files of windows.
  package var windowFiles: [URL] {
    storedNames.filter(Self.isWindowFile).map { stateDirectory.appending(path: $0) }
  }

  private static func isWindowFile(_ name: String) -> Bool {
    name == "main.rka"
  }

  /// The names of all files beside the state.
  package var storedNames: [String] {
    // There is no directory before the first save.
    (try? FileManager.default.contentsOfDirectory(atPath: stateDirectory.path))?.sorted() ?? []
  }
}
