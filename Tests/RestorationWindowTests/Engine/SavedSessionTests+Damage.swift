import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// What sessions meet that does not belong to them, and calls that end in their midst.
extension SavedSessionTests {
  private var planted: String { "000000000001-000000000-0000000000000000" }

  /// Read from a copy, so that nothing changes.
  func text(of session: SavedSession) async throws -> String? {
    let copy = try TemporaryDirectory()
    try FileManager.default.removeItem(atPath: copy.path)
    try FileManager.default.copyItem(atPath: path(), toPath: copy.path)
    let keeper = try StateKeeper(
      application: "org.example.test", directory: FileStateDirectory(path: copy.path), keys: keys,
      environment: ApplicationEnvironment(applicationVersion: "1"), now: { [self] in now })
    try await keeper.putBack(session)
    let node = TestNode("editor")
    _ = try await keeper.restore(into: [node])
    await keeper.close()
    return node.value
  }

  private final class Declining: @MainActor StateDelegate {
    func shouldSaveApplicationState(with coder: StateEncoder) -> Bool { false }
  }

  private func plantAndUse(_ plant: (_ sessions: String) throws -> Void) async throws -> [String] {
    try await launch("one")
    try await launch("two")
    try plant("\(path())/main.sessions")
    try await launch("three")
    var problems: [String] = []
    do {
      let keeper = try keeper()
      let node = TestNode("editor")
      let report = try await keeper.restore(into: [node])
      if "\(report)".contains("not kept") { problems.append("keep") }
      do {
        let found = try await keeper.savedSessions()
        if found.count < 3 { problems.append("count \(found.count)") }
      } catch { problems.append("list \(error.code)") }
      do { try await keeper.discardState() } catch { problems.append("discard \(error.code)") }
      if FileManager.default.fileExists(atPath: "\(try path())/main.rka") {
        problems.append("state left")
      }
      let left =
        (try? FileManager.default.contentsOfDirectory(atPath: "\(try path())/main.sessions")) ?? []
      // What somebody else has put into a session stays, and the session is none any more.
      let own = left.filter { !$0.contains(planted) && !$0.hasPrefix(".") }
      if !own.isEmpty { problems.append("sessions left \(own.count)") }
      await keeper.close()
    }
    return problems
  }

  func testALinkInPlaceOfASnapshotOrAHalfOneDoesNotLoseWhatItLeadsTo() async throws {
    sessions = .last(1)
    for name in [".\(planted)", planted] {
      let documents = try TemporaryDirectory()
      let precious = "\(documents.path)/precious.txt"
      try Data("precious".utf8).write(to: URL(filePath: precious))
      try FileManager.default.createDirectory(
        atPath: "\(path())/main.sessions", withIntermediateDirectories: true)
      try FileManager.default.createSymbolicLink(
        atPath: "\(path())/main.sessions/\(name)", withDestinationPath: documents.path)
      for value in ["one", "two"] { try await launch("\(name) \(value)") }
      XCTAssertTrue(FileManager.default.fileExists(atPath: precious), name)
    }
  }

  func testAPlainFileWithTheNameOfASnapshot() async throws {
    let problems = try await plantAndUse {
      try Data("x".utf8).write(to: URL(filePath: "\($0)/\(planted)"))
    }
    XCTAssertEqual(problems, [])
  }

  func testAFIFOWithTheNameOfASnapshot() async throws {
    let problems = try await plantAndUse { mkfifo("\($0)/\(planted)", 0o600) }
    XCTAssertEqual(problems, [])
  }

  func testAPlainFileWithTheNameOfAHalfSnapshot() async throws {
    let problems = try await plantAndUse {
      try Data("x".utf8).write(to: URL(filePath: "\($0)/.\(planted)"))
    }
    XCTAssertEqual(problems, [])
  }

  func testADirectoryInASnapshot() async throws {
    let problems = try await plantAndUse { place in
      for name in try FileManager.default.contentsOfDirectory(atPath: place) {
        try FileManager.default.createDirectory(
          atPath: "\(place)/\(name)/folder", withIntermediateDirectories: true)
      }
    }
    XCTAssertEqual(problems, [])
  }

  func testANameThatIsNoTextInASnapshot() async throws {
    let problems = try await plantAndUse { place in
      for name in try FileManager.default.contentsOfDirectory(atPath: place) {
        let descriptor = open("\(place)/\(name)/", O_RDONLY | O_DIRECTORY)
        let bytes: [CChar] = [CChar(bitPattern: 0xFF), CChar(bitPattern: 0xFE), 0]
        let file = openat(descriptor, bytes, O_CREAT | O_WRONLY, 0o600)
        XCTAssertGreaterThanOrEqual(file, 0)
        close(file)
        close(descriptor)
      }
    }
    XCTAssertEqual(problems, [])
  }

  func testAFileInPlaceOfTheDirectory() async throws {
    try await launch("one")
    try Data("x".utf8).write(to: URL(filePath: "\(path())/main.sessions"))
    let keeper = try keeper()
    _ = try await keeper.restore(into: [TestNode("editor")])
    do { try await keeper.discardState() } catch { XCTFail("discard \(error)") }
  }

