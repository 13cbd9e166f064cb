import ArchiveCodec
import Foundation
import RestorationKit
import RestorationSharing
import RestorationSharingTesting
import RestorationTesting
import TestSupport
import XCTest

/// Random histories of machines that share a state, and of a network that fails them.
@MainActor
final class RemoteHistoryTests: XCTestCase {
  func testNothingSavedOnMachinesWithACopyIsLost() async throws {
    try await runHistories(hasCopies: [true])
  }

  func testNothingSavedOnMachinesWithoutACopyIsLost() async throws {
    try await runHistories(hasCopies: [false])
  }

  func testNothingSavedIsLostWhereCallsFailAndOverlap() async throws {
    try await runHistories(hasCopies: [true, false], isFaulty: true)
  }

  private func runHistories(hasCopies: [Bool], isFaulty: Bool = false) async throws {
    var random = SeededGenerator()
    let seed = random.seed
    for number in 0..<LongTests.count(60) {
      do {
        try await History(
          seed: random.next(), hasCopies: hasCopies[number % hasCopies.count], isFaulty: isFaulty
        ).run()
      } catch {
        return XCTFail("History \(number) of TEST_SEED=\(seed): \(error)")
      }
    }
  }
}

/// What two machines do, from a seed.
///
/// The state is a list of tokens. Each save adds one, so a state says which saves it follows.
@MainActor
private final class History {
  private let base = MemoryRemoteStateStore()
  private let keys = MemoryKeyProvider()
  private var machines: [HistoryMachine]
  private var random: SeededGenerator
  private var tokenCount = 0
  private var acknowledged: Set<String> = []
  private let hasCopies: Bool
  private var log: [String] = []

  /// What goes on beside the steps.
  private var looks: [Task<Void, Never>] = []
  private let isFaulty: Bool
  private let fails = Flag()

  init(seed: UInt64, hasCopies: Bool, isFaulty: Bool) {
    random = SeededGenerator(seed: seed)
    (self.hasCopies, self.isFaulty) = (hasCopies, isFaulty)
    let (base, keys, fails) = (base, keys, fails)
    fails.isSet = isFaulty
    machines = ["A", "B"].enumerated().map { place, name in
      let store = FaultyRemoteStateStore(base) { call in
        guard fails.isSet else { return nil }
        var random = SeededGenerator(seed: seed &+ UInt64(2 * call.number + place))
        return Self.fault(using: &random)
      }
      let machine = HistoryMachine(name, isFaulty ? store : base, keys, hasCopy: hasCopies)
      if isFaulty, seed % 4 < 2 {
        machine.device.lease = RemoteLease(owner: name, takesOver: true)
      }
      return machine
    }
  }

  private nonisolated static func fault(using random: inout SeededGenerator) -> RemoteFault? {
    let delay = Duration.microseconds(Int.random(in: 0...2000, using: &random))
    let fault: RemoteFault? =
      switch Int.random(in: 0..<24, using: &random) {
      case 0: .unreachable
      case 1: .lostAnswer
      case 2: .repeated
      case 3: .staleRead
      case 4: .silence(for: .milliseconds(3), afterTheCall: true)
      default: nil
      }
    return fault?.delayed(by: delay) ?? .delay(delay)
  }

  /// Lets something else go on while a step is done.
  private func lookBeside(_ machine: HistoryMachine) {
    guard isFaulty, let keeper = machine.keeper else { return }
    switch Int.random(in: 0..<4, using: &random) {
    case 0: looks.append(Task { _ = await keeper.checkRemoteState() })
    case 1: looks.append(Task { do { _ = try await keeper.setAsideStates() } catch {} })
    case 2: looks.append(Task { do { _ = try await keeper.generations() } catch {} })
    default: break
    }
  }

  func run() async throws {
    do {
      try await runAll()
    } catch {
      throw HistoryFailure("\(error)\n\(log.joined(separator: "\n"))")
    }
  }

