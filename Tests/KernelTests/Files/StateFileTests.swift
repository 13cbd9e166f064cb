import ArchiveCodec
import Foundation
import RestorationKit
import Synchronization
import XCTest

/// Opens, saves and ends, launch after launch.
final class StateFileTests: FileTestCase {
  func testWhatIsSavedIsRestoredByTheNextLaunch() throws {
    XCTAssertNil(try launch(saving: [1: "a"]))
    XCTAssertEqual(try launch(saving: [2: "b"])?.texts, [1: "a"])
    XCTAssertEqual(try launch()?.texts, [1: "a", 2: "b"])
    XCTAssertEqual(try reasons(), [])
  }

  func testALaunchThatNeitherRestoresNorSavesClaimsNothing() throws {
    let (first, second) = (file(), file())
    first.readAhead()
    XCTAssertEqual(try first.history(), [])
    try open(second)
    XCTAssertEqual(second.name, "main")
  }

  func testWhereNothingIsStoredNoKeyIsAskedForAndNothingIsWritten() throws {
    keys = MissingKey()
    let file = file()
    guard case .nothing = try open(file).opened.outcome else { return XCTFail() }
    try file.close()
    XCTAssertEqual(try directory.names(), [])
  }

  func testASaveAppendsAndAnEmptyOneWritesNothingElse() throws {
    let file = file()
    try save([1: String(repeating: "a", count: 2000)], to: file)
    let before = try XCTUnwrap(bytes())
    try save([2: "b"], to: file)
    let after = try XCTUnwrap(bytes())
    XCTAssertTrue(after.starts(with: before))
    XCTAssertLessThan(after.count - before.count, 400)
  }

  func testWhatIsSavedAfterItWasReadAheadIsRestored() throws {
    let files = try FilesOfTest()
    let places = FileStateDirectory(path: files.path)
    let writer = file(in: places)
    try save([1: "a"], to: writer)
    let early = file(in: places)
    early.readAhead()
    try save([2: "b"], to: writer)
    try writer.close()
    XCTAssertEqual(try open(early).tree?.texts, [1: "a", 2: "b"])
    try save([3: "c"], to: early)
    try early.close()

    let next = file(in: places)
    next.readAhead()
    XCTAssertEqual(try open(next).tree?.texts, [1: "a", 2: "b", 3: "c"])
    try save([4: "d"], to: next)
    try next.close()
    XCTAssertEqual(try open(file(in: places)).tree?.texts.count, 4)
  }

  func testAStateInFilesLeavesItsFileAndItsLockAlone() throws {
    let files = try FilesOfTest()
    let file = file(in: FileStateDirectory(path: files.path))
    try open(file)
    try save([1: "a"], to: file)
    try file.close()
    XCTAssertEqual(try files.names(), ["main.rka"])
  }

  func testCallsOfAQueueAreMadeInTheirOrder() async throws {
    let files = try FilesOfTest()
    let directories: [any StateDirectory] = [
      MemoryStateDirectory(), FileStateDirectory(path: files.path),
    ]
    for directory in directories {
      let now = now
      let queue = FileQueue(
        StateFile.Source(
          name: "main", application: application, directory: directory, keys: keys,
          environment: environment, now: { now }))
      let log = Mutex<[Int]>([])
      for number in 1...50 { queue.enqueue { _ in log.withLock { $0.append(number) } } }
      try await queue.run { _ throws(ArchiveError) in log.withLock { $0.append(51) } }
      queue.enqueue { _ in log.withLock { $0.append(52) } }
      try queue.runNow { _ throws(ArchiveError) in log.withLock { $0.append(53) } }
      XCTAssertEqual(log.withLock { $0 }, Array(1...53))
      await checkThatAnErrorIsThrown(queue)
    }
  }

  func testAStateIsRestoredAndSavedThroughAQueue() async throws {
    let now = now
    let queue = FileQueue(
      StateFile.Source(
        name: "main", application: application, directory: directory, keys: keys,
        environment: environment, now: { now }))
    for round in 0..<2 {
      let opened = try await queue.run { file throws(ArchiveError) in
        try file.open { archive throws(ArchiveError) in try TextTree(archive) }
      }
      if case .restored(let tree, _, _) = opened.outcome {
        XCTAssertEqual(tree.texts, [1: "a"])
      } else {
        XCTAssertEqual(round, 0)
      }
      opened.mark?.endRestore()
      let writer = try await queue.run { file throws(ArchiveError) in try file.openWriter() }
      let builder = writer?.builder() ?? RecordBuilder()
      try builder.append(record: UInt64(round + 1)) { $0.encode("a", forKey: "text") }
      let records = try builder.finish()
      _ = try await queue.run { file throws(ArchiveError) in try file.append(records) }
      try queue.runNow { file throws(ArchiveError) in try file.close() }
    }
    XCTAssertEqual(try launch()?.texts, [1: "a", 2: "a"])
  }

  private func checkThatAnErrorIsThrown(_ queue: FileQueue) async {
    do throws(ArchiveError) {
      try await queue.run { _ throws(ArchiveError) in throw ArchiveError(.storageFull) }
      XCTFail("Nothing was thrown.")
    } catch {
      XCTAssertEqual(error.code, .storageFull)
    }
  }
}
