import ArchiveCodec
import Foundation
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// What is kept beside a state, and what stands in for one that cannot be read.
@MainActor
final class GenerationTests: XCTestCase {
  private let keys = MemoryKeyProvider()
  private var now = Date(timeIntervalSince1970: 1_800_000_000)

  private func keeper(_ directory: TemporaryDirectory, version: String = "1") throws -> StateKeeper
  {
    try StateKeeper(
      application: Launch.application, directory: FileStateDirectory(path: directory.path),
      keys: keys,
      environment: ApplicationEnvironment(applicationVersion: version, systemVersion: "6.1"),
      now: { [self] in now })
  }

  /// Saves a value as a launch does that restores first; a long one makes the journal so
  /// long that the state is rewritten.
  private func save(
    _ value: String, in directory: TemporaryDirectory, version: String = "1", isLong: Bool = false,
    bound: GenerationBound? = nil
  ) async throws {
    let keeper = try keeper(directory, version: version)
    if let bound { keeper.policy.generationBound = bound }
    let nodes = [TestNode("a"), TestNode("b")]
    _ = try await keeper.restore(into: nodes)
    nodes[0].value = value
    if isLong { nodes[1].value = String(repeating: value.first ?? "x", count: 70_000) }
    now += 60
    _ = try await keeper.save(nodes)
    await keeper.close()
  }

  /// A state with both kinds of generations: A of another version, then B, then C.
  private func threeGenerations() async throws -> TemporaryDirectory {
    let directory = try TemporaryDirectory()
    try await save("A", in: directory, version: "0")
    try await save("B", in: directory)
    try await save("B", in: directory, isLong: true)
    try await save("C", in: directory)
    return directory
  }

  private func restored(
    _ directory: TemporaryDirectory, version: String = "1"
  ) async throws -> (value: String?, report: RestorationReport) {
    let keeper = try keeper(directory, version: version)
    let node = TestNode("a")
    let report = try await keeper.restore(into: [node, TestNode("b")])
    await keeper.close()
    return (node.value, report)
  }

  /// The value in a file, whatever it is called.
  private func value(_ directory: TemporaryDirectory, _ name: String) throws -> String? {
    let key = try XCTUnwrap(try keys.key(creating: false))
    let archive = try Archive.open(
      MemoryStorage(try directory.bytes(of: name)), key: key,
      context: ArchiveContext([Launch.application, "main"]))
    return try StoredRecords(try XCTUnwrap(archive)).elements.first { $0.path == "a" }?.value
  }

  private static let state = "main.rka"

  /// The files of the directory but that of the lock.
  private func files(_ directory: TemporaryDirectory) throws -> [String] {
    try directory.names().filter { $0 != ".main.rka.lock" }
  }

  private func names(_ directory: TemporaryDirectory, _ reason: String) throws -> [String] {
    try directory.names().filter { $0.hasPrefix("\(Self.state).\(reason)-") }
  }

  // MARK: What is kept

  func testARewriteKeepsWhatItReplacesWithAllThatWasAppended() async throws {
    let directory = try TemporaryDirectory()
    try await save("A", in: directory)
    XCTAssertEqual(try files(directory), [Self.state])
    try await save("B", in: directory)
    XCTAssertEqual(try files(directory), [Self.state], "A change replaces nothing.")
    try await save("C", in: directory, isLong: true)
    let kept = try names(directory, "previous")
    XCTAssertEqual(try kept.map { try value(directory, $0) }, ["C"])
    XCTAssertEqual(try files(directory).count, 2)
  }

  func testTheFirstSaveOfAnotherVersionKeepsWhatTheOneBeforeItHadSavedLast() async throws {
    let directory = try TemporaryDirectory()
    try await save("A", in: directory)
    try await save("B", in: directory)
    try await save("C", in: directory, version: "2")
    try await save("D", in: directory, version: "2")
    let kept = try names(directory, "upgraded")
    XCTAssertEqual(try kept.map { try value(directory, $0) }, ["B"])
    XCTAssertEqual(try value(directory, Self.state), "D")
  }

