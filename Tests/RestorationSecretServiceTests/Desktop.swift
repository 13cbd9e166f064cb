#if SecretService
import CSecret
import Foundation
import TestSupport
import XCTest

/// A session bus with a real keyring of its own, as a desktop has them.
///
/// This process, and those that it starts, talk to it from then on. Nothing of the user is
/// touched: its home is a new folder.
final class Desktop {
  static let password = "correct horse"
  static let collection = "/org/freedesktop/secrets/collection/login"

  private let home: TemporaryDirectory
  private let bus: Process
  private let endOfBus = Pipe()
  private var keyring: Process?

  /// Why there can be none here; nil if there can.
  static var obstacle: String? {
    let missing = programs.filter { path(of: $0) == nil }
    return missing.isEmpty
      ? nil : "These programs are missing: \(missing.joined(separator: ", "))."
  }

  private static let programs = ["dbus-run-session", "gdbus", "gnome-keyring-daemon"]

  init() throws {
    home = try TemporaryDirectory()
    try FileManager.default.createDirectory(
      atPath: home.child("run"), withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    // It starts no service by itself, so there is only what a test has started.
    try home.write(
      Array(
        """
        <busconfig>
          <type>session</type>
          <listen>unix:dir=\(home.path)</listen>
          <policy context="default">
            <allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/>
          </policy>
        </busconfig>
        """.utf8), to: "bus.conf")
    let address = Pipe()
    bus = try Self.process(
      "dbus-run-session",
      [
        "--config-file=\(home.child("bus.conf"))", "--", "sh", "-c",
        "echo $DBUS_SESSION_BUS_ADDRESS; exec cat",
      ])
    // The bus ends with its input, also if this process is killed.
    bus.standardInput = endOfBus
    bus.standardOutput = address
    try bus.run()
    let line = try XCTUnwrap(try address.fileHandleForReading.firstLine())
    setenv("DBUS_SESSION_BUS_ADDRESS", line, 1)
    setenv("HOME", home.path, 1)
    setenv("XDG_STATE_HOME", home.child("state"), 1)
    setenv("XDG_DATA_HOME", home.child("data"), 1)
    setenv("XDG_RUNTIME_DIR", home.child("run"), 1)
    unsetenv("DISPLAY")
  }

  deinit {
    stopKeyring()
    try? endOfBus.fileHandleForWriting.close()
    bus.waitUntilExit()
  }

  func path(_ name: String) -> String { home.child(name) }

  /// Takes the bus away from this process, and from those that it starts.
  func leaveBus() {
    setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=\(home.child("no bus"))", 1)
  }

  // MARK: The keyring

  /// Starts the keyring and unlocks it, as a login does.
  ///
  /// With the first password that comes with a login it makes the default collection.
  func startKeyring(unlocking: Bool = true) throws {
    XCTAssertNil(keyring)
    let keyring = try Self.process(
      "gnome-keyring-daemon",
      ["--foreground", "--components=secrets"] + (unlocking ? ["--unlock"] : []))
    let input = Pipe()
    keyring.standardInput = input
    keyring.standardOutput = FileHandle.nullDevice
    try keyring.run()
    if unlocking { try input.fileHandleForWriting.write(contentsOf: Data(Self.password.utf8)) }
    try input.fileHandleForWriting.close()
    self.keyring = keyring
    try run("gdbus", ["wait", "--session", "--timeout", "30", "org.freedesktop.secrets"])
  }

  func stopKeyring() {
    keyring?.terminate()
    keyring?.waitUntilExit()
    keyring = nil
  }

  /// Removes all collections, while the keyring does not run.
  func forgetKeyrings() throws {
    try FileManager.default.removeItem(atPath: home.child("data/keyrings"))
  }

  /// Gives the default collection another name while the keyring does not run, so that the
  /// next login makes another one beside it.
  func renameDefaultKeyring() throws {
    try FileManager.default.moveItem(
      atPath: home.child("data/keyrings/login.keyring"),
      toPath: home.child("data/keyrings/other.keyring"))
  }

  /// Locks the default collection, as the system does when the user leaves.
  func lock() throws {
    try call(
      "/org/freedesktop/secrets", "org.freedesktop.Secret.Service.Lock",
      "[objectpath '\(Self.collection)']")
  }

  /// Unlocks it over the socket by which a login does so.
  func unlock() throws {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    let control = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { path in
      path.copyBytes(from: home.child("run/keyring/control").utf8)
    }
    let status = withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    XCTAssertEqual(status, 0)
    // A byte that carries who asks; then the size of all, that it is an unlock, the password.
    func number(_ value: Int) -> [UInt8] {
      withUnsafeBytes(of: UInt32(value).bigEndian, Array.init)
    }
    let password = Array(Self.password.utf8)
    try control.write(
      contentsOf: Data(
        [0] + number(12 + password.count) + number(1) + number(password.count) + password))
    XCTAssertEqual(try control.read(upToCount: 8).map(Array.init), number(8) + number(0))
  }

  /// Makes another collection the one for new items.
  func makeDefault(_ collection: String) throws {
    try call(
      "/org/freedesktop/secrets", "org.freedesktop.Secret.Service.SetAlias", "default", collection)
  }

  /// Stores a secret as the key of an application; one that any program may have stored.
  func store(_ secret: [UInt8], for application: String) {
    let attributes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free)
    g_hash_table_insert(attributes, g_strdup("xdg:schema"), g_strdup("org.restorationkit.Key"))
    g_hash_table_insert(attributes, g_strdup("application"), g_strdup(application))
    let value = secret.withUnsafeBytes {
      secret_value_new(
        $0.baseAddress?.assumingMemoryBound(to: CChar.self), secret.count,
        "application/octet-stream")
    }
    let isStored = secret_service_store_sync(
      nil, nil, attributes, SECRET_COLLECTION_DEFAULT, "Made by a test", value, nil, nil)
    XCTAssertNotEqual(isStored, 0)
    secret_value_unref(value.map { UnsafeMutableRawPointer($0) })
    g_hash_table_unref(attributes)
    secret_service_disconnect()
  }

