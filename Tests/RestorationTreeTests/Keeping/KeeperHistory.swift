import ArchiveCodec
import RestorationKit
import TestSupport

enum KeeperOperation: CaseIterable {
  case save, saveUnread, discard, putBack, decline, close, launch
  case endNow, restoreLate, launchOtherVersion, exchangeKey
}

/// A short life of an app with one state, and a state that was set aside.
final class KeeperHistory: ShortHistory<KeeperOperation> {
  private let log = StateLog("main.rka", first: nil)
  private var owner: SurvivalOwner?
  /// The state that the last operation is to put back; nil if that is not known.
  private let expected: Int?
  /// The state that was put back last; nil if none was.
  private var numberPutBack: Int?
  private var version = 1
  private var hasRestored = false
  /// The key that was exchanged for another one, until the state is said to be sealed with that.
  private var formerKey: ArchiveKey?
  /// The moments that only a former key opens.
  private var foreignMoments: Set<String> = []

  required init(
    _ operations: [KeeperOperation], after whole: ShortHistory<KeeperOperation>?
  ) {
    expected = (whole as? KeeperHistory)?.numberPutBack
    super.init(operations, after: whole)
  }

  private func newOwner() throws -> SurvivalOwner {
    // Soon too many for a journal, so the file is rewritten, too.
    let owner = try SurvivalOwner(
      process, keys: keys, version: version, ArchiveLimits(symbolCount: 1 << 16, commitCount: 3))
    owner.keeper.policy.historyCounts[.session] = 2
    hasRestored = false
    self.owner = owner
    return owner
  }

  /// Stores a state, and another one that nobody reads the first one for, and restores that.
  override func prepare() async throws {
    for _ in 1...2 { try await saveUnread() }
    finish(.kill)
    await launchArmed()
  }

  override func close() async { await owner?.keeper.close() }

  override var found: String? {
    owner.flatMap { $0.number == 0 ? nil : "\($0.number)" }
  }

  override func willCutPower() { log.cut(disk) }

  override func perform(_ operation: KeeperOperation) async throws {
    switch operation {
    case .save: try await save { try await $0.keeper.save([$0.root]) }
    case .saveUnread: try await saveUnread()
    case .discard: try await discard()
    case .putBack: try await putBack()
    case .decline: try await decline()
    case .close:
      arm()
      await close()
    case .launch:
      finish(.kill)
      await launchArmed()
    case .endNow: try await endNow()
    case .restoreLate: try await restoreLate()
    case .launchOtherVersion: try await launchOtherVersion()
    case .exchangeKey: try await exchangeKey()
    }
  }

  // MARK: Operations

  private func save(
    _ body: (SurvivalOwner) async throws -> PreservationReport
  ) async throws {
    let (owner, number) = try change()
    arm()
    let report = try await body(owner)
    guard !process.hasEnded else { return }
    if report.outcome != .saved { fail("\(report)") }
    log.acknowledge(number, on: disk)
  }

  /// Changes a value; the next save has the number.
  private func change() throws -> (SurvivalOwner, number: Int) {
    let owner = try owner ?? newOwner()
    if owner.root.below.isEmpty {
      owner.root.below = [SurvivalItem("a", version: version)]
    }
    owner.root.below[0].value = "value \(log.states.count)"
    owner.number = log.attempt(owner.nodes)
    return (owner, owner.number)
  }

  /// A launch saves over a state that it has not restored.
  private func saveUnread() async throws {
    finish(.kill)
    process = disk.process()
    owner = nil
    try await save { try await $0.keeper.save([$0.root]) }
  }

  private func discard() async throws {
    let number = log.attempt(nil)
    arm()
    try await owner?.keeper.discardState()
    if !process.hasEnded { log.acknowledge(number, on: disk) }
  }

  private func decline() async throws {
    guard let owner else { return }
    let number = log.attempt(nil)
    owner.delegate.saves = false
    defer { owner.delegate.saves = true }
    arm()
    let report = try await owner.keeper.save([owner.root])
    guard !process.hasEnded else { return }
    if report.outcome != .declined { fail("\(report)") }
    log.acknowledge(number, on: disk)
  }

