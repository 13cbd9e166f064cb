import ArchiveCodec
import Foundation
import RestorationInspection
import RestorationKit
import RestorationSharing
import TestSupport
import XCTest

/// A date that is no number cannot be described: the system ends the process that tries.
@MainActor
final class TimeTests: XCTestCase {
  private let launch = Launch()
  private let notANumber = Date(timeIntervalSinceReferenceDate: .nan)

  func testAClockThatGivesNoNumberCountsAsTheSystems() async throws {
    launch.now = notANumber
    let before = Date.now
    let gone = TestNode("gone", value: "Oslo")
    _ = try await launch.keeper().save([TestNode("root", children: [gone])])
    for _ in 0..<2 {
      let keeper = try launch.keeper()
      let root = TestNode("root")
      let restored = try await keeper.restore(into: [root])
      let saved = try await keeper.save([root])
      XCTAssertFalse("\(restored)\(saved)".isEmpty)
      for date in [restored.source?.savedAt, saved.kept.first?.since] {
        // A date that is no number compares as equal with any other.
        let seconds = try XCTUnwrap(date?.timeIntervalSince(before))
        XCTAssertTrue((0...60).contains(seconds), "\(seconds)")
      }
    }
  }

  func testStoredDatesThatAreNoNumbersCountAsMissing() async throws {
    let builder = RecordBuilder()
    try builder.append(record: 1) { encoder in
      encoder.encodeContainer(forKey: "facts") {
        $0.encode(notANumber, forKey: "RestorationKit.timestamp")
      }
    }
    try builder.append(record: 2) { $0.encodeReferences(to: [3], forKey: "roots") }
    try builder.append(record: 3) { encoder in
      encoder.encodeContainer(forKey: "node") { node in
        node.encode("root", forKey: "identifier")
        node.encode(name: "TestNode", forKey: "class")
        node.encode(notANumber, forKey: "keptSince")
      }
    }
    let key = try XCTUnwrap(try launch.keys.key(creating: true))
    let context = StoredState.context(of: "main", in: Launch.application)
    _ = try Archive.write(
      try builder.finish(), to: launch.store.memory(named: "main"), key: key, context: context)
    let state = try XCTUnwrap(
      try StoredState.open(
        launch.store.memory(named: "main"), named: "main", of: Launch.application, with: .key(key)))
    let facts = try XCTUnwrap(state.facts)
    XCTAssertNil(facts.savedAt)
    var dates: [Date?] = []
    try state.outline().forEach { dates.append($0.keptSince) }
    XCTAssertEqual(dates, [nil])
    let keeper = try launch.keeper()
    let restored = try await keeper.restore(into: [TestNode("root")])
    XCTAssertFalse("\(restored)".isEmpty)
    XCTAssertNil(restored.source?.savedAt)
  }

  func testAConflictHasNoTimeThatIsNoNumber() {
    let conflict = RemoteConflict(savedBy: "there", savedAt: notANumber)
    XCTAssertNil(conflict.savedAt)
    XCTAssertEqual(conflict.description, "there has saved the state")
    XCTAssertEqual(
      Refusal("", ["isRemoved": "false", "savedAt": "nan"]).conflict, RemoteConflict())
  }
}
