import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// An app that begins its restoration and ends it.
@MainActor
final class RestorationTests: XCTestCase {
  private let launch = Launch()
  private let node = TrackedNode("root")

  private func run(_ body: @MainActor () async throws -> Void) async throws {
    let session = RestorationSession(
      directory: launch.store, keys: launch.keys, environment: ApplicationEnvironment(),
      now: { Date() })
    try await session.run { try await body() }
  }

  private func begin(_ root: TrackedNode) async throws {
    try await Restoration.begin(Launch.application, signals: [], roots: { [root] })
  }

  /// What the next launch of the app restores.
  private func assertBack(_ value: String, line: UInt = #line) async throws {
    try await run {
      let back = TrackedNode("root")
      try await begin(back)
      XCTAssertEqual(back.value, value, line: line)
      await Restoration.end()
    }
  }

  func testWhatChangesIsSavedByItselfAndComesBack() async throws {
    try await run {
      XCTAssertNil(Restoration.keeper)
      try await begin(node)
      XCTAssertEqual(try Restoration.report?.get().outcome, .noArchive)
      node.value = "1"
      try await waitUntil("the change is stored") {
        try launch.storedRecords()?["root"]?.value == "1"
      }
      node.value = "2"
      let isStored = await Restoration.end()
      XCTAssertTrue(isStored)
      XCTAssertNil(Restoration.keeper)
      XCTAssertEqual(try Restoration.lastSave?.get().outcome, .saved)
    }
    try await assertBack("2")
  }

  func testAnEndThatBlocksTheActorStoresTheLastChange() async throws {
    try await run {
      try await begin(node)
      node.value = "1"
      XCTAssertTrue(Restoration.endNow())
      XCTAssertFalse(Restoration.endNow())
    }
    try await assertBack("1")
  }

  func testABeginThatBlocksTheActorRestores() async throws {
    try await run {
      try await begin(node)
      node.value = "1"
      await Restoration.end()
    }
    try await run {
      let back = TrackedNode("root")
      let keeper = try Restoration.beginNow(
        Launch.application, signals: [], roots: { [back] })
      XCTAssertEqual(back.value, "1")
      XCTAssertTrue(Restoration.keeper === keeper)
      back.value = "2"
      await Restoration.end()
    }
    try await assertBack("2")
  }

  func testADelegateAndClassesAreThereBeforeTheRestore() async throws {
    let delegate = TestDelegate()
    delegate.restores = false
    try await run {
      try await begin(node)
      await Restoration.end()
    }
    try await run {
      try await Restoration.begin(Launch.application, signals: [], roots: { [self.node] }) {
        $0.delegate = delegate
        try $0.register(TrackedNode.self)
      }
      XCTAssertEqual(try Restoration.report?.get().outcome, .declined)
      await Restoration.end()
    }
  }

  func testASecondBeginIsRefused() async throws {
    try await run {
      try await begin(node)
      do {
        try await begin(node)
        XCTFail("did not throw")
      } catch let error as RestorationError {
        XCTAssertEqual(error.code, .alreadyBegun)
      }
      await Restoration.end()
      let isStored = await Restoration.end()
      XCTAssertFalse(isStored)
    }
  }

  func testAStateThatCannotBeReadIsSaidAndKept() async throws {
    try await run {
      try await begin(node)
      node.value = "1"
      await Restoration.end()
    }
    launch.storedBytes = launch.storedBytes.map { Array($0.prefix(100)) }
    try await run {
      try await begin(TrackedNode("root"))
      guard case .failure? = Restoration.report else {
        return XCTFail("\(String(describing: Restoration.report))")
      }
      let isStored = await Restoration.end()
      XCTAssertTrue(isStored)
    }
    XCTAssertEqual(try launch.storedPaths(), ["root"])
  }
}
