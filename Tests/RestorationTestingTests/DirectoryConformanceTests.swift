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

  /// Runs all checks, each on a directory of its own.
  private func assertKeepsAllPromises(
    line: UInt = #line, _ make: () throws -> any StateDirectory
  ) {
    let failures = all.failures {
      let directory = try make()
      return { directory }
    }
    XCTAssertEqual(failures, [], line: line)
  }

  /// Makes the paths of directories that are not there yet.
  private func paths(in temporary: TemporaryDirectory) -> () -> String {
    var count = 0
    return {
      count += 1
      return temporary.child("\(count)/states")
    }
  }

  func testADirectoryOfFilesKeepsAllPromises() throws {
    let newPath = paths(in: try TemporaryDirectory())
    let failures = all.failures {
      let path = newPath()
      return { FileStateDirectory(path: path) }
    }
    XCTAssertEqual(failures, [])
  }

  func testADirectoryInMemoryKeepsAllPromises() {
    assertKeepsAllPromises { MemoryStateDirectory() }
  }

  func testADirectoryThatEndsWithItsProcessKeepsAllPromisesUntilThen() {
    assertKeepsAllPromises { ProcessDirectory(MemoryStateDirectory()) }
  }

  func testADirectoryThatKillsAtNoMomentKeepsAllPromises() throws {
    let newPath = paths(in: try TemporaryDirectory())
    assertKeepsAllPromises { KillingDirectory(FileStateDirectory(path: newPath()), at: nil) {} }
  }

  func testADirectoryWithHooksKeepsAllPromises() {
    assertKeepsAllPromises { HookedStore { _, _ in } }
  }

  func testTheDiskOfTheTestsKeepsAllPromisesWhileNothingFails() {
    let failures = all.failures {
      let disk = FaultyDisk(seed: 1)
      return { disk.process() }
    }
    XCTAssertEqual(failures, [])
  }

  /// A directory in memory with a flaw.
  private final class Flawed: StateDirectory {
    enum Flaw: CaseIterable, Sendable {
      case onePlace, oneLock, forgetful, launchIsState
      case leftoversAreStates, leftoversAreSetAside, leftoversAreLocks, leftoversAreWrites
      case namesEverything, namesWhatIsSetAside, storageIsFlawed, noGenerations

      /// A directory has no place for launches, and removes no leftovers.
      static let all: [Flaw] = [
        .onePlace, .oneLock, .forgetful, .namesEverything, .namesWhatIsSetAside, .storageIsFlawed,
        .noGenerations,
      ]
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
        return SweptStorage(storage: base.storage(named: name)) { [self] in sweepCount }
      case .oneLock:
        return LockedElsewhere(
          storage: base.storage(named: name), other: base.memory(named: "main"))
      case .leftoversAreLocks:
        return LockedElsewhere(
          storage: base.storage(named: name), other: base.memory(named: "\(name) \(sweepCount)"))
      case .storageIsFlawed where name == "main": return flawed
      case .noGenerations where name == "main": return flawedGenerations
      default: return base.storage(named: name)
      }
    }

    private var sweepCount: Int { sweeps.withLock { $0 } }

    func launchStorage(ofStateNamed name: String) -> any ArchiveStorage {
      flaw == .launchIsState ? storage(named: name) : storage(named: name + ".launch")
    }

    func names() throws(ArchiveError) -> [String] {
      switch flaw {
      case .namesEverything: asked.withLock { Array($0) }
      case .namesWhatIsSetAside:
        try base.names()
          + asked.withLock { $0.filter { !base.memory(named: $0).setAsideBytes.isEmpty } }
      default: try base.names()
      }
    }

    func removeLeftovers(where isOwn: (String) -> Bool) throws(ArchiveError) {
      sweeps.withLock { $0 += 1 }
      for name in try base.names() where isOwn(name) {
        let storage = base.storage(named: name)
        if flaw == .leftoversAreStates { try storage.remove() }
        guard flaw == .leftoversAreSetAside else { continue }
        for archive in try storage.setAsideArchives() { try archive.storage.remove() }
      }
    }
  }

  /// A storage whose replacement fails if somebody sweeps meanwhile.
  private struct SweptStorage: WrappedStorage {
    let storage: any ArchiveStorage
    let sweepCount: @Sendable () -> Int

    func replace(_ body: (any ArchiveSink) throws(ArchiveError) -> Void) throws(ArchiveError) {
      let before = sweepCount()
      try storage.replace { sink throws(ArchiveError) in
        try body(sink)
        guard sweepCount() == before else { throw ArchiveError(.inputOutput) }
      }
    }
  }

  /// A storage with the lock of another one.
  private struct LockedElsewhere: WrappedStorage {
    let storage: any ArchiveStorage
    let other: MemoryStorage

    func lock() throws(ArchiveError) -> any ArchiveLock { try other.lock() }
    func isLocked() throws(ArchiveError) -> Bool { try other.isLocked() }
  }

  private func check(for flaw: Flawed.Flaw) -> String {
    switch flaw {
    case .onePlace: "everyNameIsAPlace"
    case .oneLock: "everyNameHasALock"
    case .forgetful: "aNameIsOnePlace"
    case .launchIsState: "launchesHaveAPlace"
    case .leftoversAreStates, .leftoversAreSetAside: "removeLeftoversLeavesStates"
    case .leftoversAreLocks: "removeLeftoversLeavesLocks"
    case .leftoversAreWrites: "removeLeftoversLeavesWriters"
    case .namesEverything, .namesWhatIsSetAside: "namesAreWhatIsStored"
    case .storageIsFlawed: "storage.removeRemoves"
    case .noGenerations: "storage.generationsAreKept"
    }
  }

  func testEachCheckSeesTheFlawsThatItIsThereFor() {
    assertFlawsAreSeen(
      Flawed.Flaw.all, by: all, covering: { !$0.hasPrefix("storage.") }, check: check
    ) { Flawed($0) }
  }

  func testAllThatStoragesPromiseIsChecked() {
    XCTAssertEqual(
      all.map(\.name).filter { $0.hasPrefix("storage.") }.sorted(),
      (StorageConformance.checks + StorageConformance.keepingChecks)
        .map { "storage.\($0.name)" }.sorted())
  }
}
