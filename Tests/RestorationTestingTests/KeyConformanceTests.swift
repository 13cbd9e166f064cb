import ArchiveCodec
import Foundation
import RestorationKit
import RestorationTesting
import Synchronization
import TestSupport
import XCTest

final class KeyConformanceTests: XCTestCase {
  private let making = KeyProviderConformance.checks + KeyProviderConformance.creatingChecks

  private let damaging = KeyProviderConformance.checks(damaging: { provider in
    if let provider = provider as? KeyFile {
      try Data([1, 2, 3]).write(to: URL(filePath: provider.path))
    } else if let provider = provider as? Flawed {
      provider.isDamaged.withLock { $0 = true }
    } else {
      throw ArchiveError(.keyDamaged)
    }
  })

  private let locking = KeyProviderConformance.checks(
    locking: { provider in
      if let provider = provider as? MemoryKeyProvider { provider.isLocked = true }
      if let provider = provider as? Flawed { provider.isLocked.withLock { $0 = true } }
    },
    unlocking: { provider in
      if let provider = provider as? MemoryKeyProvider { provider.isLocked = false }
      if let provider = provider as? Flawed { provider.isLocked.withLock { $0 = false } }
    })

  func testAKeyInAFileKeepsAllPromises() throws {
    let temporary = try TemporaryDirectory()
    var count = 0
    let failures = (making + damaging).failures {
      count += 1
      let path = temporary.child("\(count)/app.key")
      return { KeyFile(path: path) }
    }
    XCTAssertEqual(failures, [])
  }

  func testAKeyFromElsewhereKeepsAllPromises() {
    let failures = KeyProviderConformance.checks.failures {
      let provider = try ArchiveKey()
      return { provider }
    }
    XCTAssertEqual(failures, [])
  }

  func testAKeyThatCanBeLockedKeepsAllPromises() {
    let failures = (making + locking).failures {
      let provider = MemoryKeyProvider()
      return { provider }
    }
    XCTAssertEqual(failures, [])
  }

  /// A provider of a key in memory with a flaw.
  private final class Flawed: KeyProvider {
    enum Flaw: CaseIterable, Sendable {
      case alwaysMakes, makesUnasked, neverMakes, forgets, races, noLocation
      case replacesDamaged, opensLocked
    }

    let isDamaged = Mutex(false)
    let isLocked = Mutex(false)
    private let flaw: Flaw
    private let stored = Mutex<ArchiveKey?>(nil)
    private let meeting = Meeting()

    init(_ flaw: Flaw) {
      self.flaw = flaw
    }

    var location: String? { flaw == .noLocation ? "" : nil }

    func key(creating: Bool) throws(ArchiveError) -> ArchiveKey? {
      if isLocked.withLock({ $0 }), flaw != .opensLocked { throw .keyLocked() }
      let wasDamaged = isDamaged.withLock { $0 }
      if wasDamaged, flaw != .replacesDamaged { throw ArchiveError(.keyDamaged) }
      if flaw == .neverMakes { return nil }
      let key = stored.withLock { $0 }
      if let key, !wasDamaged, flaw != .forgets || !creating { return key }
      if flaw == .races { meeting.meet() }
      let made = creating || flaw == .alwaysMakes || flaw == .makesUnasked ? try ArchiveKey() : nil
      stored.withLock { $0 = made }
      // The first question was answered truthfully.
      return creating || flaw == .makesUnasked ? made : nil
    }
  }

  private func check(for flaw: Flawed.Flaw) -> String {
    switch flaw {
    case .alwaysMakes: "askingMakesNoKey"
    case .makesUnasked: "nothingStoredIsNoKey"
    case .races: "whoAskAtOnceGetOneKey"
    case .neverMakes: "creatingGivesAKey"
    case .forgets: "theKeyStaysTheSame"
    case .noLocation: "locationIsReadable"
    case .replacesDamaged: "damagedKeyThrows"
    case .opensLocked: "lockedKeyThrows"
    }
  }

  func testEachCheckSeesTheFlawsThatItIsThereFor() {
    assertFlawsAreSeen(
      Flawed.Flaw.allCases, by: making + damaging + locking, check: check
    ) { Flawed($0) }
  }
}