  func testTheFirstSaveOfAnotherVersionAsksEachNodeOnce() async throws {
    let directory = try TemporaryDirectory()
    try await save("A", in: directory)
    let trace = Trace()
    let keeper = try self.keeper(directory, version: "2")
    let node = TestNode("a", trace: trace)
    _ = try await keeper.restore(into: [node])
    trace.clear()
    node.value = "B"
    _ = try await keeper.save([node])
    XCTAssertEqual(trace.events, ["encode a"])
    XCTAssertEqual(try names(directory, "upgraded").map { try value(directory, $0) }, ["A"])
    await keeper.close()
  }

  func testOfEachVersionTheLastStateIsKeptAndTheNewestThreeStay() async throws {
    let directory = try TemporaryDirectory()
    func kept() throws -> [String?] {
      try names(directory, "upgraded").map { try value(directory, $0) }
    }
    for version in ["1", "2", "1", "2"] { try await save(version, in: directory, version: version) }
    try await save("2 again", in: directory, version: "2")
    XCTAssertEqual(try kept(), ["2", "1"])
    for version in ["3", "4", "5"] { try await save(version, in: directory, version: version) }
    XCTAssertEqual(try kept(), ["2 again", "3", "4"])
    XCTAssertEqual(try files(directory).count, 4)
  }

  func testTheDiskHoldsAtMostWhatTheBoundSays() async throws {
    for (bound, previous, upgraded) in [
      (GenerationBound(), 1, 3), (.none, 0, 0), (GenerationBound(previousCount: 2), 2, 3),
      (GenerationBound(previousCount: -1, upgradedCount: 1), 0, 1),
    ] {
      let directory = try TemporaryDirectory()
      for round in 1...5 {
        for value in ["x", "y"] {
          try await save(
            value, in: directory, version: "\(round)", isLong: true, bound: bound)
        }
      }
      XCTAssertEqual(try names(directory, "previous").count, previous)
      XCTAssertEqual(try names(directory, "upgraded").count, upgraded)
      XCTAssertEqual(try files(directory).count, 1 + previous + upgraded)
    }
  }

  func testTheNewestGenerationIsTheLastOneAlsoIfTheClockIsSetBack() async throws {
    let directory = try TemporaryDirectory()
    for value in ["A", "B", "C", "D", "E"] {
      try await save(value, in: directory, isLong: true, bound: GenerationBound(previousCount: 3))
      now -= 1000
    }
    let keeper = try keeper(directory)
    let generations = try await keeper.generations()
    XCTAssertEqual(
      try generations.map { try value(directory, URL(filePath: $0.location).lastPathComponent) },
      ["E", "D", "C"])
    XCTAssertEqual(generations.map(\.reason), [.previous, .previous, .previous])
  }

  // MARK: What is restored

  private enum Damage: CaseIterable {
    case none, missing, empty, truncated, garbage
  }

  private func damage(_ damage: Damage, _ name: String, in directory: TemporaryDirectory) throws {
    let bytes = try directory.bytes(of: name)
    switch damage {
    case .none: break
    case .missing: try FileManager.default.removeItem(atPath: directory.child(name))
    case .empty: try directory.write([], to: name)
    case .truncated: try directory.write(Array(bytes.prefix(300)), to: name)
    case .garbage: try directory.write(bytes.map { $0 ^ 0x55 }, to: name)
    }
  }