  private func putBack() async throws {
    let last = try await owner?.keeper.history().last { !foreignMoments.contains($0.id) }
    guard let owner, let last else { return }
    if isArmed, let expected { log.attempt(again: expected) }
    arm()
    try await owner.keeper.putBack(last)
    let (report, text) = try await owner.restore()
    guard !process.hasEnded else { return }
    guard let number = text.flatMap({ Int($0) }) else { return fail("put back: \(report)") }
    log.attempt(again: number)
    log.acknowledge(number, on: disk)
    numberPutBack = number
    check(report, number)
  }

  private func endNow() async throws {
    let (owner, number) = try change()
    arm()
    let isStored = owner.keeper.endNow(saving: [owner.root], within: .seconds(60))
    guard !process.hasEnded else { return }
    if isStored {
      log.acknowledge(number, on: disk)
    } else if hasRestored {
      fail("endNow has stored nothing")
    }
  }

  /// A launch without a node saves what is kept of it; then the node comes.
  private func restoreLate() async throws {
    finish(.kill)
    process = disk.process()
    let owner = try newOwner()
    owner.lacksItems = true
    let (report, text) = try await owner.restore()
    owner.lacksItems = false
    guard let number = text.flatMap({ Int($0) }), let saved = log.states[number] else {
      return check(report, nil)
    }
    if !log.find([number]) { fail("\(number) came back, and not one of \(log.allowed.sorted())") }
    hasRestored = true
    owner.number = log.attempt(saved)
    arm()
    _ = try await owner.keeper.save([owner.root])
    if !process.hasEnded { log.acknowledge(owner.number, on: disk) }
    let item = SurvivalItem("a", version: version)
    _ = try await owner.keeper.restore(late: item, below: owner.root)
    guard !process.hasEnded else { return }
    if item.value != saved.last?.value { fail("\(item.value) came late, and not \(saved)") }
    owner.root.below = [item]
    try await save { try await $0.keeper.save([$0.root]) }
  }

  /// A launch of another version keeps the last state of the one before it.
  private func launchOtherVersion() async throws {
    finish(.kill)
    process = disk.process()
    version = 3 - version
    try await restore(try newOwner())
    let hasFound = found != nil
    try await save { try await $0.keeper.save([$0.root]) }
    guard hasFound, !process.hasEnded else { return }
    let reasons = try await owner?.keeper.history().map(\.reason) ?? []
    if !process.hasEnded, !reasons.contains(.version) { fail("of the version before: \(reasons)") }
  }

  /// Until the next save has ended, the state is sealed with one of the two keys.
  private func exchangeKey() async throws {
    formerKey = try keys.exchange()
    try await save { try await $0.keeper.save([$0.root]) }
    guard !process.hasEnded else { return }
    formerKey = nil
    foreignMoments = Set(try await owner?.keeper.history().map(\.id) ?? [])
  }

  // MARK: Launches

  override func launch() async throws {
    let owner = try newOwner()
    arm()
    do {
      try await restore(owner)
    } catch let error as RestorationError where error.archive?.code == .wrongKey {
      // The state is still sealed with the key of before, and nothing has happened to it.
      guard let formerKey, !process.hasEnded else { throw error }
      try keys.exchange(by: formerKey)
      finish(.kill)
      process = disk.process()
      try await restore(try newOwner())
    }
  }

  private func restore(_ owner: SurvivalOwner) async throws {
    let (report, number) = try await owner.restore()
    if !process.hasEnded { check(report, number.flatMap { Int($0) }) }
    hasRestored = true
  }

  private func check(_ report: RestorationReport, _ number: Int?) {
    guard let owner else { return }
    tell("found \(number.map { "\($0)" } ?? "nothing"): \(report)")
    owner.number = number ?? 0
    switch report.outcome {
    case .noArchive:
      let nothing = log.states.indices.filter { log.states[$0] == nil }
      if !log.find(Set(nothing)) { fail("nothing came back of \(log.allowed.sorted())") }
    case .restored:
      guard let number, let saved = log.states[number] else {
        return fail("what came back was never saved")
      }
      if !log.find([number]) { fail("\(number) came back, and not one of \(log.allowed.sorted())") }
      let isSame =
        owner.items.map(\.path) == saved.map(\.path)
        && zip(owner.items, saved).allSatisfy { $0.item.value == $1.value }
      if !isSame { fail("a mixture of \(saved) and \(owner.nodes)") }
    default: fail("\(report.outcome)")
    }
    if !report.problems.isEmpty { fail("\(report)") }
  }
}
