internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Brings a stored tree back: makes all objects, then decodes them.
///
/// The tree may be a part of one that was restored before, whose root came late.
final class RestorationRun {
  let tree: StoredTree
  /// What exists already; set before it runs.
  var roots: [any RestorableNode] = []
  /// What is left out, by its places; set before it runs, as the next.
  var skipped: [Int: LeftOutPeriod] = [:]
  /// Told of what changes after it.
  var need: SaveNeed?
  /// Told where it is.
  var progress: RestorationProgress?
  /// Takes the values that are restored.
  var values: ValueStore?
  let types: TypeTable
  let objects: ObjectTable
  let delegate: (any StateDelegate)?
  let trace: ((RestorationTrace) -> Void)?
  let now: Date
  let restored: RestoredObjects
  let late: LateNode?

  // The run is at one element at a time, and these are read or changed for each.
  /// By the place of the stored element, as all that follows.
  @safe @exclusivity(unchecked) var prepared: PreparedTree
  @safe @exclusivity(unchecked) var classes: FormClasses
  /// What the objects that are back can do.
  @safe @exclusivity(unchecked) var traits: [TypeTraits]
  @safe @exclusivity(unchecked) var coders: ElementCoders
  @safe @exclusivity(unchecked) var outcomes: [RestorationReport.NodeOutcome] = []
  /// What a node contained before, made when first needed; roots are under nil.
  var existing: [Int?: ExistingNodes] = [:]
  /// Stacks of which a node is not back; what lay on it is left out.
  var cutStacks: Set<Int> = []
  /// Those of them that were cut at a node that is kept.
  var keptStacks: Set<Int> = []
  /// What is not back and is kept for the next save.
  var unclaimed: Set<Int> = []
  /// The places of roots that were given and not used.
  var unusedRoots: Set<Int> = []
  var scopedObjects = ScopedObjects()
  /// What is stored of all that, for the next save.
  private(set) var rows: Rows?
  /// What came late and is back, with the places at which it was kept.
  private(set) var claimed: [(place: Int, object: any StateRestoring)] = []
  /// Tells what the app could not decode, so that a save does not replace the only copy of it.
  private(set) var undecoded: Set<RecordFingerprint> = []
  /// What the report says, when it has run.
  private var lines = ReportEntries<RestorationReport.NodeOutcome> { [] }

  init(
    _ tree: StoredTree, types: TypeTable, objects: ObjectTable,
    delegate: (any StateDelegate)?, now: Date, trace: ((RestorationTrace) -> Void)? = nil,
    late: LateNode? = nil
  ) {
    self.late = late
    let restored = RestoredObjects(tree, earlier: late?.kept)
    self.restored = restored
    prepared = PreparedTree(tree.outline)
    classes = FormClasses(types, formCount: tree.outline.forms.count)
    traits = Array(repeating: [], count: tree.outline.rows.count)
    coders = ElementCoders(count: tree.outline.rows.count) { [facts = tree.facts] in
      StateDecoder(facts: facts, now: now, restored: restored)
    }
    self.now = now
    self.tree = tree
    self.types = types
    self.objects = objects
    self.delegate = delegate
    self.trace = trace
  }

  /// The coder of the application's own values, for the gate and the delegate.
  private(set) lazy var applicationCoder = StateDecoder(
    path: RestorationPath(), values: openedApplication.state, facts: tree.facts, now: now,
    restored: restored)

  /// The application's own values, and what was found of those with a sensitivity.
  lazy var openedApplication = openApplication()

  /// The time by which values end: no earlier than any that was seen.
  ///
  /// What comes late is as old by the clock of now; that of its save may have been set back.
  var clock: Date { objects.ages.clock(at: late == nil ? max(now, tree.newestTime ?? now) : now) }

  /// Runs from the first lookup to the last finished callback.
  func run() -> RestorationReport {
    prepare()
    if let late, let entry = refuse(late) {
      lines = ReportEntries { [entry] }
      return report()
    }
    restoreValues()
    makeObjects()
    loadViews()
    findViews()
    decode()
    reach(nil)
    layOut()
    let failure = tellApplicationItsState()
    tellAllItsEnd()
    undecoded.formUnion(undecodedPlaces.map { tree.values[$0].fingerprint })
    let unattached = unattachedRecords()
    let kept = keep(unattached)
    reach(nil)
    let notes = [failure].compactMap(\.self) + notesOfApplication()
    rememberAges()
    lines = entries(unattached, ofApplication: notes)
    if late == nil {
      rows = Rows(tree.withFingerprints(), objects.kept, telling: need) {
        restored.object(at: $0)
      }
    }
    restored.forget()
    return report(keeping: kept)
  }

  private func report(keeping kept: [KeptElement] = []) -> RestorationReport {
    var report = RestorationReport(.restored)
    report.lines = lines
    report.kept = kept
    return report
  }

