import ArchiveCodec
import Foundation
import RestorationKit
import RestorationTesting
import TestSupport
import XCTest

final class StorageConformanceTests: XCTestCase {
  private var directories: [TemporaryDirectory] = []

  private func newDirectory() throws -> TemporaryDirectory {
    let directory = try TemporaryDirectory()
    directories.append(directory)
    return directory
  }

  private let all = StorageConformance.checks

  // MARK: Storages of the library

  func testAFileKeepsAllPromises() {
    let failures = all.failures { [self] in
      let path = try newDirectory().child("states/main.rka")
      return { FileStorage(path: path) }
    }
    XCTAssertEqual(failures, [])
  }

  func testAFileThatIsNotDurableKeepsAllPromises() {
    let failures = all.failures { [self] in
      let path = try newDirectory().child("main.launch.rka")
      return { FileStorage(path: path, isDurable: false) }
    }
    XCTAssertEqual(failures, [])
  }

  func testMemoryKeepsAllPromises() {
    let failures = all.failures {
      let storage = MemoryStorage()
      return { storage }
    }
    XCTAssertEqual(failures, [])
  }

  func testTheDiskOfTheTestsKeepsAllPromises() {
    let failures = all.failures {
      let process = FaultyDisk(seed: 1).process()
      return { process.storage(named: "main") }
    }
    XCTAssertEqual(failures, [])
  }

  func testTheFaultyStorageOfTheTestsKeepsAllPromises() {
    let failures = StorageConformance.checks.failures {
      let storage = FaultyStorage()
      return { storage }
    }
    XCTAssertEqual(failures, [])
  }

  // MARK: Storages that break a promise

  /// The check that is there for each flaw; a flaw may break others, too.
  private func check(for flaw: StorageFlaw) -> String {
    switch flaw {
    case .emptyIsAFile: "emptyOpensAsNil"
    case .noLocation: "locationIsReadable"
    case .shortRead: "readGivesTheRange"
    case .paddedRead: "readBeyondTheEndIsTruncated"
    case .lostBytes: "replaceStoresAllBytes"
    case .oldBytesStay: "replaceLeavesNothingOld"
    case .tornOnError: "replaceIsAllOrNothing"
    case .errorIsSwallowed, .errorIsAnother: "replacePassesErrorsOn"
    case .seenBeforeTheEnd: "nothingIsSeenBeforeTheEnd"
    case .openedChanges: "openedStaysAsItWas"
    case .appendIsLost: "appendedIsStored"
    case .staleAppendable: "appendableFileReads"
    case .growingByteCount: "byteCountIsThatOfOpening"
    case .truncateDoesNothing: "truncateCutsTheEnd"
    case .replacementUnnoticed: "anotherArchiveIsNoticed"
    case .sizeOfItsOwn: "storedByteCountIsThatOfNow"
    case .lockRaces: "oneOfManyGetsTheLock"
    case .lockIsShared: "lockIsExclusive"
    case .lockStays: "lockGoesWithItsLastReference"
    case .lockStores: "lockStoresNothing"
    case .replaceTakesTheLock: "lockOutlivesTheArchive"
    case .removeDoesNothing: "removeRemoves"
    }
  }

  func testEachCheckSeesTheFlawsThatItIsThereFor() {
    assertFlawsAreSeen(StorageFlaw.allCases, by: all, check: check) { FlawedStorage($0) }
  }

  func testAFailureSaysThePromiseAndWhatWasSeen() throws {
    let check = try XCTUnwrap(all.first { $0.name == "removeRemoves" })
    XCTAssertEqual("\(check)", "removeRemoves")
    do {
      try check.run {
        let storage = FlawedStorage(.removeDoesNothing)
        return { storage }
      }
      XCTFail("It did not throw.")
    } catch {
      XCTAssertEqual(error.expected, check.promise)
      XCTAssertEqual(
        error.seen,
        "Afterwards it had 100 bytes that begin with 1, 4, 7, 10 and not nothing.")
      XCTAssertEqual(
        error.description,
        "removeRemoves: Removing removes what is stored, and nothing is no error."
          + " Afterwards it had 100 bytes that begin with 1, 4, 7, 10 and not nothing.")
    }
  }

  func testAPlaceThatCannotBeMadeOrOpenedIsNoBrokenPromise() {
    struct NoPlace: Error {}
    let failures = all.failures { throw NoPlace() } + all.failures { { throw NoPlace() } }
    XCTAssertEqual(failures.count, 2 * all.count)
    XCTAssertEqual(Set(failures.map(\.code)), [.noPlace])
    XCTAssertEqual(failures.first?.seen, "It could not be made: NoPlace()")
    XCTAssertEqual(failures.last?.seen, "It could not be opened: NoPlace()")
  }
}
