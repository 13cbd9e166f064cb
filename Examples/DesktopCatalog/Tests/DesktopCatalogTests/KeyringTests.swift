import DesktopTestSupport
import Foundation
import XCTest

/// The key is in a real keyring, which may be locked while the app starts.
final class KeyringTests: XCTestCase {
  private static let password = "correct horse"
  private static let secrets = "org.freedesktop.secrets"

  /// Starts a keyring with a default collection that is unlocked, as after a login.
  private func startKeyring(on desktop: Desktop) throws -> Child {
    let keyring = try desktop.child([
      "bash", "-c",
      "exec setpriv --pdeathsig TERM gnome-keyring-daemon --foreground --components=secrets"
        + " --unlock < <(printf '\(Self.password)')",
    ])
    XCTAssertNotNil(
      desktop.output(of: ["gdbus", "wait", "--session", "--timeout", "20", Self.secrets]))
    return keyring
  }

  private func lock(_ desktop: Desktop) {
    XCTAssertNotNil(
      desktop.output(of: [
        "gdbus", "call", "--session", "-d", Self.secrets, "-o", "/org/freedesktop/secrets", "-m",
        "org.freedesktop.Secret.Service.Lock", "['/org/freedesktop/secrets/aliases/default']",
      ]))
  }

  /// Unlocks it over the socket by which a login does so.
  private func unlock(_ desktop: Desktop) {
    let program = """
      import socket, struct, sys
      control = socket.socket(socket.AF_UNIX)
      control.connect(sys.argv[1])
      password = sys.argv[2].encode()
      numbers = struct.pack(">III", 12 + len(password), 1, len(password))
      control.sendall(bytes(1) + numbers + password)
      sys.exit(control.recv(8) != struct.pack(">II", 8, 0))
      """
    let socket = desktop.directory.appending(path: "runtime/keyring/control").path
    XCTAssertNotNil(
      desktop.output(of: ["python3", "-c", program, socket, Self.password]))
  }

  func testWithoutAKeyringItSaysWhyNothingIsStored() throws {
    let desktop = try Desktop()
    let app = try CatalogApp(
      on: desktop, ["--keyring"], changing: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere"])
    try waitFor("what the app says") { try !app.sentences.isEmpty }
    try waitFor("the window of the app") { !app.windows.isEmpty }
    XCTAssertTrue(app.child.isRunning)
    for sentence in try app.sentences {
      XCTAssertTrue(sentence.contains("What keeps the key does not answer."), sentence)
    }
    XCTAssertEqual(desktop.windowFiles, [])
    try app.kill()
  }

  func testWindowsComeBackWhenTheKeyringIsUnlockedLater() throws {
    let desktop = try Desktop()
    try XCTSkipIf(
      desktop.output(of: ["gnome-keyring-daemon", "--version"]) == nil,
      "gnome-keyring is not on this machine. Scripts/test installs it where it can.")
    let keyring = try startKeyring(on: desktop)
    defer { keyring.send(SIGTERM) }
    let first = try desktop.launch("--keyring")
    try first.press("Tab")
    try first.press("ctrl+f")
    try first.type("an")
    let before = try first.pictures
    XCTAssertEqual(Array(before.keys), ["Geany"])
    try first.kill()
    XCTAssertFalse(FileManager.default.fileExists(atPath: desktop.keyFile.path))

    lock(desktop)
    let stored = try desktop.windowFiles.map { try Data(contentsOf: $0) }
    let again = try desktop.launch("--keyring")
    XCTAssertEqual(try Array(again.pictures.keys), ["0 A.D."])
    XCTAssertEqual(
      try again.sentences,
      [
        "desktop-catalog: Not everything is as you left it. The key is locked."
          + " Unlock the device or the keyring, then try again."
      ])
    XCTAssertEqual(try desktop.windowFiles.map { try Data(contentsOf: $0) }, stored)

    unlock(desktop)
    try waitFor("the window of the first launch") { again.windows.count == 2 }
    try again.settled()
    XCTAssertEqual(try again.pictures["Geany"], before["Geany"])
    try again.kill()
  }
}
