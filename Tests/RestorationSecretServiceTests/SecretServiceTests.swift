#if SecretService
import ArchiveCodec
import CSecret
import Foundation
import RestorationKit
import RestorationSecretService
import RestorationTesting
import TestSupport
import XCTest

/// The key in the keyring of a desktop: GNOME's own daemon.
final class SecretServiceTests: DesktopTestCase {
  private let application = "org.example.test"
  private var provider: SecretServiceKeyProvider {
    SecretServiceKeyProvider(application: application)
  }
  private let location = "the Secret Service, for org.example.test"

  override func setUpWithError() throws {
    try super.setUpWithError()
    try desktop.startKeyring()
  }

  func testAKeyIsMadeOnlyWhenAskedForAndFoundAgain() throws {
    XCTAssertNil(try provider.key(creating: false))
    XCTAssertEqual(try desktop.items(), [])
    let key = try XCTUnwrap(try provider.key(creating: true))
    XCTAssertEqual(try desktop.items().count, 1)
    for creating in [false, true] {
      XCTAssertEqual(try provider.key(creating: creating)?.isSame(as: key), true)
    }
    XCTAssertEqual(try desktop.items().count, 1)
  }

  func testEachApplicationHasAKeyOfItsOwn() throws {
    let key = try XCTUnwrap(try provider.key(creating: true))
    let other = SecretServiceKeyProvider(application: "org.example.other")
    XCTAssertNil(try other.key(creating: false))
    XCTAssertEqual(try other.key(creating: true)?.isSame(as: key), false)
  }

  func testAKeyOutlivesTheService() throws {
    let key = try XCTUnwrap(try provider.key(creating: true))
    desktop.stopKeyring()
    XCTAssertEqual(archiveError { _ = try provider.key(creating: true) }?.code, .keyUnavailable)
    try desktop.startKeyring()
    XCTAssertEqual(try provider.key(creating: false)?.isSame(as: key), true)
  }

  func testALockedKeyIsNeitherMissingNorReplaced() throws {
    let key = try XCTUnwrap(try provider.key(creating: true))
    try desktop.lock()
    for creating in [false, true] {
      XCTAssertEqual(
        archiveError { _ = try provider.key(creating: creating) }, .keyLocked(at: location))
    }
    try desktop.unlock()
    XCTAssertEqual(try provider.key(creating: true)?.isSame(as: key), true)
    XCTAssertEqual(try desktop.items().count, 1)
  }

  func testNobodyKnowsWhetherALockedCollectionHasAKey() throws {
    try desktop.lock()
    for creating in [false, true] {
      XCTAssertEqual(
        archiveError { _ = try provider.key(creating: creating) }, .keyLocked(at: location))
    }
  }

  func testAKeyringThatNobodyUnlockedAtLoginIsLocked() throws {
    _ = try provider.key(creating: true)
    desktop.stopKeyring()
    try desktop.startKeyring(unlocking: false)
    XCTAssertEqual(
      archiveError { _ = try provider.key(creating: false) }, .keyLocked(at: location))
  }

  func testWhereTheUserCannotBeAskedTheKeyStaysLocked() throws {
    _ = try provider.key(creating: true)
    try desktop.lock()
    let asking = SecretServiceKeyProvider(application: application, unlocking: true)
    XCTAssertEqual(archiveError { _ = try asking.key(creating: true) }, .keyLocked(at: location))
  }

  func testASecretOfAnotherSizeIsDamagedAndStays() throws {
    for count in [0, 1, 31, 33, 64] {
      let application = "org.example.\(count)"
      desktop.store([UInt8](repeating: 7, count: count), for: application)
      let provider = SecretServiceKeyProvider(application: application)
      for creating in [false, true] {
        XCTAssertEqual(
          archiveError { _ = try provider.key(creating: creating) },
          ArchiveError(.keyDamaged, location: provider.location), "\(count)")
      }
    }
    XCTAssertEqual(try desktop.items().count, 5)
  }

  func testTheStoredSecretIsTheKey() throws {
    let bytes = (0..<32).map { UInt8($0) }
    desktop.store(bytes, for: application)
    var copy = bytes
    let key = try copy.withUnsafeMutableBytes { try ArchiveKey(moving: $0) }
    XCTAssertEqual(try provider.key(creating: false)?.isSame(as: key), true)
  }

  func testWithoutADefaultCollectionThereIsNoPlaceForAKey() throws {
    desktop.stopKeyring()
    try desktop.forgetKeyrings()
    try desktop.startKeyring(unlocking: false)
    XCTAssertNil(try provider.key(creating: false))
    let error = archiveError { _ = try provider.key(creating: true) }
    XCTAssertEqual(
      error,
      ArchiveError(
        .keyUnavailable, subject: "the Secret Service has no default collection",
        location: location))
    XCTAssertEqual(
      error?.description,
      "What keeps the key does not answer. Log in to the desktop or start its keyring, then try"
        + " again. (keyUnavailable: the Secret Service has no default collection,"
        + " in the Secret Service, for org.example.test)")
  }

  func testAKeyIsFoundInAnyCollection() throws {
    let key = try XCTUnwrap(try provider.key(creating: true))
    try desktop.makeDefault("/org/freedesktop/secrets/collection/session")
    XCTAssertEqual(try provider.key(creating: true)?.isSame(as: key), true)
  }

  func testAKeyThatWasThereMayBeInACollectionThatNobodyHasUnlocked() throws {
    _ = try provider.key(creating: true)
    desktop.stopKeyring()
    try desktop.renameDefaultKeyring()
    try desktop.startKeyring()
    for creating in [false, true] {
      XCTAssertEqual(
        archiveError { _ = try provider.key(creating: creating) }, .keyLocked(at: location))
    }
    XCTAssertEqual(try desktop.items(), [])
    let other = SecretServiceKeyProvider(application: "org.example.other")
    XCTAssertNotNil(try other.key(creating: true))
  }

  func testOfTwoItemsTheOlderOneIsTheKey() throws {
    // Its path is the later one.
    try desktop.makeDefault("/org/freedesktop/secrets/collection/session")
    let key = try XCTUnwrap(try provider.key(creating: true))
    try desktop.makeDefault(Desktop.collection)
    // The service tells times apart by seconds.
    let second = time(nil)
    while time(nil) == second { sched_yield() }
    desktop.store([UInt8](repeating: 7, count: 32), for: application)
    XCTAssertEqual(try desktop.items().count, 1)
    XCTAssertEqual(try provider.key(creating: true)?.isSame(as: key), true)
  }

  func testCallsLeaveNoSessionBehind() throws {
    // All that this process does on the bus shares a connection, and is kept with it.
    let connection = g_bus_get_sync(G_BUS_TYPE_SESSION, nil, nil)
    for _ in 0..<3 { _ = try provider.key(creating: true) }
    XCTAssertEqual(try desktop.sessions(), [])
    g_object_unref(connection.map { UnsafeMutableRawPointer($0) })
  }

  func testTheProviderKeepsAllPromises() throws {
    var count = 0
    nonisolated(unsafe) let machine = try XCTUnwrap(desktop)
    let locking = KeyProviderConformance.checks(
      locking: { _ in try machine.lock() }, unlocking: { _ in try machine.unlock() })
    let failures = (KeyProviderConformance.checks + locking).failures {
      count += 1
      let provider = SecretServiceKeyProvider(application: "org.example.\(count)")
      return { provider }
    }
    XCTAssertEqual(failures, [])
  }
}
#endif
