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
      case onePlace, oneLock, forgetful, namesEverything, storageIsFlawed
    }

    private let base = MemoryStateDirectory()
    private let flaw: Flaw
    private let flawed = FlawedStorage(.removeDoesNothing)
    private let asked = Mutex<Set<String>>([])

    init(_ flaw: Flaw) {
      self.flaw = flaw
    }

    func storage(named name: String) -> any ArchiveStorage {
      asked.withLock { _ = $0.insert(name) }
      switch flaw {
      case .onePlace: return base.storage(named: String(name.prefix(4)))
      case .forgetful: return MemoryStorage()
      case .oneLock:
        return LockedElsewhere(
          storage: base.storage(named: name), other: base.memory(named: "main"))
      case .storageIsFlawed where name == "main": return flawed
      default: return base.storage(named: name)
      }
    }

    func names() throws(ArchiveError) -> [String] {
      flaw == .namesEverything ? asked.withLock { Array($0) } : try base.names()
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
    case .namesEverything: "namesAreWhatIsStored"
    case .storageIsFlawed: "storage.removeRemoves"
    }
  }

  func testEachCheckSeesTheFlawsThatItIsThereFor() {
    assertFlawsAreSeen(
      Flawed.Flaw.allCases, by: all, covering: { !$0.hasPrefix("storage.") }, check: check
    ) { Flawed($0) }
  }

  func testAllThatStoragesPromiseIsChecked() {
    XCTAssertEqual(
      all.map(\.name).filter { $0.hasPrefix("storage.") }.sorted(),
      StorageConformance.checks.map { "storage.\($0.name)" }.sorted())
  }
}
