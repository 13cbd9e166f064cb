import Foundation
import RestorationKit
import TestSupport
import XCTest

/// The states of sessions, and what changes them.
@MainActor
final class SessionTableTests: XCTestCase {
  private func words(_ state: SessionState?) -> String {
    switch state {
    case nil: "-"
    case .unknown: "unknown"
    case .stored: "stored"
    case .connecting(let before): "connecting from \(words(before))"
    case .connected: "connected"
    case .closed(let date): "closed \(Int(date.timeIntervalSinceReferenceDate))"
    case .discarded: "discarded"
    }
  }

  func testEachEventInEachState() async throws {
    let app = SceneLaunch()
    let scene = try await app.host().open()
    func date(_ seconds: Double) -> Date { Date(timeIntervalSinceReferenceDate: seconds) }
    let events: [SessionState.Event] = [
      .connect, .appear(scene), .fail, .leave, .close(at: date(2)), .discard, .bringBack, .forget,
    ]
    let none = "-"
    let table: [(state: SessionState, after: [String])] = [
      (.unknown, ["connecting from unknown", none, none, none, none, none, none, none]),
      (
        .stored,
        ["connecting from stored", none, none, none, "closed 2", "discarded", none, none]
      ),
      (
        .connecting(from: .unknown),
        [none, "connected", "unknown", none, none, "discarded", none, none]
      ),
      (
        .connecting(from: .stored),
        [none, "connected", "stored", none, none, "discarded", none, none]
      ),
      (
        .connecting(from: .closed(at: date(1))),
        [none, "connected", "closed 1", none, none, "discarded", none, none]
      ),
      (.connected(scene), [none, none, none, "stored", none, none, none, none]),
      (
        .closed(at: date(1)),
        ["connecting from closed 1", none, none, none, none, "discarded", none, none]
      ),
      (.discarded, [none, none, none, none, none, none, "stored", "unknown"]),
    ]
    for (state, after) in table {
      XCTAssertEqual(events.map { words(state.after($0)) }, after, words(state))
    }
  }

  func testASessionThatIsReopenedInVainIsAtItsPlaceAmongTheClosedOnes() async throws {
    let app = SceneLaunch()
    let host = try await app.host(launching: false)
    host.closedSceneBound = ClosedSceneBound()
    try await host.launch()
    var scenes: [RestorableScene] = []
    for _ in 0..<4 { scenes.append(try await host.open()) }
    for scene in scenes.dropLast() { try await host.close(scene) }
    let closed = Array(scenes.dropLast().reversed().map(\.session))
    XCTAssertEqual(host.closedSessions, closed)
    let date = try XCTUnwrap(closed[1].closedAt)
    var seen: [[SceneSession]] = []
    host.register(
      SceneConfiguration { [unowned host] in
        seen += [host.closedSessions, host.openSessions]
        throw CancellationError()
      })
    let error = await restorationError { try await host.reopen(closed[1]) }
    XCTAssertEqual(error?.code, .noDelegate)
    XCTAssertEqual(seen.map(Set.init), [[closed[0], closed[2]], [closed[1], scenes[3].session]])
    XCTAssertEqual(host.closedSessions, closed)
    XCTAssertEqual(host.openSessions, [scenes[3].session])
    XCTAssertEqual(closed[1].closedAt, date)
  }

  func testHoweverCallsOverlapASessionIsInOneState() async throws {
    var random = SeededGenerator()
    let app = SceneLaunch()
    let host = try await app.host(launching: false)
    host.closedSceneBound = ClosedSceneBound(count: 2)
    try await host.launch()
    app.prepare = { $0.roots = [TrackedNode("root")] }
    var known: [SceneSession] = []
    for round in 1...60 {
      while host.openSessions.count < 3 { known.append(try await host.open().session) }
      let calls = (0..<Int.random(in: 1...8, using: &random)).map { _ in
        let session = known[Int.random(in: max(0, known.count - 6)..<known.count, using: &random)]
        return (session, Int.random(in: 0..<5, using: &random))
      }
      let tasks = calls.map { session, call in
        Task { @MainActor in
          let scene = session.scene
          switch call {
          case 0: if let scene { try await host.disconnect(scene) }
          case 1: if let scene { try await host.close(scene) }
          case 2: try await host.connect(session)
          case 3: try await host.reopen(session)
          default: try await host.discard(session)
          }
        }
      }
      let what = "round \(round), seed \(random.seed)"
      for task in tasks {
        _ = await task.result
        let (open, closed) = (host.openSessions, host.closedSessions)
        XCTAssertEqual(Set(open + closed).count, open.count + closed.count, what)
        for session in known {
          XCTAssertEqual(closed.contains(session), session.closedAt != nil, what)
          XCTAssertTrue(session.scene == nil || open.contains(session), what)
        }
      }
      XCTAssertLessThanOrEqual(host.closedSessions.count, 2, what)
    }
    let told = app.hostDelegate.discarded.flatMap(\.self)
    XCTAssertEqual(Set(told).count, told.count, "seed \(random.seed)")
    let left = known.filter { !told.contains($0.persistentIdentifier) }
    XCTAssertEqual(Set(left), Set(host.openSessions + host.closedSessions))
  }
}
