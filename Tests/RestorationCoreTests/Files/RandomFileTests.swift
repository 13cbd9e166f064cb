import ArchiveCodec
import Foundation
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// Lives of a state in which anything happens, beside a model that knows what may come back.
final class RandomFileTests: FileTestCase {
  private enum Action: CaseIterable {
    case save, saveMuch, remove, leaveNoTrace, keep, putBack, discard, saveAnew, close
  }

  private func texts(of moment: Moment) throws -> [UInt64: String]? {
    let bytes = try MomentStore(copying: "main", in: directory).bytes(of: moment)
    let key = try XCTUnwrap(try keys.key(creating: false))
    let archive = try Archive.open(
      MemoryStorage(bytes), key: key, context: ArchiveContext([application, "main"]),
      recovery: .recover)
    return try archive.map { try TextTree($0).texts }
  }

  /// Does something; returns what is stored then.
  private func perform(
    _ action: Action, _ file: StateFile, _ stored: [UInt64: String]?,
    _ random: inout SeededGenerator
  ) throws -> [UInt64: String]? {
    let record = UInt64.random(in: 1...6, using: &random)
    let text = "\(random.next())"
    var next = stored ?? [:]
    switch action {
    case .save:
      next[record] = text
      try save([record: text], to: file)
    case .saveMuch:
      next[record] = String(repeating: text, count: 4000)
      try save([record: next[record] ?? ""], to: file)
    case .remove:
      next[record] = nil
      next[7] = text
      try save([7: text], removing: [record], to: file)
    case .leaveNoTrace:
      next[record] = nil
      next[7] = text
      try save([7: text], removing: [record], leavingNoTrace: true, to: file)
    case .keep:
      _ = try file.keepMoment(Bool.random(using: &random) ? .session : .version)
      return stored
    case .putBack:
      guard let moment = try file.history().randomElement(using: &random) else {
        return stored
      }
      let found = try texts(of: moment)
      try file.putBack(moment)
      return found == [:] ? nil : found
    case .discard:
      try file.discard()
      return nil
    case .saveAnew:
      try file.close()
      file.letBe()
      next = [record: text]
      try save(next, to: file)
    case .close:
      try file.close()
      return stored
    }
    return next
  }

  private func live(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    directory = HookedDirectory()
    policy.historyCounts[.session] = 2
    /// What a restore finds; nil for nothing.
    var stored: [UInt64: String]?
    for step in 1...25 {
      now.addTimeInterval(10)
      let file = file()
      let opened = try open(file).opened
      opened.mark?.endRestore()
      guard let action = Action.allCases.randomElement(using: &random) else { return }
      let description = "seed \(seed), step \(step), \(action)"
      let failing = Int.random(in: 1...40, using: &random)
      let isEnd = Bool.random(using: &random)
      let count = Mutex(0)
      directory.hear { _, call throws(ArchiveError) in
        guard call.isChange else { return }
        let number = count.withLock { count in
          count += 1
          return count
        }
        if number == failing || isEnd && number > failing { throw ArchiveError(.inputOutput) }
      }
      let before = stored
      let twins = try directory.afterKill()
      var probe = random
      var expected = before
      var isDone = true
      do {
        expected = try perform(action, file, before, &random)
      } catch {
        isDone = false
        directory.hear(nil)
        // The same in a directory where nothing fails says what the action would have done.
        let own = directory
        directory = twins
        let twin = self.file()
        try open(twin).opened.mark?.endRestore()
        expected = try? perform(action, twin, before, &probe)
        directory = own
      }
      directory.hear(nil)
      directory = try directory.afterKill()
      let next = self.file()
      let (tree, _) = try open(next)
      let found = tree?.texts == [:] ? nil : tree?.texts
      XCTAssertTrue(
        found == (expected == [:] ? nil : expected) || !isDone && found == before,
        "\(description): \(found?.keys.sorted() ?? [])")
      stored = found
      let reasons = try reasons(next)
      // A process that has ended leaves one too many, until another one is kept.
      XCTAssertLessThanOrEqual(reasons.count(where: \.isRestorable), 12, description)
      if action == .discard, isDone {
        XCTAssertFalse(reasons.contains(where: \.isRestorable), description)
      }
      if action == .saveAnew, isDone, let before {
        XCTAssertTrue(
          try next.history().contains { try $0.reason == .unread && texts(of: $0) == before },
          description)
      }
      try next.close()
      alive = []
      directory = try directory.afterKill()
    }
  }

  func testWhateverHappensWhatWasStoredLastOrBeforeComesBack() throws {
    let first = UInt64.random(in: 0 ... .max)
    for number in 0..<60 as Range<UInt64> { try live(seed: first &+ number) }
  }
}