  /// The paths of the items in the default collection.
  func items() throws -> [String] { try children(of: Self.collection) }

  /// The sessions that the keyring keeps.
  func sessions() throws -> [String] { try children(of: "/org/freedesktop/secrets/session") }

  private func children(of path: String) throws -> [String] {
    try run(
      "gdbus",
      [
        "introspect", "--session", "--only-properties", "--recurse", "--dest",
        "org.freedesktop.secrets", "--object-path", path,
      ]
    ).split(separator: " ").map(String.init).filter { $0.hasPrefix(path + "/") }
  }

  /// Calls a method of the keyring.
  func call(_ object: String, _ method: String, _ arguments: String...) throws {
    try run(
      "gdbus",
      [
        "call", "--session", "--dest", "org.freedesktop.secrets", "--object-path", object,
        "--method", method,
      ] + arguments)
  }

  // MARK: Programs

  @discardableResult
  private func run(_ program: String, _ arguments: [String]) throws -> String {
    let process = try Self.process(program, arguments)
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    XCTAssertEqual(process.terminationStatus, 0, "\(program) \(arguments)")
    return String(decoding: text, as: UTF8.self)
  }

  private static func process(_ program: String, _ arguments: [String]) throws -> Process {
    let process = Process()
    process.executableURL = URL(filePath: try XCTUnwrap(path(of: program)))
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment
    return process
  }

  private static func path(of program: String) -> String? {
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
      .map { "\($0)/\(program)" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }
}

extension FileHandle {
  fileprivate func firstLine() throws -> String? {
    var text: [UInt8] = []
    while let byte = try read(upToCount: 1)?.first, byte != UInt8(ascii: "\n") {
      text.append(byte)
    }
    return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
  }
}

/// A test on a desktop of its own, with an unlocked keyring.
class DesktopTestCase: XCTestCase {
  private(set) var desktop: Desktop!

  override func setUpWithError() throws {
    if let obstacle = Desktop.obstacle { throw XCTSkip(obstacle) }
    desktop = try Desktop()
  }

  override func tearDown() {
    desktop = nil
  }
}
#endif
