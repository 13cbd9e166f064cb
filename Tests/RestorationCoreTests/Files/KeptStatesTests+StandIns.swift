import ArchiveCodec
import Foundation
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// What a restore takes where the stored state cannot be read.
extension KeptStatesTests {
  // MARK: What stands in

  enum Damage: CaseIterable {
    case none, missing, empty, truncated, garbage

    func apply(to name: String, in directory: borrowing TemporaryDirectory) throws {
      let bytes = try directory.bytes(of: name)
      switch self {
      case .none: break
      case .missing: try FileManager.default.removeItem(atPath: directory.child(name))
      case .empty: try directory.write([], to: name)
      case .truncated: try directory.write(Array(bytes.prefix(300)), to: name)
      case .garbage: try directory.write(bytes.map { $0 ^ 0x55 }, to: name)
      }
    }
  }

  /// A state C in a file of its own, with B that a compaction has replaced, and A of another version.
  func threeStates() async throws -> TemporaryDirectory {
    let directory = try TemporaryDirectory()
    try await launch("A", in: directory, version: "0")
    try await launch("B", in: directory)
    try await launch("B", in: directory, isLong: true)
    try await launch("C", in: directory)
    return directory
  }

  /// The files of the states, the newest first.
  func files(_ directory: borrowing TemporaryDirectory) async throws -> [String] {
    let history = try await moments(directory).map { "main.history/\($0.id)" }
    return [Self.state] + history.reversed()
  }

  func contents(_ directory: borrowing TemporaryDirectory, _ names: [String]) throws
    -> [[UInt8]?]
  {
    try names.map { name in
      FileManager.default.fileExists(atPath: directory.child(name))
        ? try directory.bytes(of: name) : nil
    }
  }

  func testTheNewestThatCanBeReadIsRestoredWhateverTheOthersAre() async throws {
    let source = try await threeStates()
    let names = try await files(source)
    let reasons = try await moments(source).map(\.reason)
    XCTAssertEqual(reasons, [.version, .replaced])
    for number in 0..<125 {
      let damages = [number % 5, number / 5 % 5, number / 25].map { Damage.allCases[$0] }
      for isLocked in [false, true] {
        let label = "\(damages), locked \(isLocked)"
        let directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(
          atPath: directory.child("main.history"), withIntermediateDirectories: false)
        for (name, damage) in zip(names, damages) {
          try directory.write(try source.bytes(of: name), to: name)
          try damage.apply(to: name, in: directory)
        }
        let before = try contents(directory, names)
        keys.isLocked = isLocked
        defer { keys.isLocked = false }
        let keeper = try keeper(directory)
        let node = TestNode("a")
        // An empty file is what a power cut leaves of the first save.
        let isNothing =
          [.missing, .empty].contains(damages[0])
          && damages.dropFirst().allSatisfy { $0 == .missing }
        do {
          let report = try await keeper.restore(into: [node, TestNode("b")])
          if isNothing {
            XCTAssertEqual(report.outcome, .noArchive, label)
          } else if isLocked {
            XCTAssertEqual(report.outcome, .locked, label)
          } else {
            let best = try XCTUnwrap(damages.firstIndex(of: .none), label)
            XCTAssertEqual(report.outcome, .restored, label)
            XCTAssertEqual(node.value, ["C", "B", "A"][best], label)
            XCTAssertEqual(
              report.passedOver.count,
              // Of moments nobody knows that they are missing.
              damages[..<best].enumerated().count { $0 == 0 || $1 != .missing }, label)
          }
        } catch let error as RestorationError {
          XCTAssertFalse(isLocked || isNothing || damages.contains(.none), label)
          XCTAssertNotNil(error.archive, label)
        }
        XCTAssertEqual(try contents(directory, names), before, label)
        await keeper.close()
      }
    }
  }

  func testTheReportNamesWhatStandsInAndItsTimeAndWhyItIsNotTheNewest() async throws {
    let directory = try await threeStates()
    let saved = now
    now += 30
    var report = try await restored(directory).report
    XCTAssertEqual(report.location, directory.child(Self.state))
    XCTAssertEqual(report.savedAt, saved)
    XCTAssertEqual(report.passedOver, [])
    try directory.write(Array("text".utf8), to: Self.state)
    report = try await restored(directory).report
    let newest = try await moments(directory).last
    XCTAssertEqual(report.location, newest?.id)
    XCTAssertEqual(report.savedAt, saved - 60)
    let first = report.description.split(separator: "\n").first ?? ""
    XCTAssertTrue(first.contains("It is an older state"), report.description)
    XCTAssertTrue(
      first.contains("\(directory.child(Self.state)) cannot be read"), report.description)
  }

  func testWhatStandsInIsStoredByTheNextSaveAndWhatIsDamagedIsAMoment() async throws {
    for damage in [Damage.truncated, .garbage] {
      let directory = try await threeStates()
      try damage.apply(to: Self.state, in: directory)
      let damaged = try directory.bytes(of: Self.state)
      try await launch("D", in: directory)
      let kept = try await moments(directory, .damaged)
      XCTAssertEqual(
        try kept.map { try directory.bytes(of: "main.history/\($0.id)") }, [damaged])
      let again = try await restored(directory)
      XCTAssertEqual(again.value, "D")
      XCTAssertEqual(again.report.passedOver, [])
    }
  }

  func testWhateverBitOfAFileFlipsAStateThatWasSavedComesBackAndNoFileChanges() async throws {
    let directory = try TemporaryDirectory()
    let limits = ArchiveLimits(symbolCount: 1 << 16, commitCount: 3)
    var saved: [String] = []
    func begin() throws -> StateKeeper {
      try StateKeeper(
        application: Launch.application, directory: FileStateDirectory(path: directory.path),
        keys: keys, limits: limits, now: { [self] in now })
    }
    for number in 1...5 {
      let keeper = try begin()
      let node = TestNode("a")
      _ = try await keeper.restore(into: [node])
      XCTAssertEqual(node.value, saved.last)
      saved.append("value \(number)")
      node.value = saved.last
      _ = try await keeper.save([node])
      await keeper.close()
    }
    let crashing = try begin()
    _ = try await crashing.restore(into: [TestNode("a")])
    let history = try await crashing.history()
    await crashing.close()
    let moment = try XCTUnwrap(history.first)
    XCTAssertEqual(moment.reason, .replaced)
    XCTAssertFalse(moment.isOfMain)
    let names = [Self.state, "main.history/\(moment.id)"]
    let contents = try contents(directory, names)
    for (name, bytes) in zip(names, contents.compactMap(\.self)) {
      for position in LongTests.some(of: bytes.indices) {
        for bit in 0..<8 {
          let label = "\(name), byte \(position), bit \(bit)"
          var changed = bytes
          changed[position] ^= 1 << bit
          try directory.write(changed, to: name)
          let keeper = try begin()
          let node = TestNode("a")
          let report = try await keeper.restore(into: [node])
          await keeper.close()
          XCTAssertEqual(report.outcome, .restored, label)
          let found = try XCTUnwrap(node.value, label)
          XCTAssertTrue(saved.contains(found), label)
          if name != Self.state { XCTAssertEqual(found, saved.last, label) }
          XCTAssertEqual(try directory.bytes(of: name), changed, label)
        }
      }
      try directory.write(bytes, to: name)
    }
    XCTAssertEqual(try self.contents(directory, names), contents)
  }
}