  private func runAll() async throws {
    for _ in 0..<40 { try await step() }
    for look in looks { await look.value }
    fails.isSet = false
    for machine in machines {
      machine.network.isReachable = true
      machine.network.losesAnswers = false
      machine.network.delaysWrites = false
      machine.network.isBehind = false
    }
    for _ in 0..<6 {
      for machine in machines {
        try await machine.settle()
        try await machine.network.landDelayedWrites()
      }
    }
    try await check()
  }

  private func step() async throws {
    let machine = machines[Int.random(in: 0..<machines.count, using: &random)]
    lookBeside(machine)
    let action = Int.random(in: 0..<(isFaulty ? 14 : 13), using: &random)
    switch action {
    case 0...4:
      tokenCount += 1
      let token = "\(machine.device.name)\(tokenCount)"
      let kept = await machine.save(token)
      log.append("\(machine.device.name) saves \(token): \(kept)")
      if kept { acknowledged.formUnion(machine.tokens) }
    case 5: machine.network.isReachable.toggle()
    case 6 where Bool.random(using: &random): machine.network.losesAnswers.toggle()
    case 6:
      machine.network.delaysWrites.toggle()
      for machine in machines where Bool.random(using: &random) {
        // A call that fails has been told as failed before.
        do { try await machine.network.landDelayedWrites() } catch {}
      }
    case 7: machine.network.isBehind.toggle()
    case 8:
      machine.kill()
      log.append("\(machine.device.name) is killed")
    case 9:
      let outcome = await machine.restore()
      log.append("\(machine.device.name) restores: \(outcome)")
    case 10:
      let status = await machine.keeper?.checkRemoteState()
      log.append("\(machine.device.name) looks: \(status.map { "\($0)" } ?? "-")")
    case 12:
      // What is discarded needs not be there in the end, but all that was set aside before.
      acknowledged.subtract(Self.tokens(of: try await value(storedAs: "main")))
      let outcome = await machine.discard { acknowledged.subtract($0) }
      log.append("\(machine.device.name) discards: \(outcome)")
    case 13:
      let outcome = await machine.putBack(Int.random(in: 0..<3, using: &random))
      log.append("\(machine.device.name) puts back: \(outcome)")
    default:
      let choice: ConflictChoice = Bool.random(using: &random) ? .theirs : .ours
      let outcome = await machine.resolve(choice)
      log.append("\(machine.device.name) keeps \(choice): \(outcome)")
    }
  }

  /// Every save that was acknowledged is in the last state, or in one that was set aside; each of
  /// them is one that somebody has saved, and all machines have the last one.
  private func check() async throws {
    let saved = Set(machines.flatMap(\.saved))
    var found: Set<String> = []
    for name in try await base.names(prefix: "main") {
      guard let value = try await value(storedAs: name) else { continue }
      guard saved.contains(value) else { throw HistoryFailure("“\(value)” was saved by nobody.") }
      found.formUnion(Self.tokens(of: value))
    }
    let lost = acknowledged.subtracting(found)
    guard lost.isEmpty else {
      throw HistoryFailure("\(lost.sorted()) are lost; there are \(found.sorted()).")
    }
    let last = try await value(storedAs: "main")
    for machine in machines {
      _ = await machine.keeper?.checkRemoteState()
      _ = await machine.restore()
      guard machine.value == last else {
        throw HistoryFailure(
          "\(machine.device.name) ends with \(machine.value ?? "nothing"), the store with "
            + "\(last ?? "nothing").")
      }
    }
  }

  static func tokens(of value: String?) -> [String] {
    (value ?? "").split(separator: " ").map(String.init)
  }

  private func value(storedAs name: String) async throws -> String? {
    let scratch = MemoryRemoteStateStore()
    scratch[bytes: "main"] = base[bytes: name]
    return try await Device("reader", scratch, keys: keys).restoredValue()
  }
}

