import ArchiveCodec
import Foundation
import RestorationKit
import XCTest

/// A desktop of a test's own, which ends with the last reference to it.
///
/// It has a display, a window manager, a session bus with a session manager, and a system bus
/// with a logind.
final class Desktop {
  static let application = "org.restorationkit.desktop-catalog"

  let directory: URL
  let environment: [String: String]
  let sessionBus: Child
  let systemBus: Child
  private let display: Child
  private let windowManager: Child
  private let peers: Child

  init(withLogind: Bool = true) throws {
    try Self.skipUnlessInstalled()
    // The path of a socket has room for no more than 107 bytes.
    directory = URL(filePath: "/tmp/desktop-\(UUID().uuidString.prefix(8))")
    for folder in ["home", "run", "config/gtk-4.0"] {
      try FileManager.default.createDirectory(
        at: directory.appending(path: folder), withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
    }
    try Self.settings.write(
      to: directory.appending(path: "config/gtk-4.0/settings.ini"), atomically: true,
      encoding: .utf8)
    var environment = Self.environment(in: directory)
    sessionBus = try Self.bus("session", in: directory, &environment)
    systemBus = try Self.bus("system", in: directory, &environment)
    let display = try Child(
      ["/usr/bin/Xvfb", "-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp"],
      environment: environment)
    try waitFor("the display") { !display.lines.isEmpty }
    environment["DISPLAY"] = ":" + display.lines[0]
    self.display = display
    windowManager = try Child(["/usr/bin/openbox", "--sm-disable"], environment: environment)
    let script = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "desktop-peers.py")
    peers = try Child(
      ["/usr/bin/python3", script.path] + (withLogind ? [] : ["--without-logind"]),
      environment: environment)
    self.environment = environment
    try waitForReport("ready")
  }

  deinit {
    try? FileManager.default.removeItem(at: directory)
  }

  private static func skipUnlessInstalled() throws {
    let programs = ["Xvfb", "openbox", "dbus-daemon", "xdotool", "python3"]
    let missing = programs.filter {
      !FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
    }
    guard missing.isEmpty else {
      throw XCTSkip(
        "Not installed: \(missing). Run apt-get install xvfb openbox dbus xdotool python3-dbus.")
    }
    let imports = ["/usr/bin/python3", "-c", "import dbus, gi.repository.GLib"]
    guard try Child.output(of: imports, environment: [:]) != nil else {
      throw XCTSkip(
        "Not installed: D-Bus for Python. Run apt-get install python3-dbus python3-gi.")
    }
  }

  private static let settings = """
    [Settings]
    gtk-cursor-blink=false
    gtk-enable-animations=false
    gtk-overlay-scrolling=false
    """

  private static func environment(in directory: URL) -> [String: String] {
    let homes = [
      "HOME": "home", "XDG_STATE_HOME": "state", "XDG_DATA_HOME": "data",
      "XDG_CONFIG_HOME": "config", "XDG_CACHE_HOME": "cache", "XDG_RUNTIME_DIR": "run",
      "SLOW_DISK": "slow",
    ]
    return homes.mapValues { directory.appending(path: $0).path }.merging([
      "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "GSK_RENDERER": "cairo", "GTK_A11Y": "none",
      "GDK_BACKEND": "x11", "GSETTINGS_BACKEND": "memory",
    ]) { $1 }
  }

  /// Starts a bus that starts nothing by itself.
  private static func bus(
    _ name: String, in directory: URL, _ environment: inout [String: String]
  ) throws -> Child {
    let socket = directory.appending(path: "\(name)-bus")
    let configuration = directory.appending(path: "\(name).conf")
    try """
    <busconfig>
      <type>session</type>
      <listen>unix:path=\(socket.path)</listen>
      <policy context="default">
        <allow send_destination="*" eavesdrop="true"/>
        <allow eavesdrop="true"/>
        <allow own="*"/>
      </policy>
    </busconfig>
    """.write(to: configuration, atomically: true, encoding: .utf8)
    environment["DBUS_\(name.uppercased())_BUS_ADDRESS"] = "unix:path=\(socket.path)"
    let bus = try Child(
      ["/usr/bin/dbus-daemon", "--nofork", "--config-file=\(configuration.path)"],
      environment: environment)
    try waitFor("the \(name) bus") { FileManager.default.fileExists(atPath: socket.path) }
    return bus
  }

  // MARK: The session manager and logind

  /// Lets the session manager or logind do something; see `desktop-peers.py`.
  func tell(_ command: String) throws { try peers.write(command) }

  /// What the app has done to them.
  var reports: [String] { peers.lines }

  /// Waits until a report has come, that many times.
  func waitForReport(_ report: String, times: Int = 1, seconds: Double = 10) throws {
    try waitFor(
      "\(report), having seen \(peers.lines) \(peers.errorLines)", seconds: seconds
    ) {
      peers.lines.count { $0 == report } >= times
    }
  }

  // MARK: The disk

  /// Whether the disk of the app hangs; see `SlowDisk.c`.
  func setDiskHangs(_ hangs: Bool) throws {
    let file = directory.appending(path: "slow")
    if hangs {
      try Data().write(to: file)
    } else {
      try FileManager.default.removeItem(at: file)
    }
  }

  /// What is stored of the search fields of all windows, in any order.
  var searches: [String] {
    get throws {
      let application = Self.application
      let folder = directory.appending(path: "state/\(application)").path
      let provider = FileKeyProvider(
        path: directory.appending(path: "data/restoration-keys/\(application).key").path)
      guard let key = try provider.key(creating: false) else { return [] }
      return try FileManager.default.contentsOfDirectory(atPath: folder)
        .filter { $0.hasPrefix("main.scene-") && $0.hasSuffix(".rka") }
        .map { String($0.dropLast(4)) }
        .filter { !$0.hasSuffix(".launch") }
        .compactMap { name in
          try StoredState.open(
            FileStateDirectory(path: folder).storage(named: name), named: name, of: application,
            with: .key(key))
        }
        .map { state in
          var text = "(none)"
          try state.outline().forEach { element in
            guard "\(element.path)".hasSuffix("search") else { return }
            let values = try state.values(ofRecord: element.record)
            text = try values?.state?.decode(forKey: StateEncoder.stateKey) ?? text
          }
          return text
        }
    }
  }

  func waitUntilStored(_ searches: [String]) throws {
    try waitFor("the stored searches \(searches), now \((try? self.searches) ?? [])") {
      // While it is being written there may be nothing to read.
      (try? self.searches.sorted()) == searches.sorted()
    }
  }
}
