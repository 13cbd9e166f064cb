#if SecretService
import ArchiveCodec
import Foundation
import RestorationKit
import RestorationSecretService
import TestSupport
import XCTest

/// What a provider does without a service, and with one that comes or goes.
final class FallbackTests: DesktopTestCase {
  private let application = "org.example.test"
  private var alone: SecretServiceKeyProvider {
    SecretServiceKeyProvider(application: application)
  }
  private var file: KeyFile { KeyFile(application: application) }
  private var provider: SecretServiceKeyProvider {
    SecretServiceKeyProvider(application: application, fallback: file)
  }

  private func code(of provider: SecretServiceKeyProvider, creating: Bool) -> ArchiveError.Code? {
    archiveError("creating: \(creating)") { _ = try provider.key(creating: creating) }?.code
  }

  // MARK: Without a fallback

  func testABusWithoutAServiceSaysSo() throws {
    XCTAssertEqual(
      archiveError { _ = try alone.key(creating: false) }?.description,
      "What keeps the key does not answer. Log in to the desktop or start its keyring, then try"
        + " again. (keyUnavailable: The name org.freedesktop.secrets was not provided by any"
        + " .service files, in the Secret Service, for org.example.test)")
    XCTAssertEqual(code(of: alone, creating: true), .keyUnavailable)
  }

  func testWithoutASessionBusTheKeyIsUnavailable() throws {
    desktop.leaveBus()
    for creating in [false, true] {
      XCTAssertEqual(code(of: alone, creating: creating), .keyUnavailable)
    }
  }

  // MARK: With one

  func testTheFileIsMadeOnlyWithoutAServiceAndWhenAskedFor() throws {
    XCTAssertNil(try provider.key(creating: false))
    XCTAssertNil(try file.key(creating: false))
    let key = try XCTUnwrap(try provider.key(creating: true))
    XCTAssertEqual(try file.key(creating: false)?.isSame(as: key), true)
  }

  func testTheFallbackAlsoStandsInForAMissingBus() throws {
    desktop.leaveBus()
    let key = try XCTUnwrap(try provider.key(creating: true))
    XCTAssertEqual(try provider.key(creating: false)?.isSame(as: key), true)
  }

  func testAKeyInTheFileIsTheKeyWhenAServiceComes() throws {
    let key = try XCTUnwrap(try file.key(creating: true))
    for hasService in [false, true] {
      if hasService { try desktop.startKeyring() }
      for creating in [false, true] {
        XCTAssertEqual(try provider.key(creating: creating)?.isSame(as: key), true)
      }
    }
    XCTAssertEqual(try desktop.items(), [])
  }

  func testAKeyInTheFileCountsBeforeOneInTheService() throws {
    try desktop.startKeyring()
    _ = try alone.key(creating: true)
    let key = try XCTUnwrap(try file.key(creating: true))
    XCTAssertEqual(try provider.key(creating: true)?.isSame(as: key), true)
  }

  func testWithAServiceNoFileIsMade() throws {
    try desktop.startKeyring()
    _ = try provider.key(creating: true)
    XCTAssertNil(try file.key(creating: false))
    XCTAssertEqual(try desktop.items().count, 1)
  }

  func testNoSecondKeyIsMadeWhileTheServiceIsAway() throws {
    // Also if the app had no fallback when the key was made.
    for maker in [alone, provider] {
      try desktop.startKeyring()
      let key = try XCTUnwrap(try maker.key(creating: true))
      desktop.stopKeyring()
      for creating in [false, true] {
        XCTAssertEqual(code(of: provider, creating: creating), .keyUnavailable)
      }
      XCTAssertNil(try file.key(creating: false))
      try desktop.startKeyring()
      XCTAssertEqual(try provider.key(creating: true)?.isSame(as: key), true)
      desktop.stopKeyring()
    }
  }

  func testAKeyThatWasNotNotedIsNotedBeforeItSealsAnything() throws {
    try desktop.startKeyring()
    _ = try provider.key(creating: true)
    let note = desktop.path("data/restoration-keys/org.example.test.keyring")
    try FileManager.default.removeItem(atPath: note)
    _ = try provider.key(creating: false)
    XCTAssertFalse(FileManager.default.fileExists(atPath: note))
    _ = try provider.key(creating: true)
    desktop.stopKeyring()
    XCTAssertEqual(code(of: provider, creating: true), .keyUnavailable)
  }

  func testALockedKeyringIsAServiceAndMakesNoFile() throws {
    try desktop.startKeyring()
    try desktop.lock()
    for creating in [false, true] {
      XCTAssertEqual(code(of: provider, creating: creating), .keyLocked)
    }
    XCTAssertNil(try file.key(creating: false))
  }

  func testADamagedFileThrowsWithAServiceAndWithout() throws {
    _ = try file.key(creating: true)
    try Data([1, 2, 3]).write(to: URL(filePath: file.path))
    for hasService in [false, true] {
      if hasService { try desktop.startKeyring() }
      for creating in [false, true] {
        XCTAssertEqual(
          archiveError { _ = try provider.key(creating: creating) },
          ArchiveError(.keyDamaged, location: file.path))
      }
    }
  }

  func testTheLocationSaysBothPlaces() {
    XCTAssertEqual(
      provider.location, "the Secret Service, for org.example.test, or \(file.path)")
  }
}
#endif