private struct HistoryFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}

@MainActor
private final class HistoryMachine {
  let network: NetworkStore
  let device: Device
  private(set) var keeper: StateKeeper?
  private let root = TestNode("root")
  /// All that was handed to a save, whatever became of it.
  private(set) var saved: Set<String> = []
  private let hasCopy: Bool

  init(
    _ name: String, _ base: any RemoteStateStore, _ keys: MemoryKeyProvider, hasCopy: Bool
  ) {
    network = NetworkStore(base)
    self.hasCopy = hasCopy
    device = Device(name, network, keys: keys, localCopy: hasCopy ? MemoryStateDirectory() : nil)
  }

  var value: String? { root.value }
  var tokens: [String] { History.tokens(of: root.value) }

  func kill() { keeper = nil }

  /// The keeper of the process that runs, with what it brings back.
  ///
  /// It waits for the end of the process before it, which may have a call under way: a second one
  /// at a time would have a state of its own.
  private func running() async throws -> StateKeeper {
    if let keeper { return keeper }
    let keeper = try device.launch()
    keeper.policy.isSingleInstance = true
    self.keeper = keeper
    let end = ContinuousClock.now + .seconds(20)
    while true {
      root.value = nil
      guard case .inUse = try await keeper.restore(into: [root]).outcome else { return keeper }
      guard ContinuousClock.now < end else { throw HistoryFailure("A process does not end.") }
      try await Task.sleep(for: .milliseconds(2))
    }
  }

  func restore() async -> String {
    do {
      if keeper == nil {
        _ = try await running()
      } else {
        root.value = nil
        _ = try await keeper?.restore(into: [root])
      }
      return root.value ?? "nothing"
    } catch {
      // An app that cannot restore ends.
      keeper = nil
      return "\(error)"
    }
  }

  /// Whether what was saved outlasts the process.
  func save(_ token: String) async -> Bool {
    do {
      let keeper = try await running()
      let value = (tokens + [token]).joined(separator: " ")
      root.value = value
      saved.insert(value)
      let report = try await keeper.save([root])
      switch report.outcome {
      case .saved: return true
      case .refused: return hasCopy
      default: return false
      }
    } catch {
      if keeper?.problem != nil { keeper = nil }
      return false
    }
  }

  func resolve(_ choice: ConflictChoice) async -> String {
    do {
      let location = try await keeper?.resolveConflict(keeping: choice)
      if choice == .theirs, keeper != nil { return await restore() }
      return location ?? "-"
    } catch {
      return "\(error)"
    }
  }

  /// Discards what is here, whether that is sent now or later.
  ///
  /// - Parameter willDiscard: Is called with what is here before.
  /// - Returns: What came of it.
  func discard(_ willDiscard: ([String]) -> Void) async -> String {
    do {
      let keeper = try await running()
      willDiscard(tokens)
      root.value = nil
      try await keeper.discardState()
      return "done"
    } catch {
      return "\(error)"
    }
  }

  /// Puts something back that was set aside, and goes on with it.
  func putBack(_ place: Int) async -> String {
    do {
      guard let keeper else { return "-" }
      let states = try await keeper.setAsideStates()
      guard states.indices.contains(place) else { return "-" }
      try await keeper.putBack(states[place])
      return await restore()
    } catch {
      // Nobody knows what is here now.
      keeper = nil
      return "\(error)"
    }
  }

  /// Ends conflicts, and sends what is only here.
  func settle() async throws {
    let keeper = try await running()
    _ = await keeper.checkRemoteState()
    if case .conflict = keeper.remoteStatus {
      do {
        try await keeper.resolveConflict(keeping: .ours)
      } catch {
        // What the other one sends again by itself has come between.
        guard error.code == .conflict else { throw error }
      }
    }
    if case .newer = keeper.remoteStatus { _ = try await keeper.restore(into: [root]) }
  }
}
