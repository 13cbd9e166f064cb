import ArchiveCodec
import Foundation
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// Moments beside what somebody else has put among them, and after calls that fail.
extension KeptStatesTests {
  private var planted: String { "000000500-1800000000-session-5" }

  /// Three launches, between which somebody puts something into the history.
  private func assertGoesOn(_ what: String, _ plant: (_ history: String) throws -> Void)
    async throws
  {
    policy.historyCounts[.session] = 5
    let directory = try TemporaryDirectory()
    for value in ["one", "two"] { try await launch(value, in: directory) }
    try plant(directory.child("main.history"))
    let found = try await launch("three", in: directory)
    XCTAssertEqual(found, "two", what)
    let keeper = try keeper(directory)
    let node = TestNode("a")
    _ = try await keeper.restore(into: [node, TestNode("b")])
    XCTAssertEqual(node.value, "three", what)
    let own = try await keeper.history().filter { $0.id != planted }
    XCTAssertEqual(own.map(\.reason), [.session, .session], what)
    try await keeper.discardState()
    await keeper.close()
    let next = try await restored(directory)
    XCTAssertEqual(next.report.outcome, .noArchive, what)
    let left =
      (try? directory.names().contains("main.history")) == true
      ? try FileManager.default.contentsOfDirectory(atPath: directory.child("main.history")) : []
    XCTAssertEqual(left.filter { own.map(\.id).contains($0) }, [], what)
  }

  func testWhatSomebodyPutsAmongTheMomentsStopsNoLaunchAndNoDiscard() async throws {
    try await assertGoesOn("a file with a name of a moment") {
      try Data("x".utf8).write(to: URL(filePath: "\($0)/\(planted)"))
    }
    try await assertGoesOn("a pipe with a name of a moment") { mkfifo("\($0)/\(planted)", 0o600) }
    try await assertGoesOn("a file with another name") {
      try Data("x".utf8).write(to: URL(filePath: "\($0)/.\(planted)"))
    }
    try await assertGoesOn("a directory") {
      try FileManager.default.createDirectory(
        atPath: "\($0)/folder", withIntermediateDirectories: true)
    }
    try await assertGoesOn("a name that is no text") { history in
      let descriptor = open(history, O_RDONLY | O_DIRECTORY)
      let name: [CChar] = [CChar(bitPattern: 0xFF), CChar(bitPattern: 0xFE), 0]
      let file = openat(descriptor, name, O_CREAT | O_WRONLY, 0o600)
      XCTAssertGreaterThanOrEqual(file, 0)
      close(file)
      close(descriptor)
    }
  }

  func testALinkWithANameOfAMomentDoesNotLoseWhatItLeadsTo() async throws {
    let documents = try TemporaryDirectory()
    try documents.write([1, 2, 3, 4, 5], to: "precious.txt")
    let (precious, folder) = (documents.child("precious.txt"), documents.path)
    for target in [precious, folder] {
      try await assertGoesOn("a link to \(target)") {
        try FileManager.default.createSymbolicLink(
          atPath: "\($0)/\(planted)", withDestinationPath: target)
      }
    }
    XCTAssertEqual(try documents.bytes(of: "precious.txt"), [1, 2, 3, 4, 5])
  }

  func testAFileInThePlaceOfTheHistoryStopsNoLaunchAndADiscardSaysSo() async throws {
    policy.historyCounts[.session] = 5
    let directory = try TemporaryDirectory()
    try await launch("one", in: directory)
    try directory.write([1], to: "main.history")
    let keeper = try keeper(directory)
    let node = TestNode("a")
    _ = try await keeper.restore(into: [node, TestNode("b")])
    XCTAssertEqual(node.value, "one")
    let error = await restorationError { try await keeper.discardState() }
    XCTAssertEqual(error?.archive?.code, .notAFile)
    await keeper.close()
    try FileManager.default.removeItem(atPath: directory.child("main.history"))
    let next = try await restored(directory)
    XCTAssertEqual(next.report.outcome, .noArchive)
  }

  func testSavesThatMayNotStayLeaveNoMoreMomentsThanTheBoundSays() async throws {
    let directory = try TemporaryDirectory()
    try await launch("one", in: directory)
    let fails = Mutex(true)
    let store = HookedStore(FileStateDirectory(path: directory.path)) {
      name, call throws(ArchiveError) in
      if name == "main", call == .publish, fails.withLock({ $0 }) {
        throw ArchiveError(.notDurable)
      }
    }
    let keeper = try keeper(store)
    let node = TestNode("a")
    _ = try await keeper.restore(into: [node, TestNode("b")])
    var errors: [ArchiveError.Code?] = []
    for value in ["x", "y", "x", "y", "x"] {
      node.value = String(repeating: value, count: 70_000)
      do { _ = try await keeper.save([node]) } catch { errors.append(error.archive?.code) }
      let kept = try await keeper.history()
      XCTAssertLessThanOrEqual(kept.count, 2, "One more than the bound says, until one stays.")
    }
    XCTAssertGreaterThan(errors.count, 2)
    // The second one says that nothing was written.
    XCTAssertTrue(Set(errors).isSubset(of: [.notDurable, .inputOutput]), "\(errors)")
    fails.withLock { $0 = false }
    for value in ["y", "x", "y", "x"] {
      node.value = String(repeating: value, count: 70_000)
      _ = try await keeper.save([node])
    }
    let kept = try await keeper.history()
    XCTAssertEqual(kept.map(\.reason), [.replaced])
    await keeper.close()
    let last = try await restored(directory).value
    XCTAssertEqual(last, String(repeating: "x", count: 70_000))
  }

  func testWhatAKilledWriteHasLeftGoesWithTheNextCompactionAndWithADiscard() async throws {
    for isDiscarded in [false, true] {
      let directory = try TemporaryDirectory()
      try await launch("one", in: directory)
      let (own, other) = (".main.rka.abc.tmp", ".other.rka.abc.tmp")
      for name in [own, other] { try directory.write([1], to: name) }
      if isDiscarded {
        let keeper = try keeper(directory)
        try await keeper.discardState()
        await keeper.close()
      } else {
        for value in ["x", "y", "z"] { try await launch(value, in: directory, isLong: true) }
      }
      let names = try directory.names()
      XCTAssertFalse(names.contains(own), "discarded \(isDiscarded)")
      XCTAssertTrue(names.contains(other), "discarded \(isDiscarded)")
    }
  }
}
