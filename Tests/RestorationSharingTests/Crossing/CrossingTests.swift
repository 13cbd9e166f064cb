import ArchiveCodec
import Foundation
import RestorationKit
import RestorationSharing
import RestorationTesting
import TestSupport
import XCTest

/// Pairs of features that meet in one state, through four launches.
///
/// Launch 1 stores, launch 2 meets both conditions and saves, launch 3 finds everything as it
/// should be and saves, and launch 4 only looks.
@MainActor
final class CrossingTests: XCTestCase {
  private func check(
    _ features: [Crossing], _ placement: Placement = .siblings, in wholes: [StateWide] = [],
    line: UInt = #line
  ) async {
    for manner in CrossManner.allCases {
      let run = CrossingRun(
        CrossPlan(features: features, placement: placement, manner: manner), in: wholes)
      do {
        try await run.run()
      } catch {
        run.failures.append("It threw \(error).")
      }
      for failure in run.failures { XCTFail("\(run.name), \(manner): \(failure)", line: line) }
    }
  }

  /// A feature with each that comes after it, in three placements.
  private func check(_ first: Crossing) async {
    let place = Crossing.all.firstIndex { $0.name == first.name } ?? 0
    for second in Crossing.all[(place + 1)...] {
      for placement in Placement.allCases { await check([first, second], placement) }
    }
  }

  private func check(_ whole: StateWide, besides others: Crossing...) async {
    for crossing in Crossing.all where !others.contains(where: { $0.name == crossing.name }) {
      await check([crossing], in: [whole])
    }
  }

  func testKept() async { await check(.kept) }
  func testLastState() async { await check(.lastState) }
  func testLate() async { await check(.late) }
  func testNewer() async { await check(.newer) }
  func testSkipped() async { await check(.skipped) }
  func testMoved() async { await check(.moved) }
  func testConflictOurs() async { await check(.conflictOurs) }
  func testConflictTheirs() async { await check(.conflictTheirs) }
  func testPutBack() async { await check(.putBack) }
  // Launches that crash in a window leave out the whole window.
  func testClosedWindow() async { await check(.closedWindow, besides: .skipped) }

  func testAClosedWindowInWhichLaunchesCrashedStaysAsItIsStored() async throws {
    let here = CrossMachine(store: nil, keys: MemoryKeyProvider(), hasWindow: true)
    let plan = CrossPlan(features: [.skipped], placement: .siblings, manner: .telling)
    let (first, tree) = (try here.visit(plan.tree(1), .first), plan.tree(1))
    _ = try await first.restore()
    first.tree.nodes[0].values = ["value": "1"]
    try await first.end()
    for _ in 1...2 {
      let hasCrashed = try await here.crash(tree, in: tree.nodes[0])
      XCTAssertTrue(hasCrashed)
    }
    for isWanted in [false, true] {
      let visit = try here.visit(plan.tree(1), .first)
      if isWanted { try await visit.keeper.retrySkippedNodes() }
      if isWanted {
        _ = try await visit.restore()
      } else {
        let failure = await restorationError { _ = try await visit.restore() }
        XCTAssertEqual(failure?.code, .notConnected)
      }
      XCTAssertEqual(visit.tree.nodes[0].values, isWanted ? ["value": "1"] : [:])
      try await visit.end()
    }
  }

  func testFeaturesOfTheWholeState() async {
    for whole in [StateWide.conflictOurs, .conflictTheirs] {
      await check([], in: [whole, .putBack])
      await check([], in: [whole, .closedWindow])
    }
    await check([], in: [.putBack, .closedWindow])
  }
}

/// The four launches of one pair.
@MainActor
final class CrossingRun {
  let name: String
  var failures: [String] = []
  private var plan: CrossPlan
  private let wholes: [StateWide]
  private let here: CrossMachine
  private let there: CrossMachine?
  private let start: Date

  private var features: [Crossing] { plan.features }

  init(_ plan: CrossPlan, in wholes: [StateWide]) {
    (self.plan, self.wholes) = (plan, wholes)
    let names = plan.features.map(\.name) + wholes.map(\.rawValue)
    name =
      names.joined(separator: " × ")
      + (plan.features.count == 2 ? ", \(plan.placement.rawValue)" : "")
    let isShared = wholes.contains(where: \.isConflict)
    let store = isShared ? MemoryRemoteStateStore() : nil
    let (keys, hasWindow) = (MemoryKeyProvider(), wholes.contains(.closedWindow))
    here = CrossMachine(store: store, keys: keys, hasWindow: hasWindow)
    there = isShared ? CrossMachine(store: store, keys: keys, hasWindow: hasWindow) : nil
    start = here.now
  }

