import ArchiveCodec
import Foundation
import RestorationKit
import Synchronization
import XCTest

/// Several instances of an app, and locks that go.
final class InstanceTests: FileTestCase {
  func testASecondInstanceHasAStateOfItsOwnAndGetsItBack() throws {
    for round in 1...2 {
      let (first, second, third) = (file(), file(), file())
      let files = [first, second, third]
      for (number, file) in files.enumerated() {
        XCTAssertEqual(try open(file).tree?.texts, round == 1 ? nil : [1: "\(number)"])
        XCTAssertEqual(file.name, ["main", "main~2", "main~3"][number])
        let others = try XCTUnwrap(file.claimed?.others)
        XCTAssertEqual(others.map(\.stateName), Array(["main", "main~2"].prefix(number)))
        XCTAssertTrue(others.allSatisfy { $0.process == ArchiveError.thisProcess })
        try save([1: "\(number)"], to: file)
      }
      for file in files { try file.close() }
    }
  }

  func testASingleInstanceHasTheStateOrNone() throws {
    policy.isSingleInstance = true
    let (first, second) = (file(), file())
    try save([1: "a"], to: first)
    for _ in 1...2 {
      XCTAssertThrowsError(try open(second)) { error in
        XCTAssertEqual((error as? ArchiveError)?.code, .locked)
        XCTAssertEqual((error as? ArchiveError)?.subject, ArchiveError.thisProcess)
      }
    }
    try first.close()
    XCTAssertEqual(try open(second).tree?.texts, [1: "a"])
  }

  private final class Tries: Sendable {
    private let counts = Mutex<[Int]>([])
    var all: [Int] { counts.withLock { $0 } }
    func add(_ count: Int) { counts.withLock { $0.append(count) } }
  }

  /// A file that is waited for five times, or until another one ends in one of the tries.
  private func file(waiting tries: Tries, endingAt end: Int, _ other: StateFile) -> StateFile {
    nonisolated(unsafe) let other = other
    var source = StateFile.Source(
      name: "main", application: application, directory: directory, keys: keys,
      environment: environment)
    source.pause = { count, _ in
      tries.add(count)
      if count == end { try? other.close() }
      return count < 5
    }
    let file = StateFile(source)
    file.conditions = (policy, now)
    return file
  }

  func testTheFirstClaimWaitsALittleForAnInstanceThatIsAboutToEnd() throws {
    let first = file()
    try save([1: "a"], to: first)
    let tries = Tries()
    let second = file(waiting: tries, endingAt: 3, first)
    XCTAssertEqual(try open(second).tree?.texts, [1: "a"])
    XCTAssertEqual(second.name, "main")
    XCTAssertEqual(tries.all, [1, 2, 3])
  }

  func testOnlyTheFirstNameIsWaitedForAndOnce() throws {
    let (first, second) = (file(), file())
    try save([1: "a"], to: first)
    try save([1: "b"], to: second)
    let tries = Tries()
    let third = file(waiting: tries, endingAt: 0, first)
    try open(third)
    XCTAssertEqual(third.name, "main~3")
    try third.close()
    try open(third)
    XCTAssertEqual(third.name, "main~3")
    XCTAssertEqual(tries.all, [1, 2, 3, 4, 5])
  }

  func testAnInstanceTakesItsOwnNameAgainThoughTheFirstOneIsFree() throws {
    let (first, second) = (file(), file())
    try save([1: "a"], to: first)
    try save([1: "b"], to: second)
    try first.close()
    try second.close()
    XCTAssertEqual(try open(second).tree?.texts, [1: "b"])
    XCTAssertEqual(second.name, "main~2")
  }

  func testAStateWhoseLockWasRemovedIsLockedAgainAndNothingIsLost() throws {
    let files = try FilesOfTest()
    let place = FileStateDirectory(path: files.path)
    let first = file(in: place)
    try open(first)
    try save([1: "a"], to: first)
    try FileManager.default.removeItem(atPath: files.child(".main.rka.lock"))
    XCTAssertThrowsError(try save([2: "b"], to: first)) { error in
      XCTAssertEqual((error as? ArchiveError)?.code, .outdated)
    }
    XCTAssertNotNil(try first.openWriter())
    try save([2: "b"], to: first)
    XCTAssertEqual(first.name, "main")
    XCTAssertEqual(try reasons(first), [])
    let second = file(in: place)
    try open(second)
    XCTAssertEqual(second.name, "main~2")
    try first.close()
    XCTAssertEqual(try open(file(in: place)).tree?.texts, [1: "a", 2: "b"])
  }

  func testWhereTheRecordsOfBeforeAreGoneTooTheFileSaysSo() throws {
    let files = try FilesOfTest()
    let place = FileStateDirectory(path: files.path)
    let file = file(in: place)
    let long = String(repeating: "a", count: 100_000)
    try save([1: long], to: file)
    // Somebody cuts the file off in its place.
    let handle = try FileHandle(forWritingTo: URL(filePath: files.child("main.rka")))
    try handle.truncate(atOffset: 500)
    try handle.close()
    XCTAssertThrowsError(try save([2: "b"], to: file))
    XCTAssertNil(try file.openWriter())
    try save([1: "a", 2: "b"], to: file)
    XCTAssertNotNil(try file.openWriter())
    XCTAssertEqual(try reasons(file), [.unread])
    try file.close()
    XCTAssertEqual(try open(self.file(in: place)).tree?.texts, [1: "a", 2: "b"])
  }
}
