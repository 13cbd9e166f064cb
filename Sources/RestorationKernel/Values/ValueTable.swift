internal import ArchiveCodec
internal import Observation
internal import RestorationFoundation
internal import Synchronization

/// The name of a value: its key in a window, or in the app.
struct ValueName: Hashable, Sendable {
  /// The identifier of the window's session; empty for the app.
  let window: String
  let key: String

  /// What the record of launches knows the value by.
  var tag: String { window.isEmpty ? key : "\(window) \(key)" }

  /// Where reports have the value.
  var path: RestorationPath { RestorationPath().appending("@values").appending(key) }
}

/// The values of an app and of its windows.
///
/// Any thread may use the table. A stored value is decoded when the value is first read, since only the
/// reader knows its type. Each value is a record of its own, so a change of one writes no other.
package final class ValueTable: Sendable {
  private struct Entry {
    /// The record that the value is written to; nil as long as it has none.
    var record: UInt64?
    /// What is stored, until the app sets the value.
    var own: ValueContent?
    /// Whether what is stored does not fit, or is left out.
    var isUnfit = false
    /// What was stored and did not fit when the app set the value; it stays beside.
    var kept: (record: UInt64, content: ValueContent)?
    var box: (any AnyValueBox)?

    var records: [UInt64] { [record, kept?.record].compactMap(\.self) }

    /// Whether there is something to write of the value.
    var isStored: Bool { own != nil || box?.isWhole == true }

    /// Takes the next record of the value: the one that was written last at the end.
    mutating func take(_ stored: StoredValue, isLeftOut: Bool) {
      if let record, let own { kept = kept ?? (record, own) }
      (record, own, isUnfit) = (stored.record, stored.content, isLeftOut)
    }

    /// Lets the app's value be written; the first one that did not fit stays beside it.
    mutating func replace() {
      if isUnfit, kept == nil, let record, let own { (kept, self.record) = ((record, own), nil) }
      (own, isUnfit) = (nil, false)
    }
  }

  private struct State {
    var entries: [ValueName: Entry] = [:]
    var nextRecord = ValueRecord.first
    /// What a save has to write, or to remove.
    var changed: Set<ValueName> = []
    /// What the save under way has taken.
    var underWay: Set<ValueName> = []
    /// Whether the last save could not encode a value; the next one tries again.
    var hasFailed = false
    /// Whether a value was set that no save stores.
    var hasUnstored = false
    var isRestored = false
    weak var file: FileQueue?
    /// Hears of changes.
    var owner: KnownObjects.Owner?
    var mark: LaunchMark?
    var problems = ValueProblems()

    /// Marks all that the app has.
    mutating func changeAll() {
      (changed, underWay) = (Set(entries.filter(\.value.isStored).keys), [])
    }

    /// The entry of a name, with a record if it has something to write.
    mutating func row(_ name: ValueName) -> Entry? {
      if entries[name]?.record == nil, entries[name]?.isStored == true {
        entries[name]?.record = nextRecord
        nextRecord += 1
      }
      return entries[name]
    }
  }

  private let state = Mutex(State())
  private let signal = ValueSignal()
  private let registrar = ObservationRegistrar()

  // MARK: Reading and setting

  /// The box of a value, the same for all readers with its type.
  ///
  /// - Returns: Nil if the key has a value of another type, or no archive takes the key, which is a problem.
  func box<Value: Codable & Sendable>(_ name: ValueName, _ initial: Value) -> ValueBox<Value>? {
    let entry = state.withLock { $0.entries[name] ?? Entry() }
    if let box = entry.box as? ValueBox<Value> { return box }
    guard Element.canBeCalled(name.key) else {
      note(
        .storageEncodingFailed(
          key: name.key, "A key has 1 to \(Element.longestName) bytes."))
      return nil
    }
    let box = ValueBox(initial)
    // A stored value that did not fit the first type may fit this one. The app's own decoding may read
    // other values, so the lock is not held.
    let found = entry.box == nil || entry.isUnfit ? take(entry, name, in: box) : nil
    let other = state.withLock { state -> (any AnyValueBox)? in
      let known = state.entries[name]?.box
      if let known, known !== entry.box || found?.isWhole != true { return known }
      state.entries[name, default: Entry()].box = box
      if let found { state.entries[name]?.isUnfit = !found.isWhole }
      return nil
    }
    found?.problems.forEach { note($0) }
    guard let other else { return box }
    if let box = other as? ValueBox<Value> { return box }
    let types = "\(other.valueType) is stored, \(Value.self) was asked for."
    note(.storageTypeMismatch(key: name.key, types + " Give each type a key of its own."))
    return nil
  }

  /// Decodes what is stored, which may run code of the app; nil if nothing is, or this launch leaves it out.
  private func take(
    _ entry: Entry, _ name: ValueName, in box: any AnyValueBox
  ) -> ValueFinding? {
    let mark = state.withLock(\.mark)
    guard let own = entry.own, mark?.leavesOut(name) != true else { return nil }
    func take(_ content: ValueContent) -> ValueFinding {
      guard box.isOfApp, let mark else { return box.take(content, forKey: name.key) }
      return mark.reach(valueOf: name.tag) { box.take(content, forKey: name.key) }
    }
    let found = take(own)
    guard !found.isWhole, let kept = entry.kept?.content else { return found }
    // What another version of the app has stored stands beside what this one has set.
    let other = take(kept)
    return other.isWhole ? other : take(own)
  }

  /// Replaces a box of another type by a new one, and tells the readers of the old one.
  func replace<Value: Codable & Sendable>(_ name: ValueName, _ initial: Value) -> ValueBox<Value> {
    let box = ValueBox(initial)
    state.withLock { state in
      defer { state.entries[name, default: Entry()].box = box }
      return state.entries[name]?.box
    }?.reset()
    return box
  }

  /// Notes that a value was set.
  func noteChange(_ name: ValueName) {
    noteUse(name.key)
    change(name) { $0.replace() }
  }

  /// Removes a value: its readers get the value of their declaration.
  func remove(_ name: ValueName) {
    let box = state.withLock { $0.entries[name]?.box }
    box?.reset()
    change(name) { ($0.own, $0.isUnfit) = (nil, false) }
  }

  private func change(_ name: ValueName, _ body: (inout Entry) -> Void) {
    let owner = state.withLock { state in
      body(&state.entries[name, default: Entry()])
      state.changed.insert(name)
      return state.owner
    }
    owner?.autosave?.change()
  }

  // MARK: Saving

  /// The file of the values; nil as long as nothing was restored.
  var file: FileQueue? { state.withLock(\.file) }

  /// Whether the app has any values.
  var isUsed: Bool { state.withLock { !$0.entries.isEmpty } }

  /// Whether a save has something to write, or says that not all is stored.
  var hasChanged: Bool { state.withLock { !$0.changed.isEmpty || $0.hasUnstored } }

  func hasChanged(in window: String) -> Bool {
    state.withLock { $0.changed.contains { $0.window == window } }
  }

  func noteUnstored() { state.withLock { $0.hasUnstored = true } }

  /// Writes the values that have changed, and takes their marks.
  ///
  /// - Parameters:
  ///   - builder: Takes the records.
  ///   - windows: The windows that go with their values.
  ///   - isAlone: Whether no save of the actor is about this: what that one has taken is written, too.
  /// - Returns: The records that go, and what was taken.
  func write(
    to builder: RecordBuilder, leaving windows: Set<String> = [], isAlone: Bool = false
  ) -> (removed: [UInt64], taken: Set<ValueName>) {
    let (taken, rows) = state.withLock { state in
      var taken = state.changed
      if isAlone { taken.formUnion(state.underWay) } else { state.underWay = taken }
      (state.changed, state.hasFailed) = ([], false)
      if !windows.isEmpty {
        taken.formUnion(state.entries.keys.filter { windows.contains($0.window) })
      }
      let names = taken.sorted { ($0.window, $0.key) < ($1.window, $1.key) }
      return (taken, names.compactMap { name in state.row(name).map { (name, $0) } })
    }
    var (removed, failed): ([UInt64], Set<ValueName>) = ([], [])
    for (name, entry) in rows {
      if windows.contains(name.window) || !entry.isStored {
        removed += entry.records
        continue
      }
      do {
        try Self.write(name, entry, to: builder)
      } catch {
        failed.insert(name)
        note(.storageEncodingFailed(key: name.key, error.reason))
      }
    }
    if !failed.isEmpty {
      state.withLock { [failed] in ($0.changed, $0.hasFailed) = ($0.changed.union(failed), true) }
    }
    return (removed, taken)
  }

  private static func write(
    _ name: ValueName, _ entry: Entry, to builder: RecordBuilder
  ) throws {
    guard let record = entry.record, ValueRecord.contains(record) else {
      throw ArchiveError(.limitExceeded, subject: "values")
    }
    try builder.append(record: record) { coder in
      if !name.window.isEmpty { coder.encode(name.window, forKey: ValueRecord.windowKey) }
      coder.encode(name.key, forKey: ValueRecord.nameKey)
      if let own = entry.own {
        try coder.copy(ValueContent.key, from: own.open())
      } else {
        try entry.box?.encode(with: coder)
      }
    }
  }

  /// Notes what has become of the save under way.
  func settle(isStored: Bool) {
    state.withLock { state in
      if !isStored { state.changed.formUnion(state.underWay) }
      state.underWay = []
    }
  }

  /// Lets the next save write what could not be written.
  func giveBack(_ taken: Set<ValueName>) { state.withLock { $0.changed.formUnion(taken) } }

  /// Forgets the values of windows that are gone.
  func forget(_ windows: [String]) {
    state.withLock { state in
      state.entries = state.entries.filter { !windows.contains($0.key.window) }
    }
  }

  // MARK: Restoring

  /// Goes on with the values of a keeper, which hears of changes.
  func begin(_ owner: KnownObjects.Owner) { state.withLock { $0.owner = owner } }

  /// Takes the values of a restore; the readers of some may have had the values of declarations.
  ///
  /// - Parameters:
  ///   - found: The stored values, in the order of their records.
  ///   - windows: The windows that are stored; values of others go.
  ///   - file: Where the values are.
  ///   - mark: Says what the launch leaves out, and takes what is decoded.
  func restore(
    _ found: [StoredValue], of windows: Set<String>, in file: FileQueue, _ mark: LaunchMark?
  ) {
    discard()
    let (boxes, isFirst) = state.withLock { state in
      (state.file, state.mark) = (file, mark)
      for value in found {
        state.nextRecord = max(state.nextRecord, value.record + 1)
        state.entries[value.name, default: Entry()]
          .take(value, isLeftOut: mark?.leavesOut(value.name) == true)
        state.changed.remove(value.name)
        if value.name.window.isEmpty || windows.contains(value.name.window) { continue }
        state.entries[value.name]?.own = nil
        state.changed.insert(value.name)
      }
      defer { state.isRestored = true }
      return (state.entries.filter { $1.box != nil && $1.own != nil }, !state.isRestored)
    }
    for (name, entry) in boxes {
      guard let box = entry.box, let found = take(entry, name, in: box) else { continue }
      state.withLock { $0.entries[name]?.isUnfit = !found.isWhole }
      found.problems.forEach { note($0) }
      if isFirst { note(.valueUsedTooEarly(key: name.key)) }
    }
  }

  /// Lets all that the app has be written anew, what nobody has read as it was stored.
  func writeAnew() {
    state.withLock { state in
      for name in state.entries.keys { state.entries[name]?.kept = nil }
      state.changeAll()
    }
  }

  /// Forgets what is stored and nobody has read, or did not fit.
  func discard() {
    state.withLock { state in
      state.entries = state.entries.compactMapValues { entry in
        entry.box.map { Entry(box: $0) }
      }
      state.changeAll()
    }
  }

  /// Lets all values be those of their declarations, before another state is restored.
  func reset() {
    for box in state.withLock({ $0.entries.values.compactMap(\.box) }) { box.reset() }
    discard()
  }

  // MARK: Reports and problems

  /// Says which values the restore of the app or of a window has left out, and beside which others are kept.
  func describe(in report: inout RestorationReport, of window: String = "") {
    let (entries, mark) = state.withLock { state in
      (state.entries.filter { $0.key.window == window }, state.mark)
    }
    let skipped = entries.keys.filter { entries[$0]?.own != nil && mark?.leavesOut($0) == true }
    report.kept += entries.compactMap { name, entry in
      entry.kept.map {
        KeptElement(
          kind: .node, path: name.path, className: "@value", reason: .restored(by: .existing),
          isStateAlone: true, since: nil, byteCount: $0.content.byteCount)
      }
    }
    if skipped.isEmpty { return }
    report.lines = ReportEntries { [lines = report.lines] in
      lines.made
        + skipped.map {
          ReportEntry(kind: .node, path: $0.path, className: "@value", outcome: .skipped)
        }
    }
  }

  /// Says the problems that no report has had.
  func describe(in report: inout PreservationReport) {
    let (problems, isComplete) = state.withLock { state in
      (state.problems.takeNew(), !state.hasFailed && !state.hasUnstored)
    }
    if !isComplete { report.isComplete = false }
    if problems.isEmpty { return }
    report.lines = ReportEntries { [lines = report.lines] in lines.made.noting(problems, .saved) }
  }

  /// The problems of values and of fields; observation sees them.
  var problems: [ReportNote] {
    registrar.access(signal, keyPath: ValueSignal.path)
    return state.withLock(\.problems.all)
  }

  /// Notes a problem, once; `isSaid` if the report of a save says it.
  func note(_ problem: ReportNote, isSaid: Bool = false) {
    guard state.withLock({ $0.problems.isNew(problem) }) else { return }
    registrar.withMutation(of: signal, keyPath: ValueSignal.path) {
      state.withLock { $0.problems.add(problem, isSaid: isSaid) }
    }
    if isSaid { return }
    Problems.say([problem.description])
    state.withLock(\.owner)?.autosave?.change()
  }

  /// Notes that a value was set, which may be where nothing stores it.
  private func noteUse(_ name: String) {
    switch state.withLock(\.problems.isRunning) {
    case true?: break
    case false?: note(.valueSetAfterEnd(key: name))
    case nil: if self === RestorationSession.ofProcess.values { NeverBegun.noteUse(of: name) }
    }
  }

  /// Notes that a field of a screen was set; one that no save has asked for may never be stored.
  func noteSet(_ screen: any StateRestoring, _ name: String, _ field: any AnyValueBox) {
    noteUse(name)
    if field.isReached { return }
    guard state.withLock({ $0.problems.noteUnreached(screen, field) }), Problems.isDebugBuild,
      Problems.isHeard
    else { return }
    // An app shows a screen soon after it has made the screen, so this one was forgotten.
    Task.detached { [weak self] in
      try? await Task.sleep(for: .seconds(2))
      self?.noteUnreached()
    }
  }

  private func noteUnreached() {
    for name in state.withLock({ $0.problems.takeUnreached() }) {
      note(.screenNotReached(className: name))
    }
  }

  /// Whether the app has begun its restoration and not ended it; nil before the first.
  var isRunning: Bool? {
    get { state.withLock(\.problems.isRunning) }
    set {
      if newValue == false { noteUnreached() }
      state.withLock { $0.problems.isRunning = newValue }
    }
  }
}