  private func expect<Value: Equatable>(_ found: Value, _ expected: Value, _ what: String) {
    guard found != expected else { return }
    failures.append("\(what) is \("\(found)".prefix(400)), not \("\(expected)".prefix(400)).")
  }

  // MARK: Launches

  func run() async throws {
    CrossNode.tracking = plan.manner == .asked ? .always : .invalidated
    try await storeFirst()
    if wholes.contains(.putBack) { try await putBack() }
    for place in features.indices where plan.isFeature(place, .skipped) {
      for _ in 1...2 {
        let tree = plan.tree(1)
        let hasCrashed = try await here.crash(tree, in: tree.nodes[place])
        expect(hasCrashed, true, "that the crash came")
      }
    }
    here.now = start + 100
    try await meetConditions()
    here.now = start + 200
    let values = try await findEverything()
    here.now = start + 300
    let tree = plan.tree(4)
    let last = try here.visit(tree, .third)
    let report = try await last.restore()
    expect(report?.problems.map(\.description), [], "launch 4: what is wrong")
    expect(report?.kept.map(\.path), [], "launch 4: what is kept")
    expect(([tree.other] + tree.nodes).map(\.values), values, "launch 4: what came back")
    try await last.end(closingWindow: false)
    for reason in expectedReasons { try await lookInto(reason) }
  }

  private func storeFirst() async throws {
    let tree = plan.tree(1)
    let visit = try here.visit(tree, .first)
    _ = try await visit.restore()
    tree.other.values["value"] = "1"
    for place in features.indices { tree.nodes[place].values = ["value": "1"] }
    _ = try await visit.save()
    // In launch 2 the node is not there, so it happens here.
    for place in features.indices
    where plan.isCutOff(place) && plan.isFeature(place, .lastState) {
      features[place].act(visit, tree.nodes[place])
      let report = try await visit.save()
      checkSave(report, place, features[place].saved, features[place].savedNotes, "launch 1")
    }
    try await visit.end()
  }

  /// A launch saves before it restores, so what was stored becomes a moment, which the next one puts back.
  private func putBack() async throws {
    let tree = plan.tree(1)
    let early = try here.visit(tree, .first)
    for node in tree.nodes + [tree.other] { node.values = ["value": "early"] }
    _ = try await early.saveWithoutRestore()
    try await early.end(closingWindow: false)
    let next = try here.visit(CrossTree(), .first)
    let isPutBack = try await next.putBack(.unread)
    expect(isPutBack, true, "that what nobody had read is put back")
    try await next.end()
  }

  /// Another machine saves.
  private func saveThere() async throws {
    guard let there else { return }
    let tree = plan.tree(1)
    let visit = try there.visit(tree, .first)
    _ = try await visit.restore()
    tree.other.values["value"] = "theirs"
    let report = try await visit.save()
    expect(report.outcome, .saved, "the save on the other machine")
    try await visit.end()
  }

  /// A moment is whole, and comes back if it is put back.
  private func lookInto(_ reason: Moment.Reason) async throws {
    let before = try here.visit(CrossTree(), .third)
    let isPutBack = try await before.putBack(reason)
    expect(isPutBack, true, "that the moment \(reason) is put back")
    try await before.end()
    plan.moved = []
    let tree = plan.tree(1)
    let visit = try here.visit(tree, .third)
    _ = try await visit.restore()
    let value =
      switch reason {
      case .putBack: "early"
      case .conflict: wholes.contains(.conflictOurs) ? "theirs" : "ours"
      default: "1"
      }
    expect(tree.other.values, ["value": value], "the other node in the \(reason) state")
    for (place, node) in tree.nodes.enumerated() {
      expect(
        node.values, ["value": reason == .putBack ? "early" : "1"],
        "what is at \(plan.path(place)) in the \(reason) state")
    }
    try await visit.end(closingWindow: false)
  }

  // MARK: Launch 2

