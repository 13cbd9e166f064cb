import ArchiveCodec
import RestorationKit
import TestSupport

enum KeeperOperation: CaseIterable {
  case save, saveEverything, saveUnread, discard, putBack, decline, close, launch
}

/// A short life of an app with one state, and a state that was set aside.
final class KeeperHistory: ShortHistory<KeeperOperation> {
  private let log = StateLog("main.rka", first: nil)
  private var owner: SurvivalOwner?
  /// The state that the last operation is to put back; nil if that is not known.
  private let expected: Int?
  /// The state that was put back last; nil if none was.
  private var numberPutBack: Int?

  required init(
    _ operations: [KeeperOperation], after whole: ShortHistory<KeeperOperation>?
  ) {
    expected = (whole as? KeeperHistory)?.numberPutBack
    super.init(operations, after: whole)
  }

  private func newOwner() throws -> SurvivalOwner {
    // Soon too many for a journal, so the file is rewritten, too.
    let owner = try SurvivalOwner(
      process, keys: keys, version: 1, ArchiveLimits(symbolCount: 1 << 16, commitCount: 3))
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
    case .saveEverything: try await save { try await $0.keeper.saveEverything([$0.root]) }
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
    }
  }

  // MARK: Operations

  private func save(
    _ body: (SurvivalOwner) async throws -> PreservationReport
  ) async throws {
    let owner = try owner ?? newOwner()
    if owner.root.below.isEmpty {
      owner.root.below = [SurvivalItem("a", version: 1)]
    }
    owner.root.below[0].value = "value \(log.states.count)"
    let number = log.attempt(owner.nodes)
    owner.number = number
    arm()
    let report = try await body(owner)
    guard !process.hasEnded else { return }
    if report.outcome != .saved { fail("\(report)") }
    log.acknowledge(number, on: disk)
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
    guard let owner, let last = try await owner.keeper.setAsideStates().last else { return }
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

  // MARK: Launches

  override func launch() async throws {
    let owner = try newOwner()
    arm()
    let (report, number) = try await owner.restore()
    if !process.hasEnded { check(report, number.flatMap { Int($0) }) }
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