  func testTheNewestThatCanBeReadIsRestoredWhateverTheOthersAre() async throws {
    let source = try await threeGenerations()
    let previous = try XCTUnwrap(try names(source, "previous").first)
    let upgraded = try XCTUnwrap(try names(source, "upgraded").first)
    let order = [Self.state, previous, upgraded]
    XCTAssertEqual(try files(source).sorted(), order.sorted())
    for first in Damage.allCases {
      for second in Damage.allCases {
        for third in Damage.allCases {
          for isLocked in [false, true] {
            let damages = [first, second, third]
            let label = "\(damages), locked \(isLocked)"
            let directory = try TemporaryDirectory()
            for (name, damage) in zip(order, damages) {
              try directory.write(try source.bytes(of: name), to: name)
              try self.damage(damage, name, in: directory)
            }
            let before = try contents(directory)
            keys.isLocked = isLocked
            defer { keys.isLocked = false }
            let keeper = try keeper(directory)
            let node = TestNode("a")
            let isNothing = damages == [.missing, .missing, .missing]
            let best = damages.firstIndex(of: .none)
            do {
              let report = try await keeper.restore(into: [node])
              if isNothing {
                XCTAssertEqual(report.outcome, .noArchive, label)
              } else if isLocked {
                XCTAssertEqual(report.outcome, .locked, label)
              } else {
                let best = try XCTUnwrap(best, label)
                XCTAssertEqual(report.outcome, .restored, label)
                XCTAssertEqual(node.value, ["C", "B", "A"][best], label)
                XCTAssertEqual(report.source?.location, directory.child(order[best]), label)
                XCTAssertEqual(
                  report.source?.generation, [nil, .previous, .upgraded][best], label)
                XCTAssertEqual(
                  report.source?.passedOver.map { $0.reason == .missing },
                  // Of generations nobody knows that they are missing.
                  damages[..<best].enumerated().filter { $0.offset == 0 || $0.element != .missing }
                    .map { $0.element == .missing }, label)
              }
            } catch let error as RestorationError {
              XCTAssertFalse(isLocked || isNothing || best != nil, label)
              XCTAssertNotNil(error.archive, label)
            }
            XCTAssertEqual(try contents(directory).filter { $0.key != ".main.rka.lock" }, before)
            await keeper.close()
          }
        }
      }
    }
  }

  private func contents(_ directory: TemporaryDirectory) throws -> [String: [UInt8]] {
    var contents: [String: [UInt8]] = [:]
    for name in try directory.names() where !name.contains(".launch") {
      contents[name] = try directory.bytes(of: name)
    }
    return contents
  }

  func testTheSaveAfterItSetsTheDamagedStateAsideAndGoesOn() async throws {
    for damage in [Damage.empty, .truncated, .garbage] {
      let directory = try await threeGenerations()
      try self.damage(damage, Self.state, in: directory)
      let damaged = try directory.bytes(of: Self.state)
      let previous = try names(directory, "previous")
      try await save("D", in: directory)
      XCTAssertEqual(try value(directory, Self.state), "D")
      XCTAssertEqual(
        try names(directory, "unreadable").map { try directory.bytes(of: $0) }, [damaged])
      XCTAssertEqual(try names(directory, "previous"), previous)
      let again = try await restored(directory)
      XCTAssertEqual(again.value, "D")
      XCTAssertNil(again.report.source?.generation)
    }
  }

  func testTheReportNamesTheFileAndItsTimeAndWhyItIsNotTheNewest() async throws {
    let directory = try await threeGenerations()
    let saved = now
    now += 30
    var report = try await restored(directory).report
    XCTAssertEqual(report.source?.location, directory.child(Self.state))
    XCTAssertEqual(report.source?.savedAt, saved)
    XCTAssertEqual(report.source?.passedOver, [])
    try directory.write([], to: Self.state)
    report = try await restored(directory).report
    let previous = directory.child(try XCTUnwrap(try names(directory, "previous").first))
    XCTAssertEqual(
      report.description.split(separator: "\n").first,
      "Restored 2 of 2 nodes. It is an older generation, \(previous), saved \(saved - 60)."
        + " \(directory.child(Self.state)) cannot be read (truncated: byte 0, in"
        + " \(directory.child(Self.state))).")
  }

  func testAFailureThatMayPassLetsNoOlderStateTakeItsPlace() async throws {
    let directory = try await threeGenerations()
    try FileManager.default.removeItem(atPath: directory.child(Self.state))
    try FileManager.default.createDirectory(
      atPath: directory.child(Self.state), withIntermediateDirectories: false)
    let keeper = try keeper(directory)
    let error = await restorationError { _ = try await keeper.restore() }
    XCTAssertEqual(error?.archive?.code, .notAFile)
  }

