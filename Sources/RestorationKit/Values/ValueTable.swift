internal import ArchiveCodec
internal import Observation
internal import RestorationFoundation
internal import RestorationLibc
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

    /// Whether there is something to write of the value.
    var isStored: Bool { own != nil || box?.isWhole == true }

    /// Lets another content be the value; the first one that did not fit stays beside it.
    mutating func replace(by stored: ValueContent? = nil, at other: UInt64? = nil) {
      if isUnfit || other != nil, kept == nil, let own, let record {
        (kept, self.record) = ((record, own), nil)
      }
      (record, own, isUnfit) = (other ?? record, stored, false)
    }
  }

  private struct State {
    var entries: [ValueName: Entry] = .init()
    /// What a save has to write or to remove, each with the number of its last change.
    var (changed, changeCount) = (ValueChanges(), 0)
    /// The last record that a value has got, and all that the restore has found, also those of another form.
    var (lastRecord, taken) = (TreeRecord.firstValue - 1, Set<UInt64>())
    /// The windows that are not restorable, that go with the save under way, and that are gone; and those that are
    /// connected and restorable, as their host says at once.
    var (hidden, leaving, gone, restorable) = (
      Set<String>(), Set<String>(), Set<String>(), Set<String>()
    )
    /// Whether the last save could not encode a value, which the next one tries again, and whether one was set
    /// that no save stores.
    var (hasFailed, hasUnstored) = (false, false)
    var isRestored = false
    /// Whether the app has begun its restoration and not ended it; nil before the first.
    var isRunning: Bool?
    weak var file: FileQueue?
    /// Hears of changes.
    var owner: KnownObjects.Owner?
    var mark: LaunchMark?
    /// All problems, and those that no report has had.
    var (problems, newProblems): ([ReportNote], [ReportNote]) = ([], [])
    /// The screens of which a field was set.
    var unreached: [ObjectIdentifier: Screen] = .init()

    mutating func change(_ name: ValueName) {
      changeCount += 1
      changed[name] = changeCount
    }

    /// What is to be stored of a value, with its record; nothing of one in a window that is not restorable, or
    /// goes.
    mutating func row(_ name: ValueName) -> Entry {
      let entry = entries[name] ?? Entry()
      let isHidden = [hidden, leaving, gone].contains { $0.contains(name.window) }
      if isHidden || !entry.isStored { return Entry(record: entry.record, kept: entry.kept) }
      if entry.record == nil {
        // After the last number comes the first one.
        repeat { lastRecord = (lastRecord + 1) & ~(1 << 61) } while taken.contains(lastRecord)
        entries[name]?.record = lastRecord
      }
      return entries[name] ?? entry
    }

    /// Whether a value may be stored without its actor: one of the app, or of a window that is restorable and does
    /// not go.
    func isKnown(_ name: ValueName) -> Bool {
      name.window.isEmpty || restorable.contains(name.window) && !leaving.contains(name.window)
    }
  }

  // Unchecked, since nobody but its actor uses the screen; here it is only asked whether it lives.
  private struct Screen: @unchecked Sendable { weak var screen: (any StateRestoring)? }

  private let state = Mutex(State())
  private let signal = ValueSignal()
  private let registrar = ObservationRegistrar()

  // MARK: Reading and setting

  /// The box of a value, the same for all readers with its type.
  ///
  /// - Parameters:
  ///   - name: The name of the value.
  ///   - initial: The value of the declaration.
  ///   - replacing: Whether the box takes the place of one of another type.
  /// - Returns: Nil if the key has a value of another type, or no archive takes the key, which is a problem.
  func box<Value: Codable & Sendable>(
    _ name: ValueName, _ initial: Value, replacing: Bool = false
  ) -> ValueBox<Value>? {
    let entry = state.withLock { $0.entries[name] ?? Entry() }
    if let box = entry.box as? ValueBox<Value> { return box }
    guard Element.canBeCalled(name.key) else {
      note(.storageEncodingFailed(key: name.key, "A key has 1 to \(Element.longestName) bytes."))
      return nil
    }
    let box = ValueBox(initial)
    // A stored value that did not fit the first type may fit this one. The app's own decoding may read
    // other values, so the lock is not held.
    let found = entry.box == nil || entry.isUnfit ? take(entry, name, in: box) : nil
    let other = state.withLock { state -> (any AnyValueBox)? in
      let known = state.entries[name]?.box
      if let known, known !== entry.box || found?.isWhole != true, !replacing { return known }
      state.entries[name, default: Entry()].box = box
      if let found { state.entries[name]?.isUnfit = !found.isWhole }
      return replacing ? known : nil
    }
    if replacing { other?.reset() }
    found?.problems.forEach { note($0) }
    guard let other, !replacing else { return box }
    if let box = other as? ValueBox<Value> { return box }
    let types = "\(other.valueType) is stored, \(Value.self) was asked for."
    note(.storageTypeMismatch(key: name.key, types + " Give each type a key of its own."))
    return nil
  }

  /// Decodes what is stored, which may run code of the app; nil if nothing is, or this launch leaves it out.
  private func take(_ entry: Entry, _ name: ValueName, in box: any AnyValueBox) -> ValueFinding? {
    let mark = state.withLock(\.mark)
    guard let own = entry.own, mark?.leavesOut(name) != true else { return nil }
    func take(_ content: ValueContent) -> ValueFinding {
      let take = { box.take(content, forKey: name.key) }
      return mark?.reach(valueOf: name.tag, take) ?? take()
    }
    let found = take(own)
    guard !found.isWhole, let kept = entry.kept else { return found }
    // What another version of the app has stored stands beside what this one has set, and now that stands aside.
    let other = take(kept.content)
    guard other.isWhole else { return take(own) }
    state.withLock { state in
      guard state.entries[name]?.kept?.record == kept.record else { return }
      state.entries[name]?.kept = nil
      state.entries[name]?.replace(by: kept.content, at: kept.record)
    }
    return other
  }

  /// Notes that a value was set.
  func noteChange(_ name: ValueName) {
    noteUse(name.key)
    change(name) { $0.replace() }
  }

  /// Removes a value: its readers get the value of their declaration.
  func remove(_ name: ValueName) {
    state.withLock { $0.entries[name]?.box }?.reset()
    change(name) { ($0.own, $0.isUnfit) = (nil, false) }
  }

  private func change(_ name: ValueName, _ body: (inout Entry) -> Void) {
    state.withLock { state -> KnownObjects.Owner? in
      body(&state.entries[name, default: Entry()])
      state.change(name)
      return state.owner
    }?.autosave?.change()
  }

  // MARK: Saving

  /// The file of the values; nil if its state is not one that the actor has restored or saved.
  var file: FileQueue? { state.withLock(\.file) }

  /// Whether the app has any values.
  var isUsed: Bool { state.withLock { !$0.entries.isEmpty } }

  /// Whether a save has something to write, or says that not all is stored.
  var hasChanged: Bool { state.withLock { !$0.changed.isEmpty || $0.hasUnstored } }

  func hasChanged(in window: String) -> Bool {
    state.withLock { $0.changed.keys.contains { $0.window == window } }
  }

  /// Notes whether a window that is connected is restorable.
  func note(_ window: String, isRestorable: Bool) {
    state.withLock { state in
      if isRestorable { state.restorable.insert(window) } else { state.restorable.remove(window) }
    }
  }

  func noteUnstored() { state.withLock { $0.hasUnstored = true } }

  /// Writes the values that have changed.
  ///
  /// - Parameters:
  ///   - builder: Takes the records.
  ///   - hidden: The windows that are not restorable; nil if nobody can ask now, and then only values go that
  ///     need no answer.
  ///   - leaving: The windows that go.
  /// - Returns: The records that go, and what is stored once the records are.
  func write(
    to builder: RecordBuilder, hiding hidden: Set<String>? = nil, leaving: Set<String> = []
  ) -> (removed: [UInt64], changes: ValueChanges) {
    let (all, rows) = state.withLock { state in
      let turned = hidden.map { state.hidden.symmetricDifference($0).union(leaving) } ?? []
      let others = turned.isEmpty ? [] : state.entries.keys.filter { turned.contains($0.window) }
      for name in others { state.change(name) }
      if let hidden { (state.hidden, state.leaving) = (hidden, leaving) }
      let all = state.changed.filter { hidden != nil || state.isKnown($0.key) }
      let names = all.keys.ordered { $0.tag < $1.tag }
      return (all, names.map { ($0, state.row($0)) })
    }
    var (removed, changes) = ([UInt64](), all)
    for (name, entry) in rows {
      guard let record = entry.record, entry.isStored else {
        removed += [entry.record, entry.kept?.record].compactMap(\.self)
        continue
      }
      do {
        try builder.append(record: record) { coder in
          if !name.window.isEmpty { coder.encode(name.window, forKey: StoredValue.windowKey) }
          coder.encode(name.key, forKey: StoredValue.nameKey)
          guard let own = entry.own else { return try entry.box?.encode(with: coder) ?? () }
          try coder.copy(ValueContent.key, from: own.open())
        }
      } catch {
        changes[name] = nil
        note(.storageEncodingFailed(key: name.key, error.reason))
      }
    }
    state.withLock { [changes] in $0.hasFailed = changes.count < all.count }
    return (removed, changes)
  }

  /// Notes that changes are stored; what has changed since is not.
  ///
  /// - Parameters:
  ///   - changes: What was written.
  ///   - file: Where a save of the actor has written it, so that values can follow alone; nil if they were alone.
  func settle(_ changes: ValueChanges, in file: FileQueue? = nil) {
    state.withLock { state in
      for (name, number) in changes where state.changed[name] == number {
        state.changed[name] = nil
        guard !state.row(name).isStored, var entry = state.entries[name] else { continue }
        (entry.record, entry.kept) = (nil, nil)
        state.entries[name] = entry
      }
      if let file { (state.file, state.gone) = (file, state.gone.union(state.leaving)) }
    }
  }

  // MARK: Restoring

  /// Goes on with the values of a keeper, which hears of changes.
  func begin(_ owner: KnownObjects.Owner) { state.withLock { $0.owner = owner } }

  /// Takes the values of a restore; the readers of some may have had the values of declarations.
  ///
  /// - Parameters:
  ///   - opened: The state with the stored values, in the order of their records, and the mark, which says what the
  ///     launch leaves out, and takes what is decoded.
  ///   - file: Where the values are.
  ///   - isRetry: Whether the state could not be read before, so that nobody has read a value too early.
  func restore(_ opened: FileQueue.Opened, in file: FileQueue, isRetry: Bool) {
    let (found, mark) = (opened.stored?.values ?? [], opened.mark)
    beginAnew(withUnread: false)
    let (boxes, isFirst) = state.withLock { state in
      (state.file, state.mark) = (file, mark)
      // What is not stored yet gets records behind these.
      state.lastRecord = max(state.lastRecord, found.last?.record ?? 0)
      state.taken = Set(opened.stored?.records.values ?? [])
      for value in found {
        state.entries[value.name, default: Entry()].replace(by: value.content, at: value.record)
        state.entries[value.name]?.isUnfit = mark?.leavesOut(value.name) == true
        state.changed[value.name] = nil
      }
      defer { state.isRestored = true }
      let isFirst = !state.isRestored && !isRetry
      return (state.entries.filter { $1.box != nil && $1.own != nil }, isFirst)
    }
    for (name, entry) in boxes {
      guard let box = entry.box, let found = take(entry, name, in: box) else { continue }
      state.withLock { $0.entries[name]?.isUnfit = !found.isWhole }
      found.problems.forEach { note($0) }
      if isFirst { note(.valueUsedTooEarly(key: name.key)) }
    }
  }

  /// Lets all that the app has be written anew by its actor, with what nobody has read unless that is to go.
  ///
  /// Of windows that leave nothing is stored any more.
  func beginAnew(withUnread isWithUnread: Bool, leaving: Set<String> = []) {
    state.withLock { state in
      (state.changed, state.file, state.gone) = (.init(), nil, state.gone.union(leaving))
      for (name, entry) in state.entries {
        var new = isWithUnread ? entry : Entry(box: entry.box)
        new.kept = nil
        state.entries[name] = new.box == nil && new.own == nil ? nil : new
        if new.isStored { state.change(name) }
      }
    }
  }

  /// Lets all values be those of their declarations, before another state is restored; until then none is stored.
  func reset() {
    // Those that have gone may come back.
    state.withLock { $0.gone = [] }
    for box in state.withLock({ $0.entries.values.compactMap(\.box) }) { box.reset() }
    beginAnew(withUnread: false)
  }

  // MARK: Reports and problems

  /// Says which values the restore of the app or of a window has left out, and beside which others are kept.
  func describe(in report: inout RestorationReport, of window: String = "") {
    let (entries, mark) = state.withLock { state in
      (state.entries.filter { $0.window == window && $1.own != nil }, state.mark)
    }
    report.kept += entries.compactMap { name, entry in
      entry.kept.map {
        ReportEntry(
          kind: .node, path: name.path, className: "@value", outcome: .restored(by: .existing),
          byteCount: $0.content.byteCount)
      }
    }
    let skipped = entries.keys.filter { mark?.leavesOut($0) == true }.map {
      ReportEntry(kind: .node, path: $0.path, className: "@value", outcome: .skipped)
    }
    if skipped.isEmpty { return }
    report.lines = ReportEntries { [lines = report.lines] in lines.made + skipped }
  }

  /// Says the problems that no report has had.
  func describe(in report: inout PreservationReport) {
    let (problems, isComplete) = state.withLock { state in
      defer { state.newProblems = [] }
      return (state.newProblems, !state.hasFailed && !state.hasUnstored)
    }
    if !isComplete { report.isComplete = false }
    if problems.isEmpty { return }
    report.lines = ReportEntries { [lines = report.lines] in lines.made.noting(problems, .saved) }
  }

  /// The problems of values and of fields; observation sees them.
  var problems: [ReportNote] {
    registrar.access(signal, keyPath: ValueSignal.path)
    return state.withLock(\.problems)
  }

  /// Notes a problem, once: a value may give another reason each time that it is not encoded.
  ///
  /// - Parameters:
  ///   - problem: The problem.
  ///   - isSaid: Whether the report of a save says the problem.
  func note(_ problem: ReportNote, isSaid: Bool = false) {
    if state.withLock(\.problems).contains(where: { $0.repeats(problem) }) { return }
    registrar.withMutation(of: signal, keyPath: ValueSignal.path) {
      state.withLock { state in
        state.problems.append(problem)
        if !isSaid { state.newProblems.append(problem) }
      }
    }
    if isSaid { return }
    Problems.say([problem.description])
    state.withLock(\.owner)?.autosave?.change()
  }

  /// Notes that a value was set, which may be where nothing stores it.
  private func noteUse(_ name: String) {
    let isRunning = state.withLock(\.isRunning)
    if isRunning == false { note(.valueSetAfterEnd(key: name)) }
    if isRunning == nil, self === RestorationSession.ofProcess.values { _ = Self.saysNeverBegun }
  }

  private static let saysNeverBegun =
    atexit {
      let name = RestorationSession.ofProcess.values.state.withLock { state in
        state.isRunning == nil ? state.changed.min { $0.value < $1.value }?.key.key : nil
      }
      guard let name else { return }
      let said = "The value “\(name)” was set, and Restoration.begin was never called, so nothing"
      Problems.say([said + " is stored. Call it at the start of the app."])
    } == 0

  /// Notes that a field of a screen was set.
  func noteSet(_ screen: any StateRestoring, _ name: String) {
    noteUse(name)
    let id = ObjectIdentifier(screen)
    state.withLock { if $0.unreached.count < 64 { $0.unreached[id] = Screen(screen: screen) } }
    guard ScreenFields.fields(of: type(of: screen)).isEmpty else { return }
    note(.fieldsNotFound(className: String(nameOf: type(of: screen))))
    noteUnstored()
  }

  /// Notes that the app has begun its restoration, or ended it: a screen that no save has asked is lost.
  func noteRunning(_ isRunning: Bool) {
    let set = state.withLock { state in
      defer { (state.isRunning, state.unreached) = (isRunning, .init()) }
      return isRunning ? [] : state.unreached.values.compactMap(\.screen)
    }
    for screen in set where !KnownObjects.shared.knows(screen) {
      note(.screenNotReached(className: String(nameOf: type(of: screen))))
    }
  }
}
