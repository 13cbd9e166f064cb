import ArchiveCodec
import Foundation
import RestorationKit
import RestorationTesting
import Synchronization
import TestSupport
import XCTest

final class DirectoryConformanceTests: XCTestCase {
  private let all =
    StateDirectoryConformance.checks + StateDirectoryConformance.namingChecks
    + StateDirectoryConformance.keepingChecks

  func testADirectoryOfFilesKeepsAllPromises() throws {
    let temporary = try TemporaryDirectory()
    var count = 0
    let failures = all.failures {
      count += 1
      let path = temporary.child("\(count)/states")
      return { FileStateDirectory(path: path) }
    }
    XCTAssertEqual(failures, [])
  }

  func testADirectoryInMemoryKeepsAllPromises() {
    let failures = all.failures {
      let directory = MemoryStateDirectory()
      return { directory }
    }
    XCTAssertEqual(failures, [])
  }

  func testADirectoryThatEndsWithItsProcessKeepsAllPromisesUntilThen() {
    let failures = all.failures {
      let directory = ProcessDirectory(MemoryStateDirectory())
      return { directory }
    }
    XCTAssertEqual(failures, [])
  }

  func testADirectoryThatKillsAtNoMomentKeepsAllPromises() throws {
    let temporary = try TemporaryDirectory()
    var count = 0
    let failures = all.failures {
      count += 1
      let path = temporary.child("\(count)/states")
      return { KillingDirectory(FileStateDirectory(path: path), at: nil) {} }
    }
    XCTAssertEqual(failures, [])
  }

  func testADirectoryWithHooksKeepsAllPromises() {
    let failures = all.failures {
      let directory = HookedStore { _, _ in }
      return { directory }
    }
    XCTAssertEqual(failures, [])
  }

  /// A directory in memory with a flaw.
  private final class Flawed: StateDirectory {
    enum Flaw: CaseIterable, Sendable {
      case onePlace, forgetful, launchIsState, leftoversAreStates, leftoversAreWrites
      case namesEverything, storageIsFlawed, noGenerations
    }

    private let base = MemoryStateDirectory()
    private let flaw: Flaw
    private let flawed = FlawedStorage(.removeDoesNothing)
    private let flawedGenerations = FlawedStorage(.noGenerations)
    private let asked = Mutex<Set<String>>([])
    private let sweeps = Mutex(0)

    init(_ flaw: Flaw) {
      self.flaw = flaw
    }

    func storage(named name: String) -> any ArchiveStorage {
      asked.withLock { _ = $0.insert(name) }
      switch flaw {
      case .onePlace: return base.storage(named: String(name.prefix(4)))
      case .forgetful: return MemoryStorage()
      case .leftoversAreWrites:
        return SweptStorage(base: base.storage(named: name)) { [self] in
          sweeps.withLock { $0 }
        }
      case .storageIsFlawed where name == "main": return flawed
      case .noGenerations where name == "main": return flawedGenerations
      default: return base.storage(named: name)
      }
    }

    func launchStorage(ofStateNamed name: String) -> any ArchiveStorage {
      flaw == .launchIsState ? storage(named: name) : storage(named: name + ".launch")
    }

    func names() throws(ArchiveError) -> [String] {
      flaw == .namesEverything ? asked.withLock { Array($0) } : try base.names()
    }

    func removeLeftovers(where isOwn: (String) -> Bool) throws(ArchiveError) {
      sweeps.withLock { $0 += 1 }
      guard flaw == .leftoversAreStates else { return }
      for name in try base.names() where isOwn(name) { try base.storage(named: name).remove() }
    }
  }

  /// A storage whose replacement fails if somebody sweeps meanwhile.
  private struct SweptStorage: ArchiveStorage {
    let base: any ArchiveStorage
    let sweepCount: @Sendable () -> Int

    var location: String { base.location }

    func open() throws(ArchiveError) -> (any ArchiveFile)? { try base.open() }

    func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)? {
      try base.openForAppending()
    }

    func replace(_ body: (any ArchiveSink) throws(ArchiveError) -> Void) throws(ArchiveError) {
      let before = sweepCount()
      try base.replace { sink throws(ArchiveError) in
        try body(sink)
        guard sweepCount() == before else { throw ArchiveError(.inputOutput) }
      }
    }

    func lock() throws(ArchiveError) -> any ArchiveLock { try base.lock() }
    func isLocked() throws(ArchiveError) -> Bool { try base.isLocked() }
    func remove() throws(ArchiveError) { try base.remove() }
    func setAside() throws(ArchiveError) -> String? { try base.setAside() }
  }

  private func check(for flaw: Flawed.Flaw) -> String {
    switch flaw {
    case .onePlace: "everyNameIsAPlace"
    case .forgetful: "aNameIsOnePlace"
    case .launchIsState: "launchesHaveAPlace"
    case .leftoversAreStates: "removeLeftoversLeavesStates"
    case .leftoversAreWrites: "removeLeftoversLeavesWriters"
    case .namesEverything: "namesAreWhatIsStored"
    case .storageIsFlawed: "storage.removeRemoves"
    case .noGenerations: "storage.generationsAreKept"
    }
  }

  func testEveryFlawFailsTheCheckThatIsThereForIt() {
    for flaw in Flawed.Flaw.allCases {
      let failures = all.failures {
        let directory = Flawed(flaw)
        return { directory }
      }
      XCTAssertTrue(
        failures.map(\.subject).contains(check(for: flaw)),
        "\(flaw) fails \(failures.map(\.subject))")
    }
  }

  func testThereIsAFlawForEveryCheckAndAllThatStoragesPromiseIsChecked() {
    let flawed = Set(Flawed.Flaw.allCases.map { check(for: $0) })
    XCTAssertEqual(
      Set(all.map(\.name).filter { !$0.hasPrefix("storage.") }),
      flawed.filter { !$0.hasPrefix("storage.") })
    XCTAssertEqual(
      all.map(\.name).filter { $0.hasPrefix("storage.") }.sorted(),
      (StorageConformance.checks + StorageConformance.keepingChecks)
        .map { "storage.\($0.name)" }.sorted())
  }
}