  func testASessionPutsBackWhatTheLaunchFoundAfterAHalfCommit() async throws {
    try await launch("found")
    sessions = nil
    try await launch(String(repeating: "x", count: 50_000))
    sessions = .last(10)
    let file = URL(filePath: "\(try path())/main.rka")
    try Data(contentsOf: file).dropLast(1).write(to: file)
    let keeper = try keeper()
    let node = TestNode("editor")
    _ = try await keeper.restore(into: [node])
    XCTAssertEqual(node.value, "found")
    node.value = "later"
    _ = try await keeper.save([node])
    let listed = try await keeper.savedSessions()
    try await keeper.putBack(try XCTUnwrap(listed.first))
    let back = TestNode("editor")
    _ = try await keeper.restore(into: [back])
    XCTAssertEqual(back.value, "found")
  }

  func testTheOneOfThisLaunchStaysAlthoughItsFileIsOlder() async throws {
    sessions = .last(2)
    for value in ["one", "two", "three"] { try await launch(value) }
    // As a backup restores it, or a clock that was wrong then.
    try FileManager.default.setAttributes(
      [.modificationDate: Date().addingTimeInterval(-86_400)], ofItemAtPath: "\(path())/main.rka")
    let keeper = try keeper()
    _ = try await keeper.restore(into: [TestNode("editor")])
    let all = try await keeper.savedSessions()
    await keeper.close()
    var values: [String?] = []
    for session in all { values.append(try await text(of: session)) }
    XCTAssertTrue(values.contains("three"), "\(values)")
  }

  func testSessionsOfANumberWithoutAStateGoWithAll() async throws {
    let first = try keeper()
    _ = try await first.restore(into: [TestNode("editor")])
    _ = try await first.save([TestNode("editor", value: "first")])
    for value in ["a", "b"] {
      let second = try keeper()
      let node = TestNode("editor")
      _ = try await second.restore(into: [node])
      node.value = value
      _ = try await second.save([node])
      await second.close()
    }
    let third = try keeper()
    let delegate = Declining()
    third.delegate = delegate
    _ = try await third.restore(into: [TestNode("editor")])
    let report = try await third.save([TestNode("editor")])
    XCTAssertEqual(report.outcome, .declined)
    await third.close()
    try await first.discardState(includingSetAside: true)
    let left = try FileManager.default.contentsOfDirectory(atPath: path()).filter {
      $0.hasSuffix(".sessions")
    }
    XCTAssertEqual(left, [])
  }

  func testADeclinedStateLeavesNoSession() async throws {
    try await launch("one")
    try await launch("two")
    let keeper = try keeper()
    let delegate = Declining()
    keeper.delegate = delegate
    _ = try await keeper.restore(into: [TestNode("editor")])
    let report = try await keeper.save([TestNode("editor")])
    XCTAssertEqual(report.outcome, .declined)
    let all = try await keeper.savedSessions()
    XCTAssertEqual(all.count, 0)
  }

  func testAFIFOInPlaceOfAListHidesNoOtherSession() async throws {
    _ = try await launchWindows(["a"])
    _ = try await launchWindows(["b"])
    _ = try await launchWindows(["c"])
    let today = try await host()
    let listed = try await today.savedSessions()
    let session = try XCTUnwrap(listed.first)
    let place = "\(try path())/main.sessions/\(session.id)"
    print(
      "FIFO", try FileManager.default.contentsOfDirectory(atPath: place),
      listed.map(\.windows.count))
    let name = try XCTUnwrap(
      FileManager.default.contentsOfDirectory(atPath: place).first {
        $0.hasPrefix("main.scenes.rka")
      })
    try FileManager.default.removeItem(atPath: "\(place)/\(name)")
    mkfifo("\(place)/\(name)", 0o600)
    do {
      let again = try await today.savedSessions()
      XCTAssertEqual(again.count, listed.count)
    } catch {
      XCTFail("No session is listed: \(error)")
    }
  }

  func testADiscardThatEndsInItsMidstLeavesNoSessionsOfAStateThatIsGone() async throws {
    for value in ["one", "two", "three"] { try await launch(value) }
    let killed = try StateKeeper(
      application: "org.example.test",
      directory: KilledDirectory(files: FileStateDirectory(path: path())) {
        () throws(ArchiveError) in throw ArchiveError(.inputOutput, location: "killed")
      },
      keys: keys, environment: ApplicationEnvironment(applicationVersion: "1"),
      now: { [self] in now })
    do {
      try await killed.discardState()
      XCTFail()
    } catch {}
    await killed.close()
    let isThere = FileManager.default.fileExists(atPath: "\(try path())/main.rka")
    let looking = try keeper()
    let count = try await looking.savedSessions().count
    XCTAssertTrue(isThere || count == 0, "The state is gone, and \(count) sessions are there.")
  }

  func testAKeeperThatIsClosedAndUsedAgainKeepsWhatItFinds() async throws {
    try await launch("one")
    let keeper = try keeper()
    for value in ["two", "three"] {
      let node = TestNode("editor")
      _ = try await keeper.restore(into: [node])
      node.value = value
      _ = try await keeper.save([node])
      await keeper.close()
    }
    let count = try await keeper.savedSessions().count
    XCTAssertEqual(count, 2)
  }

  func testTwoCallsAtOnceOpenEachWindowOnce() async throws {
    _ = try await launchWindows(["a", "b", "c"])
    let today = try await host()
    try await today.discard(today.openSessions)
    let session = try await today.savedSessions()[0]
    let tasks = (0..<2).map { _ in
      Task { @MainActor in try await today.putBack(session).count }
    }
    var counts: [Int] = []
    for task in tasks { counts.append(try await task.value) }
    XCTAssertEqual(counts, [3, 0])
    for session in today.openSessions {
      let aside = try await today.setAsideStates(of: session)
      XCTAssertEqual(aside.map(\.reason), [])
    }
  }
}
