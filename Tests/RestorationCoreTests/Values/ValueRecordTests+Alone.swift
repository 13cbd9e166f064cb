import ArchiveCodec
import Foundation
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// Values that are stored while their actor is busy, or after its end.
extension ValueRecordTests {
  /// Stores the values as for an actor that is busy, which waits meanwhile.
  private func storeAlone() { ValuesAtExit.store(within: .seconds(10)) }

  private func host(_ keeper: StateKeeper) async throws -> SceneHost {
    let host = SceneHost(keeper)
    host.register(SceneConfiguration { TestSceneDelegate(Trace()) })
    try await host.launch()
    return host
  }

  private func window(_ scene: RestorableScene) -> Window {
    Restoration.scope(scene) { Window() }
  }

  func testASaveComesAfterValuesThatWereStoredAloneThreeTimes() async throws {
    let node = TestNode("root", value: "1")
    try await launch(roots: { [node] }) { keeper in
      for number in 1...3 {
        value("a").value = number
        storeAlone()
      }
      XCTAssertEqual(try stored(), ["a": 3])
      node.value = "2"
      try await keeper.save([node])
    }
    let other = TestNode("root")
    try await launch(roots: { [other] }) { _ in XCTAssertEqual(other.value, "2") }
  }

  func testValuesAloneBringNoneOfAWindowBackThatWasJustDiscarded() async throws {
    try await launch { keeper in
      let host = try await host(keeper)
      let scene = try await host.open()
      window(scene).number = 1
      try await host.saveSessions()
      let writeCount = failure.writeCount.withLock(\.self)
      let closing = Task { try await host.close(scene) }
      while failure.writeCount.withLock({ $0 == writeCount }) { await Task.yield() }
      // The actor does not hear of the end of the write before.
      value("app").value = 2
      storeAlone()
      try await closing.value
      XCTAssertEqual(try stored(), ["app": 2])
      window(scene).number = 3
      try await keeper.save([])
      XCTAssertEqual(try stored(), ["app": 2])
    }
  }

  func testNoValueOfAWindowIsStoredAloneBeforeASaveHasAskedWhetherItIsRestorable() async throws {
    try await launch { keeper in
      let host = try await host(keeper)
      let scene = try await host.open()
      scene.session.isRestorable = false
      (window(scene).number, value("app").value) = (1, 2)
      storeAlone()
      XCTAssertEqual(try stored(), ["app": 2])
    }
  }

  func testValuesAloneLeaveAStateThatWasPutBack() async throws {
    try await launch { keeper in
      value("a").value = 1
      try await keeper.save([])
    }
    try await launch(prepare: { $0.policy.historyCounts[.session] = 3 }) { keeper in
      value("a").value = 2
      try await keeper.save([])
      let moment = try await keeper.history().last { $0.reason == .session }
      try await keeper.putBack(try XCTUnwrap(moment))
      value("b").value = 3
      storeAlone()
      XCTAssertEqual(try stored(), ["a": 1])
    }
    try await launch { _ in XCTAssertEqual(self.value("a").value, 1) }
  }

  func testNoValueIsStoredAloneAfterASaveThatTheAppHasDeclined() async throws {
    let delegate = TestDelegate()
    try await launch(prepare: { $0.delegate = delegate }) { keeper in
      value("a").value = 1
      try await keeper.save([])
      delegate.saves = false
      let outcome = try await keeper.save([]).outcome
      XCTAssertEqual(outcome, .declined)
      value("a").value = 2
      storeAlone()
      XCTAssertEqual(try stored(), [:])
      delegate.saves = true
      try await keeper.save([])
      value("b").value = 3
      storeAlone()
      XCTAssertEqual(try stored(), ["a": 2, "b": 3])
    }
  }

  func testAValueIsStoredAloneThoughTheAutosavePausedWhenItWasSet() async throws {
    try await launch { keeper in
      let autosave = keeper.autosave(every: .milliseconds(1500)) { [] }
      value("a").value = 1
      _ = await autosave.flush(within: .seconds(5))
      value("a").value = 2
      usleep(3_500_000)
      XCTAssertEqual(try stored(), ["a": 2])
      autosave.stop()
    }
  }

  // MARK: Windows

  func testNoValueOfAWindowThatIsNotRestorableIsStoredAfterItsClose() async throws {
    try await launch { keeper in
      let host = try await host(keeper)
      let scene = try await host.open()
      scene.session.isRestorable = false
      window(scene).number = 1
      try await host.close(scene)
      try await keeper.save([])
      value("app").value = 2
      try await keeper.save([])
      XCTAssertEqual(try stored(), ["app": 2])
    }
  }

  func testAValueThatIsFirstSetWhenItsWindowIsGoneIsNotStored() async throws {
    try await launch { keeper in
      let host = try await host(keeper)
      let scene = try await host.open()
      try await host.saveSessions()
      try await host.close(scene)
      window(scene).number = 1
      try await keeper.save([])
      XCTAssertEqual(try stored(), [:])
    }
  }

  func testAWindowThatWasDiscardedStoresValuesAgainWhenItIsPutBack() async throws {
    try await launch { keeper in
      let host = try await host(keeper)
      window(try await host.open()).number = 1
      try await host.saveSessions()
    }
    try await launch(prepare: { $0.policy.historyCounts[.session] = 3 }) { keeper in
      let host = try await host(keeper)
      let text = RestoredValue("text", default: "")
      for number in 0..<60 {
        text.value = String(repeating: "\(number % 10)", count: 20_000)
        try await keeper.save([])
      }
      // The file was written anew by now, so the moment has bytes of its own.
      let moment = try await keeper.history().last { $0.reason == .session }
      try await host.discard(host.openSessions[0])
      try await host.putBack(try XCTUnwrap(moment))
      let window = window(try await host.connect(try XCTUnwrap(host.openSessions.first)))
      XCTAssertEqual(window.number, 1)
      window.number = 5
      try await host.saveSessions()
      XCTAssertEqual(try stored(), ["number": 5])
    }
  }

  func testNoValueOfAWindowThatWasDiscardedWithTheStateIsStored() async throws {
    try await launch { keeper in
      let host = try await host(keeper)
      let scene = try await host.open()
      window(scene).number = 1
      try await host.saveSessions()
      try await host.disconnect(scene)
      try await keeper.discardState()
      value("app").value = 2
      try await keeper.save([])
      XCTAssertEqual(try stored(), ["app": 2])
    }
  }
}