  // MARK: Steps

  /// Finds the classes of all that is stored, and migrates its states.
  private func prepare() {
    if late == nil { tree.laterFingerprints.begin() }
    var preparation = ElementPreparation(
      types: types, delegate: delegate, formerNames: tree.formerNames, clock: clock,
      secrets: tree.secrets, trace: trace)
    prepared = preparation.prepare(tree)
    restored.replacedValues = prepared.values
  }

  /// The line of a node that came late and gets nothing: it is of another class, or what is kept
  /// for it was left out since it crashed; nil if it gets its state.
  private func refuse(_ late: LateNode) -> RestorationReport.Entry? {
    if let mismatch = mismatch(of: late.node) { return mismatch }
    guard skipped[0] != nil else { return nil }
    outcomes = tree.outline.rows.indices.map { place in
      place == 0 ? .skipped : .parentMissing(tree.outline.path(of: 0))
    }
    rememberProbes(in: late.kept)
    return lateEntry(.skipped)
  }

  /// Gives the values of the app what is stored of them, before any hook may read one.
  private func restoreValues() {
    guard late == nil else { return }
    values?.restore(from: tree.outline) { [skipped] place in
      skipped[place] != nil ? nil : restored.state(at: place)
    }
  }

  private func loadViews() {
    for place in outcomes.indices where outcomes[place].isDecodable {
      guard let node = restored.node(at: place) else { continue }
      reach(place)
      note(.loadViewIfNeeded, place)
      node.loadViewIfNeeded()
    }
  }

  private func layOut() {
    if let delegate {
      note(.layOutRestoredInterface)
      delegate.layOutRestoredInterface()
    }
    restoreAfterLayout()
    reach(nil)
  }

  /// Lets the delegate decode the state of the application.
  ///
  /// - Returns: What is to be said if that failed.
  private func tellApplicationItsState() -> ReportNote? {
    guard late == nil, let delegate else { return nil }
    do {
      note(.didDecodeRestorableState)
      try delegate.didDecodeRestorableState(with: applicationCoder)
      return nil
    } catch {
      undecoded.insert(tree.applicationValues.fingerprint)
      return .didDecodeFailed(error.reason)
    }
  }

  /// Tells all that is back that the restore has ended.
  private func tellAllItsEnd() {
    eachRestored { object, place in
      reach(place)
      note(.applicationFinishedRestoringState, place)
      object.applicationFinishedRestoringState()
    }
    reach(nil)
  }

  /// Keeps what is not back for the saves that follow.
  ///
  /// - Returns: All of it, for the report; nothing if the node came late.
  private func keep(_ unattached: Set<UInt64>) -> [KeptElement] {
    let result = result(unattached)
    if let late {
      claimed = late.kept.settleLate(late.place, result)
      rememberProbes(in: late.kept)
      return []
    }
    objects.kept = KeptRecords(result)
    guard let kept = objects.kept else { return [] }
    objects.ages.see(clock)
    let list = kept.list(result)
    rememberProbes(in: kept)
    return list
  }

  private func notesOfApplication() -> [ReportNote] {
    guard late == nil else { return [] }
    let unread = delegate == nil ? nil : applicationCoder.unreadNote
    return [unread].compactMap(\.self) + (openedApplication.opened?.notes ?? [])
  }

  /// The first of what the developer should look at, when it has run.
  var firstProblem: String? { lines.made.first(where: \.isProblem)?.description }

  /// Says which element is made or decoded now; nil if it is none.
  @inline(__always)
  func reach(_ place: Int?) {
    if let progress { progress.reach(place) }
  }

  @inline(__always)
  func note(_ call: RestorationTrace.Call, _ place: Int? = nil) {
    if let trace { tell(trace, call, place) }
  }

  @inline(never)
  private func tell(
    _ trace: (RestorationTrace) -> Void, _ call: RestorationTrace.Call, _ place: Int?
  ) {
    trace(RestorationTrace(call: call, path: place.map(tree.outline.path) ?? RestorationPath()))
  }

  /// Gives the coder of an element to a call.
  @inline(__always)
  func withCoder<Value>(_ place: Int, _ body: (StateDecoder) -> Value) -> Value {
    let coder = coders.take(place)
    let value = body(coder)
    coders.putBack(consume coder, place)
    return value
  }

  /// What is back and of its class, in order.
  @inline(__always)
  func eachRestored(_ body: (any StateRestoring, Int) -> Void) {
    for place in outcomes.indices where outcomes[place].isDecodable {
      if let object = restored.object(at: place) { body(object, place) }
    }
  }
}

/// A node that came after the restore, and what is kept for it.
struct LateNode {
  let node: any RestorableNode
  let kept: KeptRecords
  let place: Int
}
