internal import ArchiveCodec
internal import Observation
internal import Synchronization

/// The values of an app, or of one of its scenes, by their keys.
///
/// Any thread may use the store. A stored value is decoded when the value is first
/// read, since only the reader knows its type.
package final class ValueStore: Sendable {
  private struct Entry {
    /// The restored value, until somebody reads it.
    var stored: ValueContent?
    var box: (any RestorableValueBox)?
    /// The key with the bytes of the box's declaration; an equal key may have others.
    var declaredKey: String?
    /// Called for each change of the value.
    var tell: (@Sendable () -> Void)?
    /// Whether the app has removed the value, and not set it since.
    var isRemoved = false

    var isStored: Bool { stored != nil || box?.isStored == true }
  }

  private struct State {
    var entries: [String: Entry] = [:]
    var problems: [ReportNote] = []
    /// The problems that saves have found, which their reports have.
    var problemsOfSaves: [ReportNote] = []
    /// The stored values that were replaced although they could not be decoded as a whole.
    var undecoded: Set<RecordFingerprint> = []
    /// Called when a key or a problem comes, or a key goes.
    var tell: (@Sendable () -> Void)?
    var isRestored = false
    /// Whether a value was set or removed since ``takeHasChanged()`` was called last.
    var hasChanged = false
    /// Whether a value was set that no store has, so that no save stores it.
    var hasUnstored = false
    /// Called for each change of any value.
    var changed: (@Sendable () -> Void)?
    var decoding: DecodingNote?
    /// The screens of which a field was set that no save has asked for.
    var unreached: [ObjectIdentifier: Unreached] = [:]
    /// Above this count, the screens are dropped that a save has asked or that are gone.
    var mostUnreached = 64
    /// Whether the app has begun its restoration and not ended it; nil before the first.
    var isRunning: Bool?
  }

  /// A screen of which a field was set that no save has asked for yet.
  //
  // Unchecked, since nobody but its actor uses the screen; here it is only asked whether it lives.
  private struct Unreached: @unchecked Sendable {
    weak var screen: (any StateRestoring)?
    let className: String
    let field: any RestorableFieldBox

    var isLost: Bool { screen != nil && !field.isReached }
  }

  /// Whether the values belong to a scene, and not to an app.
  let isOfScene: Bool
  private let state = Mutex(State())
  private let signal = ValueSignal()
  private let registrar = ObservationRegistrar()

  package init(ofScene isOfScene: Bool = false) {
    self.isOfScene = isOfScene
  }

  // MARK: The values of an app, a test or a scene

  /// The values of the app in a process.
  static let ofProcess = ValueStore()

  /// The values of the running test; nil in an app.
  @TaskLocal static var ofTest: ValueStore?

  /// The values of the scene whose part of the interface is made now; nil outside of scopes.
  @TaskLocal static var scope: ValueStore?

  /// The values of the app.
  static var ofApp: ValueStore { ofTest ?? ofProcess }

  // MARK: Reading and setting

  /// The box of a key, the same for all readers with its type.
  ///
  /// - Returns: Nil if the key has a value of another type, or no archive takes the
  ///   key, which is a problem.
  func box<Value: Codable & Sendable>(
    _ key: String, _ initial: Value
  ) -> ValueBox<Value>? {
    let (known, unread, declared) = state.withLock { state in
      (state.entries[key]?.box, state.entries[key]?.stored, state.entries[key]?.declaredKey)
    }
    if let declared, !declared.utf8.elementsEqual(key.utf8) {
      note(
        .storageEncodingFailed(
          key: key,
          "Another value has the same key in another Unicode form. Write both in one form, or give"
            + " one another key."))
      return nil
    }
    if let box = known as? ValueBox<Value> { return box }
    guard !key.isEmpty, key.utf8.count <= NodeRecord.longestIdentifier else {
      note(
        .storageEncodingFailed(key: key, "A key has 1 to \(NodeRecord.longestIdentifier) bytes."))
      return nil
    }
    // A stored value that did not fit the first type may fit this one.
    let stored = unread ?? known?.unfitContent
    if let known, stored == nil { return noteOtherType(known, key, Value.self) }
    let box = ValueBox(initial)
    // The app's own decoding may read other values, so the lock is not held.
    let finding = stored.map { take($0, in: box, key) }
    if let known, finding?.isWhole == false { return noteOtherType(known, key, Value.self) }
    let other = state.withLock { state -> (any RestorableValueBox)? in
      if let other = state.entries[key]?.box, other !== known { return other }
      state.entries[key, default: Entry()].box = box
      state.entries[key]?.declaredKey = key
      state.entries[key]?.stored = nil
      return nil
    }
    if let other { return other as? ValueBox<Value> ?? noteOtherType(other, key, Value.self) }
    if let finding { note(finding) }
    return box
  }

  /// Decodes a value, which may run code of the app.
  private func take(
    _ stored: ValueContent, in box: any RestorableValueBox, _ key: String
  ) -> ValueFinding {
    guard box.isOfApp, let decoding = state.withLock(\.decoding) else {
      return box.take(stored, forKey: key)
    }
    return decoding(key) { box.take(stored, forKey: key) }
  }

  /// Notes the value with a key while the body decodes it, on any thread, for the launch after a crash.
  typealias DecodingNote = @Sendable (_ key: String, _ body: () -> ValueFinding) -> ValueFinding

  /// Sets the note that is told of each value before it is decoded.
  func noteDecoding(_ note: DecodingNote?) { state.withLock { $0.decoding = note } }

  private func noteOtherType<Value>(
    _ box: any RestorableValueBox, _ key: String, _ type: Value.Type
  ) -> ValueBox<Value>? {
    note(
      .storageTypeMismatch(
        key: key,
        "\(box.valueType) is stored, \(type) was asked for. Give each type a key of its own."))
    return nil
  }

  /// Replaces a box of another type by a new one, and tells the readers of the old one.
  func replace<Value: Codable & Sendable>(_ key: String, _ initial: Value) -> ValueBox<Value> {
    let box = ValueBox(initial)
    let old = state.withLock { state in
      defer { state.entries[key, default: Entry()].box = box }
      return state.entries[key]?.box
    }
    old?.reset()
    return box
  }

  /// Notes that a field of a screen was set; one that no save has asked for may never be stored.
  func noteSet(_ screen: any StateRestoring, _ name: String, _ field: any RestorableFieldBox) {
    noteUse(name)
    guard !field.isReached else { return }
    let unreached = Unreached(screen: screen, className: "\(type(of: screen))", field: field)
    let isNew = state.withLock { state in
      guard state.isRunning == true else { return false }
      // Most screens are shown soon after they are made, and are only swept.
      if state.unreached.count >= state.mostUnreached {
        state.unreached = state.unreached.filter { $0.value.isLost }
        state.mostUnreached = max(64, 2 * state.unreached.count)
      }
      return state.unreached.updateValue(unreached, forKey: ObjectIdentifier(screen)) == nil
    }
    guard isNew, Problems.isDebugBuild, Problems.isHeard else { return }
    // An app shows a screen soon after it has made the screen, so this one was forgotten.
    Task.detached { [weak self] in
      try? await Task.sleep(for: .seconds(2))
      self?.noteUnreached()
    }
  }

  /// Notes the screens of which a field was set, and that no save has asked for.
  func noteUnreached() {
    let lost = state.withLock { state in
      defer { state.unreached = [:] }
      return state.unreached.values.filter(\.isLost)
    }
    for name in Set(lost.map(\.className)).sorted() { note(.screenNotReached(className: name)) }
  }

  /// Notes that a value was set, which may be where nothing stores it.
  private func noteUse(_ name: String) {
    if self === Self.ofProcess { Problems.noteUse(of: name) }
    if state.withLock(\.isRunning) == false { note(.valueSetAfterEnd(key: name)) }
  }

  /// Notes that the app has begun its restoration.
  func begin() { state.withLock { $0.isRunning = true } }

  /// Notes that the app has ended its restoration.
  func end() {
    noteUnreached()
    state.withLock { $0.isRunning = false }
  }

  /// Tells the listeners that the value of a key has changed.
  func noteChange(_ key: String, undecoded: RecordFingerprint? = nil) {
    noteUse(key)
    let (tell, changed) = state.withLock { state in
      if let undecoded { state.undecoded.insert(undecoded) }
      state.hasChanged = true
      state.entries[key]?.isRemoved = false
      return (state.entries[key]?.tell ?? state.tell, state.changed)
    }
    tell?()
    changed?()
  }

  /// Removes a value: its readers get the value of their declaration.
  func remove(_ key: String) {
    let (box, tell, changed) = state.withLock { state in
      state.entries[key]?.stored = nil
      state.entries[key]?.isRemoved = true
      state.hasChanged = true
      return (state.entries[key]?.box, state.tell, state.changed)
    }
    box?.reset()
    tell?()
    changed?()
  }

  // MARK: Problems

  /// The problems of the use of values; observation sees them.
  var problems: [ReportNote] {
    registrar.access(signal, keyPath: ValueSignal.path)
    return state.withLock(\.problems)
  }

  func note(_ problem: ReportNote) {
    let isNew = state.withLock { !$0.problems.contains(problem) }
    guard isNew else { return }
    Problems.say([problem.description])
    let tell = registrar.withMutation(of: signal, keyPath: ValueSignal.path) {
      state.withLock { state in
        if !state.problems.contains(problem) { state.problems.append(problem) }
        return state.tell
      }
    }
    tell?()
  }

  private func note(_ finding: ValueFinding) {
    for note in finding.notes where note.isProblem { self.note(note) }
  }

  /// The problems of the use of values, and of values that saves could not store; observation
  /// sees them.
  var allProblems: [ReportNote] {
    registrar.access(signal, keyPath: ValueSignal.path)
    return state.withLock { state in
      state.problems
        + state.problemsOfSaves.filter { !state.problems.contains(where: $0.repeats) }
    }
  }

  /// Notes a problem that a save has found, and that its report has.
  func noteOfSave(_ problem: ReportNote) {
    guard state.withLock({ !$0.problemsOfSaves.contains(where: problem.repeats) }) else { return }
    registrar.withMutation(of: signal, keyPath: ValueSignal.path) {
      state.withLock { state in
        if !state.problemsOfSaves.contains(where: problem.repeats) {
          state.problemsOfSaves.append(problem)
        }
      }
    }
  }

  /// Whether a value was set that no store has.
  var hasUnstored: Bool { state.withLock(\.hasUnstored) }

  func noteUnstored() { state.withLock { $0.hasUnstored = true } }

  // MARK: Saving and restoring

  /// The keys of all values that are to be stored, in order.
  var storedKeys: [String] {
    state.withLock { state in
      state.entries.filter { key, entry in
        entry.isStored && !key.isEmpty && key.utf8.count <= NodeRecord.longestIdentifier
      }.keys.sorted()
    }
  }

  /// Sets the closure that is called when a key or a problem comes.
  func listen(_ tell: @escaping @Sendable () -> Void) { state.withLock { $0.tell = tell } }

  /// Sets the closure that is called when the value of a key changes.
  func listen(to key: String, _ tell: @escaping @Sendable () -> Void) {
    state.withLock { $0.entries[key, default: Entry()].tell = tell }
  }

  /// Sets the closure that is called for each change of a value.
  func listenToChanges(_ changed: @escaping @Sendable () -> Void) {
    state.withLock { $0.changed = changed }
  }

  /// Whether a value was set or removed since ``takeHasChanged()`` was called last.
  var hasChanged: Bool { state.withLock(\.hasChanged) }

  /// Notes that the stored values could not be read and may come later, when somebody may have read
  /// the values of the declarations.
  func noteUnread() { state.withLock { ($0.isRestored, $0.hasChanged) = (true, false) } }

  /// Whether a value was set or removed since this method was called last.
  func takeHasChanged() -> Bool {
    state.withLock { state in
      defer { state.hasChanged = false }
      return state.hasChanged
    }
  }

  /// The problems that were not taken yet.
  func takeProblems() -> [ReportNote] {
    state.withLock { state in
      defer { state.problems = [] }
      return state.problems
    }
  }

  /// The value of a key in its stored form; nil if it cannot be encoded.
  func content(of key: String) -> ValueContent? {
    let entry = state.withLock { $0.entries[key] }
    if let stored = entry?.stored { return stored }
    do {
      return try entry?.box?.content()
    } catch {
      note(.storageEncodingFailed(key: key, error.reason))
      return nil
    }
  }

  /// The present values, as a change to a stored state.
  var change: ValueChange {
    let removed = state.withLock { state in
      state.entries.filter(\.value.isRemoved).map(\.key)
    }
    var change = ValueChange(contents: [:], removed: Set(removed))
    for key in storedKeys { change.contents[key] = content(of: key) }
    return change
  }

  /// Takes values for keys that have none.
  func fill(with found: [(key: String, stored: ValueContent)]) {
    for (key, stored) in found {
      let box = state.withLock { state -> (any RestorableValueBox)? in
        let box = state.entries[key]?.box
        if box == nil { state.entries[key, default: Entry()].stored = stored }
        return box
      }
      if let box, !box.isSet { note(take(stored, in: box, key)) }
    }
  }

  /// Writes the value of a key.
  func encode(_ key: String, with coder: StateEncoder) throws {
    let entry = state.withLock { $0.entries[key] }
    if let stored = entry?.stored {
      try coder.encode(stored, forKey: Self.valueKey)
    } else if let box = entry?.box {
      try box.encode(with: coder, forKey: Self.valueKey)
    }
  }

  /// Takes the values of a restore.
  ///
  /// A value that somebody has read already changes to the stored one, which is a problem.
  ///
  /// After a put-back, values that are not stored are those of today, and are reset.
  func restore(
    _ found: [(key: String, stored: ValueContent)], isPutBack: Bool = false
  ) {
    let isFirst = state.withLock { state in
      defer { state.isRestored = true }
      return !state.isRestored
    }
    if isPutBack { reset(besides: Set(found.map(\.key))) }
    for (key, stored) in found {
      let box = state.withLock { state -> (any RestorableValueBox)? in
        let box = state.entries[key]?.box
        if box == nil { state.entries[key, default: Entry()].stored = stored }
        return box
      }
      guard let box else { continue }
      note(take(stored, in: box, key))
      if isFirst { note(.valueUsedTooEarly(key: key)) }
    }
  }

  /// Gives the values of their declarations to all keys but some.
  private func reset(besides keys: Set<String>) {
    let boxes = state.withLock { state in
      state.entries.keys.filter { !keys.contains($0) }.compactMap { key in
        state.entries[key]?.stored = nil
        state.entries[key]?.isRemoved = false
        return state.entries[key]?.box
      }
    }
    for box in boxes { box.reset() }
    let tell = state.withLock(\.tell)
    if !boxes.isEmpty { tell?() }
  }

  /// The keys of the stored values that nobody has read, in order.
  var unreadKeys: [String] {
    state.withLock { state in
      state.entries.filter { $0.value.stored != nil }.keys.sorted()
    }
  }

  /// Whether there are stored values that nobody has read.
  var hasUnread: Bool {
    state.withLock { $0.entries.values.contains { $0.stored != nil } }
  }

  /// Forgets the stored values that nobody has read.
  func forgetUnread() {
    state.withLock { state in
      for (key, entry) in state.entries where entry.stored != nil {
        state.entries[key]?.stored = nil
      }
    }
  }

  /// The stored values that were replaced since the last call although they could not
  /// be decoded as a whole.
  func takeUndecoded() -> Set<RecordFingerprint> {
    state.withLock { state in
      defer { state.undecoded = [] }
      return state.undecoded
    }
  }

  /// The key of a value in its record.
  static let valueKey = "value"
}