  private func meetConditions() async throws {
    let tree = plan.tree(2)
    let visit = try here.visit(tree, .second)
    checkRestore(try await visit.restore(), 2)
    if wholes.contains(.conflictTheirs) {
      tree.other.values["value"] = "ours"
      try await saveThere()
      checkConflict(try await visit.save())
      try await visit.resolve(keeping: .theirs)
      checkRestore(try await visit.restore(), 2)
      expect(tree.other.values["value"], "theirs", "what the other machine has saved")
    }
    for place in features.indices { checkSecond(place, tree) }
    if plan.manner == .asked { try await comeLate(visit, in: 2) }
    for place in features.indices where !plan.arrived.contains(place) {
      act(place, visit)
    }
    tree.other.values["value"] = "2"
    if wholes.contains(.conflictOurs) { try await saveThere() }
    let saved = try await visit.save(askingAll: true)
    if wholes.contains(.conflictOurs) {
      checkConflict(saved)
      try await visit.resolve(keeping: .ours)
    } else {
      expect(saved.outcome, .saved, "launch 2: the save")
    }
    for place in features.indices { checkSecondSave(saved, place) }
    checkKept(saved.kept, bySave: true, "launch 2: what its save keeps")
    let came = plan.arrived
    if plan.manner == .telling { try await comeLate(visit, in: 2) }
    tree.other.values["value"] = "changed in 2"
    let change = try await visit.save()
    expect(change.outcome, .saved, "launch 2: the save of a change")
    let entries = change.entries.filter { $0.path == RestorationPath(["root", "other"]) }
    expect(entries.map(\.outcome), [.saved], "launch 2: the change")
    for place in plan.arrived.subtracting(came) { checkSecondSave(change, place) }
    let reasons = try await visit.keeper.history().map(\.reason.rawValue)
    expect(reasons.sorted(), expectedReasons.map(\.rawValue).sorted(), "launch 2: why states stay")
    try await visit.end()
  }

  /// Lets happen to a node in launch 2 what its feature is about, if it is there.
  private func act(_ place: Int, _ visit: Visit) {
    guard plan.isThere(place) else { return }
    features[place].act(visit, visit.tree.nodes[place])
    if plan.isFeature(place, .moved) { plan.moved.insert(place) }
  }

  private var expectedReasons: [Moment.Reason] {
    wholes.flatMap { whole -> [Moment.Reason] in
      switch whole {
      case .conflictOurs, .conflictTheirs: [.conflict]
      case .putBack: [.unread, .putBack]
      case .closedWindow: []
      }
    }
  }

  private func checkConflict(_ report: PreservationReport) {
    guard report.conflict != nil else {
      return failures.append("The save is \(report.outcome), and no conflict.")
    }
  }

  private func checkSecond(_ place: Int, _ tree: CrossTree) {
    let isFound = plan.isThere(place) && (features[place].isDecoded || plan.arrived.contains(place))
    let expected = isFound ? ["value": "1"] : [:]
    expect(tree.nodes[place].values, expected, "launch 2: what came back at \(plan.path(place))")
  }

  private func checkRestore(_ report: RestorationReport?, _ launch: Int) {
    for place in features.indices {
      let (outcome, notes) = launch == 2 ? second(place) : third(place)
      checkEntry(report, place, outcome, notes, "launch \(launch)")
    }
    guard launch == 2 else { return }
    // A window is restored as a node that comes late, whose report says only of each element that it is kept.
    if wholes.contains(.closedWindow) {
      expect(report?.kept, [], "launch 2: what the restore of its window keeps")
    } else {
      checkKept(report?.kept ?? [], bySave: false, "launch 2: what its restore keeps")
    }
  }

  /// What is not back, and what could not be read, without what is kept with it.
  ///
  /// A node that is skipped and is there all the same is an element of its own, and so are those below it: for a
  /// restore those that are there, for a save all. What is kept below a node that has moved has moved, too.
  private func checkKept(_ kept: [ReportEntry], bySave: Bool, _ what: String) {
    let expected = features.indices.filter { place in
      guard let above = plan.above(place) else { return isKept(place) }
      if plan.isFeature(above, .skipped) { return bySave || plan.isBuilt(place, in: 2) }
      return plan.isThere(above) && !plan.isCutOff(place) && isKept(place)
    }
    let reasons = expected.map { place in
      let isBelowSkipped = plan.isFeature(plan.above(place), .skipped)
      let isRead = plan.isFeature(place, .newer) && plan.isBuilt(place, in: 2)
      let reason = isBelowSkipped && !isRead ? .skipped : features[place].restored
      return "\(plan.path(place)): \(reason)"
    }
    expect(kept.map { "\($0.path): \($0.outcome)" }.sorted(), reasons.sorted(), what)
  }

  private func isKept(_ place: Int) -> Bool {
    plan.isFeature(place, .kept, .newer, .skipped)
      || plan.isFeature(place, .late) && !plan.arrived.contains(place)
  }

