internal import ArchiveCodec

/// Brings a stored tree back: makes all objects, then decodes them.
///
/// The tree may be a part of one that was restored before, whose root came late.
final class RestorationRun {
  let tree: StoredTree
  /// The elements that this launch leaves out, by their places.
  let skipped: [Int: LeftOutPeriod]
  let objects: ObjectTable
  /// Notes which element is made or decoded now, for the launch after a crash; nil outside of all.
  let mark: ((Int?) -> Void)?
  let restored: RestoredObjects
  let lookup: ObjectLookup
  /// Nil if the node came late.
  let application: RestoredApplication?
  let late: LateNode?

  // The run is at one element at a time, so accesses to these variables never overlap. They are
  // read or changed for each element.
  @safe @exclusivity(unchecked) var prepared: PreparedTree
  @safe @exclusivity(unchecked) var coders: ElementCoders
  @safe @exclusivity(unchecked) var outcomes: ElementOutcomes

  /// Prepares a run; the app is asked nothing before the run begins.
  ///
  /// - Parameters:
  ///   - tree: The state, or the part of it that is kept for a late node.
  ///   - types: The types of the app.
  ///   - objects: The objects of the state.
  ///   - delegate: The delegate; nil if there is none.
  ///   - roots: The nodes that are there; none besides a late node.
  ///   - skipped: The elements that are left out, by their places.
  ///   - mark: Notes where the run is; nil if nothing can be noted.
  ///   - late: The node that came late; nil if the whole state is restored.
  init(
    _ tree: StoredTree, _ types: TypeTable, _ objects: ObjectTable,
    delegate: (any StateDelegate)?, roots: [any RestorableNode] = [],
    skipped: [Int: LeftOutPeriod], marking mark: ((Int?) -> Void)?, late: LateNode? = nil
  ) {
    (self.tree, self.skipped, self.objects) = (tree, skipped, objects)
    (self.mark, self.late) = (mark, late)
    let (outline, facts, isPutBack) = (tree.outline, tree.facts, tree.isPutBack)
    let restored = RestoredObjects(
      tree, earlier: late?.kept, standing: late?.isBack == true ? late?.node : nil)
    self.restored = restored
    prepared = PreparedTree(outline)
    coders = ElementCoders(count: outline.rows.count) {
      StateDecoder(facts: facts, restored: restored, isPutBack: isPutBack)
    }
    outcomes = ElementOutcomes(outline)
    lookup = ObjectLookup(
      outline, restored, ElementClasses(tree, types),
      ExistingElements(outline, types, objects, roots: roots, late: late?.node),
      delegate: delegate)
    guard late == nil else {
      application = nil
      return
    }
    application = RestoredApplication(
      delegate,
      coder: StateDecoder(
        path: RestorationPath(), values: tree.applicationValues.state, facts: facts,
        restored: restored))
  }

  /// The result of a run, for the report and for the saves that follow.
  struct Result {
    var report: RestorationReport
    /// The rows of the stored state, for the next save; nil if they are not known.
    var rows: Rows?
    /// The objects that came late and are back, with the places at which they were kept.
    var claimed: [(index: Int, object: any StateRestoring)] = []
    /// The fingerprints of the states that the app could not decode, so that a save does not
    /// replace the only copy of one.
    var undecoded: Set<RecordFingerprint> = []
  }

  /// Runs from the first question to the last finished callback.
  ///
  /// - Parameters:
  ///   - values: Takes the values that are restored by their keys; nil if there are none.
  ///   - signal: Is told when an object that is back says that it has changed.
  /// - Returns: The result, with the outcome that the delegate declined or that all was restored.
  func run(filling values: ValueStore? = nil, telling signal: ChangeSignal? = nil) -> Result {
    guard application?.letsRestore() ?? true else {
      return Result(report: RestorationReport(.declined))
    }
    prepare()
    var result = Result(report: RestorationReport(.restored))
    if let late, let entry = refuse(late) {
      result.report.lines = ReportEntries { [entry] }
      return result
    }
    restoreValues(values)
    makeObjects()
    loadViews()
    findViews()
    decode()
    layOut()
    let failure = application?.decode() ?? restored.keptReasons[nil].map { .applicationKept($0) }
    for case (let index?, let reason) in restored.keptReasons {
      outcomes.keep(index, because: reason)
    }
    tellAllItsEnd()
    result.undecoded = undecoded(failure)
    let unattached = unattachedRecords()
    (result.report.kept, result.claimed) = keep(unattached)
    mark?(nil)
    let notes = [failure, application?.unreadNote].compactMap(\.self)
    result.report.lines = entries(unattached, ofApplication: notes)
    if late == nil {
      result.rows = Rows(tree, objects.kept, telling: signal) {
        restored.object(at: $0)
      }
    }
    restored.forget()
    return result
  }

  // MARK: Steps

  /// Finds the classes of all stored elements, and migrates their states.
  private func prepare() {
    if late == nil { tree.laterFingerprints.begin() }
    var preparation = ElementPreparation(
      types: lookup.classes.types, delegate: lookup.delegate, formerNames: tree.formerNames)
    prepared = preparation.prepare(tree)
    lookup.classes.names = prepared.names
    restored.replacedValues = prepared.values
  }

  /// The line of a late node that gets no state: the node is of another class, or the state crashed
  /// before and is left out; nil if the node gets its state.
  private func refuse(_ late: LateNode) -> RestorationReport.Entry? {
    if !tree.outline.rows.isEmpty, !lookup.classes.isSaved(late.node, at: 0) {
      let found = lookup.classes.types.className(of: late.node)
      return lateEntry(.classMismatch(by: .existing, found: found))
    }
    guard skipped[0] != nil else { return nil }
    outcomes.leaveOutAll()
    if !late.isBack { rememberProbes(in: late.kept) }
    return lateEntry(.skipped)
  }

  /// Restores the values of the app, before any hook may read one.
  private func restoreValues(_ values: ValueStore?) {
    values?.restore(from: tree.outline, isPutBack: tree.isPutBack) { [skipped, restored] index in
      skipped[index] != nil ? nil : restored.state(at: index)
    }
  }

  private func loadViews() {
    for index in outcomes.all.indices where outcomes[index].isDecodable {
      guard let node = restored.node(at: index) else { continue }
      mark?(index)
      node.loadViewIfNeeded()
    }
  }

  private func layOut() {
    mark?(nil)
    lookup.delegate?.layOutRestoredInterface()
    restoreAfterLayout()
    mark?(nil)
  }

  /// Tells all objects that are back that the restore has ended.
  private func tellAllItsEnd() {
    eachRestored { object, index in
      mark?(index)
      object.applicationFinishedRestoringState()
    }
    mark?(nil)
  }

  /// Gives the coder of an element to a call.
  @inline(__always)
  func withCoder<Value>(_ index: Int, _ body: (StateDecoder) -> Value) -> Value {
    let coder = coders.take(index)
    let value = body(coder)
    coders.putBack(consume coder, index)
    return value
  }

  /// Calls the body with each object that is back and of the class that was saved, in order.
  @inline(__always)
  func eachRestored(_ body: (any StateRestoring, Int) -> Void) {
    for index in outcomes.all.indices where outcomes[index].isDecodable {
      if let object = restored.object(at: index) { body(object, index) }
    }
  }
}
