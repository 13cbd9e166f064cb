import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// Random lives of an app on a disk that fails: what comes back is a state that was
/// saved, and no older one than the last that was said to be stored.
///
/// Set `RESTORATION_HISTORY_STEPS` for another number of steps than 10,000.
@MainActor
final class SurvivalHistoryTests: XCTestCase {
  func testWhatComesBackWasSavedAndIsNoOlderThanWhatWasSaidToBeStored() async throws {
    let steps = LongTests.count(10_000, or: "RESTORATION_HISTORY_STEPS")
    var counts = SurvivalCounts()
    while counts.steps < steps {
      // Each has a seed of its own, with which it can be run alone.
      let history = SurvivalHistory(SeededGenerator())
      try await history.run(steps: min(steps - counts.steps, 50))
      counts.add(history.counts)
      if testRun?.failureCount ?? 0 > 0 { return }
    }
    // What a history is about has happened in it.
    if steps >= 1000 {
      XCTAssertFalse(counts.all.contains(0), "\(counts)")
    }
  }
}

private struct SurvivalCounts {
  var steps = 0
  var saves = 0
  var failedSaves = 0
  var crashes = 0
  var powerCuts = 0
  var restores = 0
  var undone = 0
  var unreadNodes = 0
  var discards = 0
  var secondOwners = 0

  var all: [Int] {
    [
      steps, saves, failedSaves, crashes, powerCuts, restores, undone, unreadNodes,
      discards, secondOwners,
    ]
  }

  mutating func add(_ other: SurvivalCounts) {
    steps += other.steps
    saves += other.saves
    failedSaves += other.failedSaves
    crashes += other.crashes
    powerCuts += other.powerCuts
    restores += other.restores
    undone += other.undone
    unreadNodes += other.unreadNodes
    discards += other.discards
    secondOwners += other.secondOwners
  }
}

@MainActor
private final class SurvivalHistory {
  private var random: SeededGenerator
  private let disk: FaultyDisk
  private let keys = MemoryKeyProvider()
  private let limits: ArchiveLimits
  private static let names = ["main", "main~2"]
  private let logs = names.map { StateLog("\($0).rka", first: nil) }
  private var owners: [SurvivalOwner?] = [nil, nil]
  private var version = 1
  private var story: [String] = []
  private var nodeCount = 0
  private var hasFailed = false
  private(set) var counts = SurvivalCounts()

  init(_ random: SeededGenerator) {
    self.random = random
    disk = FaultyDisk(seed: self.random.next())
    // Soon too many for a journal, so the file is rewritten often.
    limits = ArchiveLimits(
      symbolCount: 1 << 16, commitCount: .random(in: 8...40, using: &self.random))
  }

  private func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

  private func fail(_ what: String) {
    hasFailed = true
    XCTFail("TEST_SEED=\(random.seed), step \(counts.steps): \(what)\n\(story.suffix(25))")
  }

  func run(steps: Int) async throws {
    try await launch(0)
    for _ in 0..<steps where !hasFailed {
      counts.steps += 1
      try await step()
    }
    // Whatever it was, it is there in the end.
    if !hasFailed { try await cutPower() }
    for place in owners.indices { await close(place) }
  }