  private func checkEntry(
    _ report: RestorationReport?, _ place: Int, _ outcome: ElementOutcome,
    _ notes: Set<ReportNote>, _ what: String
  ) {
    let entries = report?.entries.filter { $0.path == plan.path(place) } ?? []
    expect(entries.map(\.outcome), [outcome], "\(what): what became of \(plan.path(place))")
    expect(Set(entries.flatMap(\.notes)), notes, "\(what): the notes of \(plan.path(place))")
  }

  /// What the restore of launch 2 says.
  private func second(_ place: Int) -> (ElementOutcome, Set<ReportNote>) {
    let feature = features[place]
    guard let above = plan.above(place) else { return (feature.restored, feature.restoredNotes) }
    if plan.isCutOff(place) || !plan.isThere(above) {
      return (.parentMissing(plan.path(above)), feature.restoredNotes.union([.kept]))
    }
    return (feature.restored, feature.restoredNotes)
  }

  private func checkSecondSave(_ report: PreservationReport, _ place: Int) {
    let feature = features[place]
    if let above = plan.above(place), plan.isCutOff(place) || !plan.isThere(above) {
      checkSave(report, place, .keptAsStored, [], "launch 2")
    } else if plan.isFeature(place, .late) && !plan.arrived.contains(place) {
      checkSave(report, place, .keptAsStored, [], "launch 2")
    } else {
      let saved = plan.isNewElement(place) ? .savedWithoutState : feature.saved
      checkSave(report, place, saved, feature.savedNotes, "launch 2")
    }
  }

  private func checkSave(
    _ report: PreservationReport, _ place: Int, _ outcome: ElementOutcome,
    _ notes: Set<ReportNote>, _ what: String
  ) {
    let entries = report.entries.filter { $0.path == plan.path(place) }
    expect(entries.map(\.outcome), [outcome], "\(what): how \(plan.path(place)) is saved")
    expect(
      Set(entries.flatMap(\.notes)), notes, "\(what): the notes of the save of \(plan.path(place))")
  }

  /// Lets the node come that was not there at the restore.
  private func comeLate(_ visit: Visit, in launch: Int) async throws {
    let late = features.indices.first { plan.isFeature($0, .late) }
    guard let late, plan.isCutOff(late) == (launch == 3) else { return }
    let (node, parent) = (visit.tree.nodes[late], plan.container(late, visit.tree))
    parent.restorationChildren.append(node)
    let report = try await visit.restore(late: node, below: parent)
    plan.arrived.insert(late)
    checkEntry(report, late, .restored(by: .existing), [], "launch \(launch), late")
    expect(node.values, ["value": "1"], "launch \(launch): what came back of the late node")
    guard launch == 2 else { return }
    let below = plan.below(late)
    if let below {
      checkEntry(report, below, second(below).0, second(below).1, "launch 2, late")
      checkSecond(below, visit.tree)
    }
    for place in [late, below].compactMap(\.self) where plan.isThere(place) {
      act(place, visit)
      plan.arrived.insert(place)
    }
  }

  // MARK: Launch 3

  /// Restores, looks, and saves.
  ///
  /// - Returns: The values that launch 4 has to find.
  private func findEverything() async throws -> [[String: String]] {
    plan.arrived = []
    let tree = plan.tree(3)
    let visit = try here.visit(tree, .third)
    checkRestore(try await visit.restore(), 3)
    try await comeLate(visit, in: 3)
    expect(tree.other.values, ["value": "changed in 2"], "launch 3: the other node")
    for place in features.indices {
      let value = plan.isNewElement(place) ? [:] : ["value": plan.staysAsStored(place) ? "1" : "2"]
      expect(
        tree.nodes[place].values, value, "launch 3: what came back at \(plan.path(place))")
    }
    for (place, feature) in features.enumerated()
    where plan.isFeature(place, .moved) && plan.isCutOff(place) {
      feature.act(visit, tree.nodes[place])
      plan.moved.insert(place)
    }
    for asksAll in [true, false] {
      tree.other.values["value"] = "changed in 3"
      let saved = try await visit.save(askingAll: asksAll)
      expect(saved.outcome, .saved, "launch 3: the save")
      expect(saved.problems.map(\.description), [], "launch 3: what is wrong with the save")
      expect(saved.kept.map(\.path), [], "launch 3: what is kept")
    }
    try await visit.end()
    return ([tree.other] + tree.nodes).map(\.values)
  }

  /// What the restore of launch 3 says.
  private func third(_ place: Int) -> (ElementOutcome, Set<ReportNote>) {
    let feature = features[place]
    if plan.isFeature(place, .late), plan.isCutOff(place) { return (.notFound, [.kept]) }
    if plan.isNewElement(place) { return (.restoredWithoutState(by: .existing), []) }
    return (feature.later, [])
  }
}