  func testAGenerationThatIsPutBackIsRestored() async throws {
    let directory = try await threeGenerations()
    let keeper = try keeper(directory)
    let last = try await keeper.generations().last
    try await keeper.putBack(try XCTUnwrap(last))
    let node = TestNode("a")
    _ = try await keeper.restore(into: [node])
    XCTAssertEqual(node.value, "A")
    XCTAssertEqual(try names(directory, "replaced").map { try value(directory, $0) }, ["C"])
    let left = try await keeper.generations().map(\.reason)
    XCTAssertEqual(left, [.previous])
    let aside = try await keeper.setAsideStates().map(\.reason)
    XCTAssertEqual(aside, [.replaced])
  }

  // MARK: When it goes

  func testNothingIsLeftOfAStateThatIsDiscardedOrDeclined() async throws {
    for (name, end) in [
      ("discarded", { keeper, _ in try await keeper.discardState() }),
      (
        "declined",
        { keeper, nodes in
          let delegate = TestDelegate()
          delegate.saves = false
          keeper.delegate = delegate
          let report = try await keeper.save(nodes)
          XCTAssertEqual(report.outcome, .declined)
        }
      ),
    ] as [(String, (StateKeeper, [TestNode]) async throws -> Void)] {
      let directory = try await threeGenerations()
      let keeper = try keeper(directory)
      let nodes = [TestNode("a"), TestNode("b")]
      _ = try await keeper.restore(into: nodes)
      try await end(keeper, nodes)
      await keeper.close()
      XCTAssertEqual(try directory.names(), [], name)
    }
  }

  func testTheGenerationsOfANumberedStateGoThoughTheStateIsNotThere() async throws {
    let directory = try await threeGenerations()
    for name in try files(directory) {
      let numbered = name.replacing("main.rka", with: "main~2.rka")
      if name != Self.state { try directory.write(try directory.bytes(of: name), to: numbered) }
    }
    XCTAssertEqual(
      Set(try FileStateDirectory(path: directory.path).names()), ["main", "main~2"])
    let keeper = try keeper(directory)
    _ = try await keeper.restore(into: [TestNode("a"), TestNode("b")])
    try await keeper.discardState(includingSetAside: true)
    await keeper.close()
    XCTAssertEqual(try directory.names(), [])
  }

  func testTheGenerationsGoWithAStateThatIsNotThere() async throws {
    let directory = try await threeGenerations()
    try FileManager.default.removeItem(atPath: directory.child(Self.state))
    let keeper = try keeper(directory)
    try await keeper.discardState()
    await keeper.close()
    XCTAssertEqual(try directory.names(), [])
  }

  // MARK: Saves that fail

  /// A launch of another version whose first save is there, but maybe not for good.
  func testAfterASaveThatMayNotStayTheLastStateOfTheOtherVersionIsStillKept() async throws {
    let directory = try TemporaryDirectory()
    try await save("A", in: directory, version: "1")
    let fails = Mutex(false)
    let store = HookedStore(FileStateDirectory(path: directory.path)) {
      name, call throws(ArchiveError) in
      if name == "main", call == .publish, fails.withLock({ $0 }) {
        throw ArchiveError(.notDurable)
      }
    }
    let keeper = try StateKeeper(
      application: Launch.application, directory: store, keys: keys,
      environment: ApplicationEnvironment(applicationVersion: "2", systemVersion: "6.1"),
      now: { [self] in now })
    let node = TestNode("a")
    _ = try await keeper.restore(into: [node])
    fails.withLock { $0 = true }
    node.value = "B"
    let error = await restorationError { _ = try await keeper.save([node]) }
    XCTAssertEqual(error?.archive?.code, .notDurable)
    fails.withLock { $0 = false }
    node.value = "C"
    _ = try await keeper.save([node])
    await keeper.close()
    XCTAssertEqual(try names(directory, "upgraded").map { try value(directory, $0) }, ["A"])
  }

  func testASaveAfterADiscardSaysNothingOfAStateThatWasSetAsideBefore() async throws {
    let directory = try TemporaryDirectory()
    try await save("A", in: directory)
    let copy = try directory.bytes(of: Self.state)
    let aside = Self.state + ".unreadable-1799999999-0000000000000"
    try directory.write(copy, to: aside)
    // Its end is damaged, so the first save will keep a copy.
    try await save("B", in: directory)
    var bytes = try directory.bytes(of: Self.state)
    bytes += Array(repeating: 7, count: 100)
    try directory.write(bytes, to: Self.state)
    let keeper = try keeper(directory)
    let node = TestNode("a")
    let report = try await keeper.restore(into: [node, TestNode("b")])
    XCTAssertEqual(report.outcome, .restored)
    try await keeper.discardState()
    let saved = try await keeper.save([node])
    XCTAssertNil(saved.setAside)
    await keeper.close()
    XCTAssertEqual(try names(directory, "unreadable"), [aside])
  }

