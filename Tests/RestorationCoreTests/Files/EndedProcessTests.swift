import ArchiveCodec
import Foundation
import RestorationKit
import Synchronization
import XCTest

/// A process ends at any call that changes something, or the call fails alone.
final class EndedProcessTests: FileTestCase {
  private enum Action: CaseIterable {
    case save, saveAnew, compact, keep, putBack, discard, leaveNoTrace, launch
  }

  private let long = String(repeating: "long", count: 20_000)

  /// Makes a state with a moment, both of which were read.
  private func prepare() throws -> StateFile {
    directory = HookedDirectory()
    try launch(saving: [1: "old", 7: "secret"])
    let file = file()
    try open(file).opened.mark?.endRestore()
    _ = try file.keepMoment(.version)
    try save([1: "new"], to: file)
    return file
  }

  private func perform(_ action: Action, _ file: StateFile) throws {
    switch action {
    case .save: try save([2: "saved"], to: file)
    case .saveAnew:
      try file.close()
      file.letBe()
      try save([2: "saved"], to: file)
    case .compact: try save([2: long], to: file)
    case .keep: _ = try file.keepMoment(.session)
    case .putBack: try file.putBack(try XCTUnwrap(try file.history().first))
    case .discard: try file.discard()
    case .leaveNoTrace: try save([1: "new"], removing: [7], leavingNoTrace: true, to: file)
    case .launch:
      try file.close()
      try open(file).opened.mark?.endRestore()
      try save([2: "saved"], to: file)
      try file.close()
    }
  }

  private let before: [UInt64: String] = [1: "new", 7: "secret"]

  /// What a restore may find after the action.
  private func isAllowed(_ texts: [UInt64: String]?, _ action: Action, isDone: Bool) -> Bool {
    let after: [[UInt64: String]?] =
      switch action {
      case .save, .launch: [[1: "new", 7: "secret", 2: "saved"]]
      case .saveAnew: [[2: "saved"]]
      case .compact: [[1: "new", 7: "secret", 2: long]]
      case .keep: [before]
      case .putBack: [[1: "old", 7: "secret"]]
      case .discard: [nil]
      case .leaveNoTrace: [[1: "new"]]
      }
    return after.contains(texts) || !isDone && texts == before
  }

  /// Runs an action in which the call with each number fails, alone or with all that follow.
  private func forEachCall(
    _ action: Action, isEnd: Bool, _ body: (StateFile, Bool, String) throws -> Void
  ) throws {
    var number = 0
    while true {
      number += 1
      let file = try prepare()
      let count = Mutex(0)
      let failing = number
      directory.hear { _, call throws(ArchiveError) in
        guard call.isChange else { return }
        let made = count.withLock { count in
          count += 1
          return count
        }
        if made == failing || isEnd && made > failing { throw ArchiveError(.inputOutput) }
      }
      var isDone = true
      do { try perform(action, file) } catch { isDone = false }
      let made = count.withLock { $0 }
      directory.hear(nil)
      try body(file, isDone, "\(action), call \(number)")
      if made < number { return XCTAssertGreaterThan(number, 1, "\(action)") }
      guard number < 100 else { return XCTFail("\(action): for ever") }
    }
  }

  func testWheneverTheProcessEndsTheStateBeforeOrAfterComesBack() throws {
    for action in Action.allCases {
      try forEachCall(action, isEnd: true) { _, isDone, text in
        directory = try directory.afterKill()
        let file = file()
        let tree = try open(file).tree
        XCTAssertTrue(
          isAllowed(tree?.texts, action, isDone: isDone), "\(text): \(tree?.texts ?? [:])")
        try file.close()
      }
    }
  }

  func testWhateverCallFailsTheNextSaveOfTheSameLaunchIsStored() throws {
    for action in Action.allCases where action != .putBack && action != .saveAnew {
      try forEachCall(action, isEnd: false) { file, isDone, text in
        let all: [UInt64: String] =
          action == .discard ? [9: "last"] : [1: "new", 2: "saved", 9: "last"]
        do {
          try save(all, to: file)
        } catch {
          // The records are built again.
          try save(all, to: file)
        }
        try file.close()
        let texts = try launch()?.texts
        XCTAssertEqual(texts?[9], "last", text)
        if action != .discard { XCTAssertEqual(texts?[1], "new", text) }
        if action == .leaveNoTrace, isDone { XCTAssertNil(texts?[7], text) }
        if [.save, .compact, .keep, .launch].contains(action) {
          XCTAssertTrue(try isKept(7, in: texts), text)
        }
      }
    }
  }

  /// Whether a record that no save has removed is in the state or in its history.
  private func isKept(_ record: UInt64, in texts: [UInt64: String]?) throws -> Bool {
    if texts?[record] == "secret" { return true }
    return try reasons().contains { !$0.isRestorable }
  }

  func testWheneverTheProcessEndsInADiscardNoOlderStateComesBack() throws {
    try forEachCall(.discard, isEnd: true) { _, _, text in
      directory = try directory.afterKill()
      let texts = try open(file()).tree?.texts
      XCTAssertTrue(texts == nil || texts == before, text)
    }
  }

  func testWheneverTheProcessEndsWhileAStateIsPutBackBothAreThere() throws {
    try forEachCall(.putBack, isEnd: true) { _, _, text in
      directory = try directory.afterKill()
      let file = file()
      let texts = try XCTUnwrap(try open(file).tree?.texts, text)
      let reasons = try reasons(file)
      XCTAssertTrue(
        texts == before && reasons.contains(.version) || reasons.contains(.putBack), text)
    }
  }

  func testWheneverTheProcessEndsTheNextLaunchLeavesNoTraceOfWhatASaveHasRemoved() throws {
    try forEachCall(.leaveNoTrace, isEnd: true) { _, isDone, text in
      directory = try directory.afterKill()
      let file = file()
      let texts = try XCTUnwrap(try open(file).tree?.texts, text)
      XCTAssertTrue(!isDone || texts[7] == nil, text)
      guard texts[7] == nil else { return }
      XCTAssertEqual(try reasons(file), [], text)
    }
  }
}
