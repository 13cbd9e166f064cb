import ArchiveCodec
import Foundation
import RestorationKit
import RestorationTesting
import Synchronization
import TestSupport
import XCTest

/// The lines that say what is wrong, and where they go.
@MainActor
final class ProblemTests: XCTestCase {
  private let tester = RestorationTester()

  override func setUp() async throws { tester.allowsProblems = true }

  override func tearDown() async throws { Restoration.onProblem = nil }

  func testTheProblemOfAValueIsSaidOnce() async throws {
    let said = Said()
    try await tester.launch {
      try await Restoration.begin("org.example.problems", signals: [])
      RestoredValue("count", default: 0).value = 1
      for _ in 0..<3 { RestoredValue("count", default: "").value += "typed" }
      await Restoration.end()
    }
    XCTAssertEqual(
      said.lines,
      [
        "The value of “count” is not of the type that was asked for, so its default was used:"
          + " Int is stored, String was asked for. Give each type a key of its own."
      ])
  }

  func testTheProblemsOfASaveAndARestoreAreSaidWithTheirPlace() async throws {
    let said = Said()
    try await tester.launch {
      let root = TestNode("root", children: [TestNode("x", value: "typed"), TestNode("x")])
      try await Restoration.begin("org.example.problems", signals: [], roots: { [root] })
      await Restoration.end()
    }
    XCTAssertEqual(
      said.lines,
      [
        "“root/x” (TestNode): left out, another one has this path; give each of the two an"
          + " identifier of its own"
      ])
    try await tester.launch {
      try await Restoration.begin("org.example.problems", signals: [])
      await Restoration.end()
    }
    XCTAssertEqual(
      said.lines.dropFirst(),
      [
        "“root” (TestNode): not found; register its class with a closure that makes it, answer in"
          + " the delegate, or let the node above it contain it before you restore; if it is built"
          + " later, call restore(late:below:)"
      ])
  }

  func testAProblemIsOneLineWhateverItsNamesHold() async throws {
    let said = Said()
    try await tester.launch {
      let name = "a\n\u{1B}[2Jb" + String(repeating: "c", count: 900)
      let root = TestNode(name, children: [TestNode("x"), TestNode("x")])
      try await Restoration.begin("org.example.problems", signals: [], roots: { [root] })
      await Restoration.end()
    }
    XCTAssertEqual(said.lines.count, 1)
    let line = try XCTUnwrap(said.lines.first)
    XCTAssertTrue(line.hasPrefix("“a  [2Jbccc"), line)
    XCTAssertEqual(line.count, 1001)
    XCTAssertFalse(line.unicodeScalars.contains { $0.value < 32 })
  }

  func testAFailedSaveIsSaidAndKept() async throws {
    let said = Said()
    let tester = RestorationTester(
      directory: HookedStore { _, call throws(ArchiveError) in
        if call.isWrite { throw ArchiveError(.storageFull) }
      })
    tester.allowsProblems = true
    try await tester.launch {
      let root = TestNode("root")
      try await Restoration.begin("org.example.problems", signals: [], roots: { [root] })
      let isStored = await Restoration.end()
      XCTAssertFalse(isStored)
      guard case .failure(let error)? = Restoration.lastSave else {
        return XCTFail("\(String(describing: Restoration.lastSave))")
      }
      XCTAssertEqual(said.lines, ["The save has failed: \(error)"])
    }
  }

  func testTheReportOfTheLastSaveIsKeptAlsoAfterTheEnd() async throws {
    try await tester.launch {
      XCTAssertNil(Restoration.lastSave)
      let root = TestNode("root", children: [TestNode("count")])
      try await Restoration.begin("org.example.problems", signals: [], roots: { [root] })
      await Restoration.end()
      let report = try XCTUnwrap(Restoration.lastSave).get()
      XCTAssertEqual(report.outcome, .saved)
      XCTAssertEqual(report.entries.map(\.path.description), ["root", "root/count"])
    }
  }

  // MARK: Mistakes that a report did not have

  private final class Screen: @MainActor RestorableScreen {
    @Restored var text = ""
    let restorationIdentifier: String
    var restorationChildren: [any RestorableNode] = []

    init(_ identifier: String) { restorationIdentifier = identifier }
  }

  /// A launch with some roots, and the problems that are known after its end.
  private func problems(
    roots: @escaping @MainActor () -> [any RestorableNode] = { [] },
    in app: @MainActor () async throws -> Void
  ) async throws -> [ReportNote] {
    try await tester.launch {
      try await Restoration.begin("org.example.problems", signals: [], roots: roots)
      try await app()
      await Restoration.end()
      return Restoration.problems
    }
  }

  func testAScreenThatNoRootReachesIsAProblemUnlessASaveReachesItInTime() async throws {
    let (forgotten, late) = (Screen("forgotten"), Screen("late"))
    var roots: [any RestorableNode] = []
    let problems = try await problems(roots: { roots }) {
      (forgotten.text, late.text) = ("typed", "typed")
      roots = [late]
    }
    XCTAssertEqual(problems, [.screenNotReached(className: "Screen")])
    let none = try await self.problems(roots: { [forgotten] }) { forgotten.text = "more" }
    XCTAssertEqual(none, [])
  }

  func testAValueOrFieldThatIsSetAfterTheEndIsAProblem() async throws {
    let screen = Screen("screen")
    let found = try await tester.launch {
      try await Restoration.begin("org.example.problems", signals: [], roots: { [screen] })
      await Restoration.end()
      RestoredValue("count", default: 0).value = 1
      screen.text = "typed"
      return Restoration.problems
    }
    XCTAssertEqual(found.prefix(1), [.valueSetAfterEnd(key: "count")])
    guard case .valueSetAfterEnd(let place)? = found.dropFirst().first else {
      return XCTFail("\(found)")
    }
    XCTAssertTrue(place.contains("ProblemTests.swift"), place)
    XCTAssertEqual(found.count, 2)
  }
}

/// Collects what is said.
private final class Said: Sendable {
  private let heard = Mutex<[String]>([])

  init() {
    Restoration.onProblem = { [self] line in heard.withLock { $0.append(line) } }
  }

  var lines: [String] { heard.withLock(\.self) }
}