  private func step() async throws {
    if owners[0] == nil, chance(50) { try await launch(0) }
    let place = owners[1] != nil && chance(30) ? 1 : 0
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<38:
      try await save(place)
    case 38..<52:
      try await save(place, .failure)
      // What had failed is stored with the next one.
      try await save(place)
    case 52..<62:
      try await save(place, .end)
    case 62..<74:
      try await save(place, .end)
      try await cutPower()
    case 74..<79:
      try await save(place, .lie)
      if chance(50) { try await cutPower() }
    case 79..<84:
      end(place)
      try await launch(place)
    case 84..<89:
      try await cutPower()
    case 89..<92:
      await close(place)
      try await launch(place)
    case 92..<94:
      try await discard(place)
    case 94:
      try await fillDisk(place)
    case 95, 96:
      try await intrude()
    default:
      if owners[1] == nil { try await launch(1) } else { await close(1) }
    }
  }

  // MARK: Changes

  private func change(_ owner: SurvivalOwner) {
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let items = owner.items.map(\.item)
      guard let item = items.randomElement(using: &random) else { return }
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<5: break
      case 5, 6:
        if items.count < 16 {
          nodeCount += 1
          let types = [
            SurvivalItem.self, PlainItem.self, VersionedItem.self, VersionedItem.self,
          ]
          let type = types.randomElement(using: &random) ?? SurvivalItem.self
          let made = type.init("n\(nodeCount)", version: owner.version)
          made.value = "made \(nodeCount)"
          item.below.insert(made, at: .random(in: 0...item.below.count, using: &random))
        }
        continue
      case 7:
        if !item.below.isEmpty {
          item.below.remove(at: .random(in: 0..<item.below.count, using: &random))
        }
        continue
      default:
        item.below.shuffle(using: &random)
        continue
      }
      guard item.unread == nil else { continue }
      // Some fill sectors, and some a journal.
      let count = chance(5) ? 9000 : chance(20) ? 600 : 1
      item.value =
        "\(UInt16.random(in: 0...UInt16.max, using: &random)) "
        + String(repeating: "x", count: count)
    }
  }

  // MARK: Saving

  private func save(_ place: Int, _ fault: FaultyDisk.Fault? = nil) async throws {
    guard let owner = owners[place], !hasFailed else { return }
    let log = logs[place]
    change(owner)
    let number = log.attempt(owner.nodes)
    owner.number = number
    if let fault { arm(fault, owner) }
    counts.saves += 1
    var what = "\(log.name): save \(number)"
    do throws(RestorationError) {
      let report = try await owner.keeper.save([owner.root])
      let hasFailed = owner.process.disarm()
      if owner.process.hasEnded {
        what += ", crashed"
      } else if report.outcome == .saved {
        log.acknowledge(number, on: disk)
        what += hasFailed ? ", stored in spite of a \(fault.map { "\($0)" } ?? "")" : ""
      } else {
        fail("\(what): \(report.outcome)")
      }
    } catch {
      what += ": \(error.archive.map { "\($0.code)" } ?? "\(error)")"
      let hasFailed = owner.process.disarm()
      counts.failedSaves += 1
      if !hasFailed, !disk.isFull { fail("\(what), and nothing had failed: \(error)") }
      if disk.isFull, error.archive?.code != .storageFull {
        fail("\(what), and the disk was full: \(error)")
      }
    }
    story.append(what)
    if owner.process.hasEnded {
      end(place)
      // It may stay away, until the power is cut even.
      if chance(50) { try await launch(place) }
    }
  }

  private func arm(_ fault: FaultyDisk.Fault, _ owner: SurvivalOwner) {
    owner.process.arm(fault, after: fault == .lie ? 0 : .random(in: 0..<16, using: &random))
  }

  private func discard(_ place: Int) async throws {
    guard let owner = owners[place] else { return }
    let log = logs[place]
    counts.discards += 1
    let number = log.attempt(nil)
    if chance(50) { arm(chance(50) ? .failure : .end, owner) }
    var what = "\(log.name): discard \(number)"
    do throws(RestorationError) {
      try await owner.keeper.discardState()
      if !owner.process.hasEnded {
        log.acknowledge(number, on: disk)
        // What was kept is discarded, too.
        for item in owner.items.map(\.item) { item.unread = nil }
      } else {
        log.loseOlder()
      }
      owner.process.disarm()
    } catch {
      what += " failed"
      if !owner.process.disarm() { fail("\(what): \(error)") }
      log.loseOlder()
      // Whether something is kept now, only another launch can tell.
      owner.process.end()
    }
    story.append(what)
    if owner.process.hasEnded {
      end(place)
      try await launch(place)
    }
  }

  /// Saves fail with one error while there is no room, and go on when there is.
  private func fillDisk(_ place: Int) async throws {
    disk.isFull = true
    for _ in 0..<3 { try await save(place) }
    disk.isFull = false
    story.append("room again")
    try await save(place)
  }

  /// An instance that is to be the only one finds the state in use.
  private func intrude() async throws {
    guard owners[0] != nil else { return }
    let process = disk.process()
    let owner = try SurvivalOwner(process, keys: keys, version: version, limits)
    owner.keeper.policy.isSingleInstance = true
    let report = try await withoutWaiting { try await owner.restore() }.0
    let saved = try await withoutWaiting { try await owner.keeper.save([owner.root]) }
    guard case .inUse = report.outcome, case .inUse = saved.outcome else {
      return fail("a second instance: \(report.outcome), \(saved.outcome)")
    }
    story.append("an intruder")
  }

  // MARK: Ends

  /// Kills the process.
  private func end(_ place: Int) {
    guard let owner = owners[place] else { return }
    counts.crashes += 1
    story.append("\(logs[place].name): killed")
    owner.process.end()
    owners[place] = nil
  }

  private func close(_ place: Int) async {
    guard let owner = owners[place] else { return }
    story.append("\(logs[place].name): closed")
    await owner.keeper.close()
    end(place)
  }

  private func cutPower() async throws {
    guard !hasFailed else { return }
    let hadSecond = owners[1] != nil
    for place in owners.indices { end(place) }
    for log in logs { log.cut(disk) }
    disk.cutPower()
    counts.powerCuts += 1
    story.append("power cut")
    try await launch(0)
    if hadSecond { try await launch(1) }
  }

  // MARK: Restoring

  private func launch(_ place: Int) async throws {
    guard owners[place] == nil, !hasFailed else { return }
    if chance(25) { version = .random(in: VersionedItem.versions, using: &random) }
    // The second one has the first free number only while the first one runs.
    if place == 1 {
      if owners[0] == nil { try await launch(0) }
      counts.secondOwners += 1
    }
    var endsMidway = chance(10)
    while !hasFailed {
      let owner = try SurvivalOwner(disk.process(), keys: keys, version: version, limits)
      if endsMidway || chance(10) { arm(endsMidway ? .end : .failure, owner) }
      endsMidway = false
      let goesOn = try await restore(owner, logs[place])
      guard owner.process.hasEnded else {
        if goesOn { owners[place] = owner } else { owner.process.end() }
        if goesOn { return }
        continue
      }
      story.append("killed at launch")
      owner.process.end()
    }
  }

  /// Whether the app goes on after it.
  private func restore(_ owner: SurvivalOwner, _ log: StateLog) async throws -> Bool {
    let what = "\(log.name): launch of version \(owner.version)"
    let report: RestorationReport
    let number: String?
    do {
      (report, number) = try await withoutWaiting { try await owner.restore() }
    } catch {
      let hasFailed = owner.process.disarm()
      story.append("\(what) failed: \((error as? RestorationError)?.archive?.code as Any)")
      if owner.process.hasEnded { return false }
      if hasFailed {
        // The app goes on with its defaults, or is launched again.
        return chance(50)
      }
      if !log.findUnreadable() { fail("\(what) failed: \(error)") }
      return true
    }
    owner.process.disarm()
    if owner.process.hasEnded { return false }
    counts.restores += 1
    switch report.outcome {
    case .restored: check(owner, log, number.flatMap { Int($0) }, report)
    case .noArchive:
      story.append("\(what): nothing")
      let nothing = log.states.indices.filter { log.states[$0] == nil }
      if !log.find(Set(nothing)) { fail("\(what): nothing came back of \(log.allowed.sorted())") }
    default: fail("\(what): \(report.outcome)")
    }
    if report.stateName.map({ "\($0).rka" }) != log.name, case .restored = report.outcome {
      fail("\(what): has \(report.stateName ?? "nil")")
    }
    return true
  }

  private func check(
    _ owner: SurvivalOwner, _ log: StateLog, _ number: Int?, _ report: RestorationReport
  ) {
    let what = "\(log.name): launch of version \(owner.version)"
    guard let number, log.states.indices.contains(number), let saved = log.states[number]
    else {
      return fail("\(what): what came back was never saved: \(report)")
    }
    story.append("\(what): \(number)")
    if number != log.allowed.max() { counts.undone += 1 }
    let allowed = log.allowed.sorted()
    if !log.find([number]) { fail("\(what): \(number) came back, and not one of \(allowed)") }
    let items = owner.items
    let isSame =
      items.map(\.path) == saved.map(\.path)
      && zip(items, saved).allSatisfy { item, node in
        !node.isSeen(by: owner.version) || item.item.value == node.value
      }
    if !isSame {
      fail("\(what): \(number) is a mixture of \(saved)\nand \(owner.nodes)\n\(report)")
    }
    for (item, node) in zip(items, saved) where !node.isSeen(by: owner.version) {
      item.item.unread = node
      counts.unreadNodes += 1
    }
  }

  /// Whoever has the state is not waited for: nobody is about to go.
  private func withoutWaiting<Result: Sendable>(
    _ body: @MainActor @escaping () async throws -> Result
  ) async throws -> Result {
    let task = Task { @MainActor in
      withUnsafeCurrentTask { $0?.cancel() }
      return try await body()
    }
    return try await task.value
  }
}