  func testADeclinedStateWithoutAKeyDoesNotComeBackWithIt() async throws {
    for isGenerationAlone in [false, true] {
      try await declineWithoutAKey(isGenerationAlone: isGenerationAlone)
    }
  }

  private func declineWithoutAKey(isGenerationAlone: Bool) async throws {
    let directory = try await threeGenerations()
    if isGenerationAlone {
      try FileManager.default.removeItem(atPath: directory.child(Self.state))
    }
    let key = try XCTUnwrap(try keys.key(creating: false))
    keys.lose()
    let delegate = TestDelegate()
    delegate.saves = false
    var keeper = try keeper(directory)
    keeper.delegate = delegate
    _ = await restorationError { _ = try await keeper.restore(into: [TestNode("a")]) }
    let report = try await keeper.save([TestNode("a")])
    XCTAssertEqual(report.outcome, .declined)
    await keeper.close()
    XCTAssertEqual(try names(directory, "unreadable").count, 1)
    keeper = try StateKeeper(
      application: Launch.application, directory: FileStateDirectory(path: directory.path),
      keys: GivenKey(key: key))
    let node = TestNode("a")
    let next = try await keeper.restore(into: [node])
    XCTAssertEqual(next.outcome, .noArchive)
    await keeper.close()
  }

  func testATornGenerationIsStillOneOfItsVersion() async throws {
    let directory = try TemporaryDirectory()
    try await save("A", in: directory)
    try await save("B", in: directory)
    try directory.write(Array(try directory.bytes(of: Self.state).dropLast(10)), to: Self.state)
    try await save("C", in: directory, version: "2")
    try await save("D", in: directory)
    try await save("E", in: directory, version: "2")
    let kept = try names(directory, "upgraded")
    XCTAssertEqual(try kept.map { try value(directory, $0) }, ["C", "D"])
  }

  func testSavesThatMayNotStayLeaveNoMoreThanTheBoundSays() async throws {
    let directory = try TemporaryDirectory()
    let store = HookedStore(FileStateDirectory(path: directory.path)) {
      name, call throws(ArchiveError) in
      if name == "main", call == .publish { throw ArchiveError(.notDurable) }
    }
    let keeper = try StateKeeper(
      application: Launch.application, directory: store, keys: keys, now: { [self] in now })
    let node = TestNode("a")
    for value in ["x", "y", "x", "y", "x"] {
      node.value = String(repeating: value, count: 70_000)
      let error = await restorationError { _ = try await keeper.save([node]) }
      XCTAssertEqual(error?.archive?.code, .notDurable)
    }
    XCTAssertEqual(try names(directory, "previous").count, 1)
    await keeper.close()
  }

  func testTheLastOfTheGenerationsGoesForGoodAsAStateDoes() async throws {
    let directory = try await threeGenerations()
    try FileManager.default.removeItem(atPath: directory.child(Self.state))
    let calls = Mutex<[HookedStore.Call]>([])
    let store = HookedStore(FileStateDirectory(path: directory.path)) { name, call in
      if name == "main", call.isChange { calls.withLock { $0.append(call) } }
    }
    let keeper = try StateKeeper(
      application: Launch.application, directory: store, keys: keys, now: { [self] in now })
    try await keeper.discardState()
    await keeper.close()
    // The removal of generations is not synced, that of the state is, and it comes last.
    XCTAssertEqual(calls.withLock { $0 }, [.putBack, .removeSetAside, .remove])
    XCTAssertEqual(try directory.names(), [])
  }
}

private struct GivenKey: KeyProvider {
  let key: ArchiveKey
  let location: String? = "given"

  func key(creating: Bool) throws(ArchiveError) -> ArchiveKey? { key }
}
