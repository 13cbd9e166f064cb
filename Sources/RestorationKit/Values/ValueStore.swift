internal import ArchiveCodec
internal import Observation
internal import Synchronization

/// Is told which value is decoded, for the launch after a crash.
protocol DecodingNote: Sendable {
  /// Notes a value while the body decodes it, on any thread.
  func reach<Result>(valueOf key: String, _ body: () -> Result) -> Result
}

/// The values of an app, or of one of its scenes, by their keys.
///
/// Any thread may use it. What is stored is decoded when a value is first asked for, since only
/// that says of which type it is.
package final class ValueStore: Sendable {
  private struct Entry {
    /// What was restored and nobody has asked for.
    var stored: RestoredContent?
    var box: (any RestorableValueBox)?
    /// Told of each change.
    var tell: (@Sendable () -> Void)?
    /// Whether the app has removed it, and not set it since.
    var isRemoved = false

    var isStored: Bool { stored != nil || box?.isStored == true }
  }

  private struct Content {
    var entries: [String: Entry] = [:]
    var problems: [ReportNote] = []
    /// What was replaced and could not be decoded as a whole.
    var undecoded: Set<RecordFingerprint> = []
    /// Told when a key or a problem comes, or a key goes.
    var tell: (@Sendable () -> Void)?
    var isRestored = false
    /// Whether a value was set or removed since this was asked last.
    var hasChanged = false
    /// Told of each change, besides.
    var changed: (@Sendable () -> Void)?
    var decoding: (any DecodingNote)?
  }

  /// Whether it has the values of a scene, and not those of an app.
  let isOfScene: Bool
  private let content = Mutex(Content())
  private let signal = ValueSignal()
  private let registrar = ObservationRegistrar()

  package init(ofScene isOfScene: Bool = false) {
    self.isOfScene = isOfScene
  }

  // MARK: Whose values

  /// The values of the app in a process.
  static let ofProcess = ValueStore()

  /// Those of the test which runs this; nil in an app.
  @TaskLocal static var ofTest: ValueStore?

  /// Those of the scene whose part of the interface is made now; nil outside of scopes.
  @TaskLocal static var scope: ValueStore?

  /// The values of the app.
  static var ofApp: ValueStore { ofTest ?? ofProcess }

  // MARK: Those who use values

  /// The box of a key, the same for all who ask for its type.
  ///
  /// - Returns: Nil if the key has a value of another type, or no archive takes the key, which is a
  ///   problem.
  func box<Value: Codable & Sendable>(
    _ key: String, _ initial: Value, _ sensitivity: Sensitivity?
  ) -> ValueBox<Value>? {
    let (known, unread) = content.withLock { ($0.entries[key]?.box, $0.entries[key]?.stored) }
    if let box = known as? ValueBox<Value> { return box }
    guard !key.isEmpty, key.utf8.count <= NodeRecord.longestIdentifier else {
      note(
        .storageEncodingFailed(key: key, "A key has 1 to \(NodeRecord.longestIdentifier) bytes."))
      return nil
    }
    // Another type may fit what did not fit the first one.
    let stored = unread ?? known?.unfitContent
    if let known, stored == nil { return noteOtherType(known, key, Value.self) }
    let box = ValueBox(initial, sensitivity)
    // The app's own decoding may ask for other values, so nothing is locked.
    let finding = stored.map { take($0, in: box, key) }
    if let known, finding?.isWhole == false { return noteOtherType(known, key, Value.self) }
    let other = content.withLock { content -> (any RestorableValueBox)? in
      if let other = content.entries[key]?.box, other !== known { return other }
      content.entries[key, default: Entry()].box = box
      content.entries[key]?.stored = nil
      return nil
    }
    if let other { return other as? ValueBox<Value> ?? noteOtherType(other, key, Value.self) }
    if let finding { note(finding) }
    return box
  }

  /// Decodes a value, which may run code of the app.
  private func take(
    _ stored: RestoredContent, in box: any RestorableValueBox, _ key: String
  ) -> ValueFinding {
    guard box.isOfApp, let decoding = content.withLock(\.decoding) else {
      return box.take(stored, forKey: key)
    }
    return decoding.reach(valueOf: key) { box.take(stored, forKey: key) }
  }

  /// Sets where each value is noted before it is decoded.
  func noteDecoding(_ note: (any DecodingNote)?) { content.withLock { $0.decoding = note } }

  private func noteOtherType<Value>(
    _ box: any RestorableValueBox, _ key: String, _ type: Value.Type
  ) -> ValueBox<Value>? {
    note(.storageTypeMismatch(key: key, "\(box.valueType) is stored, \(type) was asked for"))
    return nil
  }

  /// A new box in the place of one that has another type, whose readers are told.
  func replace<Value: Codable & Sendable>(_ key: String, _ initial: Value) -> ValueBox<Value> {
    let box = ValueBox(initial, nil)
    let old = content.withLock { content in
      defer { content.entries[key, default: Entry()].box = box }
      return content.entries[key]?.box
    }
    old?.reset()
    return box
  }

  /// Says that the value of a key is another one.
  func noteChange(_ key: String, undecoded: RecordFingerprint? = nil) {
    let (tell, changed) = content.withLock { content in
      if let undecoded { content.undecoded.insert(undecoded) }
      content.hasChanged = true
      content.entries[key]?.isRemoved = false
      return (content.entries[key]?.tell ?? content.tell, content.changed)
    }
    tell?()
    changed?()
  }

  /// Removes a value: its readers have that of their declaration.
  func remove(_ key: String) {
    let (box, tell, changed) = content.withLock { content in
      content.entries[key]?.stored = nil
      content.entries[key]?.isRemoved = true
      content.hasChanged = true
      return (content.entries[key]?.box, content.tell, content.changed)
    }
    box?.reset()
    tell?()
    changed?()
  }

  // MARK: Problems

  /// What is wrong with the use of values; observation sees it.
  var problems: [ReportNote] {
    registrar.access(signal, keyPath: ValueSignal.path)
    return content.withLock(\.problems)
  }

  func note(_ problem: ReportNote) {
    let isNew = content.withLock { !$0.problems.contains(problem) }
    guard isNew else { return }
    let tell = registrar.withMutation(of: signal, keyPath: ValueSignal.path) {
      content.withLock { content in
        if !content.problems.contains(problem) { content.problems.append(problem) }
        return content.tell
      }
    }
    tell?()
  }

  private func note(_ finding: ValueFinding) {
    for note in finding.notes where note.isProblem { self.note(note) }
  }

  // MARK: What is stored

  /// The keys of all that is to be stored, in order.
  var storedKeys: [String] {
    content.withLock { content in
      content.entries.filter { key, entry in
        entry.isStored && !key.isEmpty && key.utf8.count <= NodeRecord.longestIdentifier
      }.keys.sorted()
    }
  }

  /// Sets who is told when a key or a problem comes.
  func listen(_ tell: @escaping @Sendable () -> Void) { content.withLock { $0.tell = tell } }

  /// Sets who is told when the value of a key changes.
  func listen(to key: String, _ tell: @escaping @Sendable () -> Void) {
    content.withLock { $0.entries[key, default: Entry()].tell = tell }
  }

  /// Sets who is told of each change of a value.
  func listenToChanges(_ changed: @escaping @Sendable () -> Void) {
    content.withLock { $0.changed = changed }
  }

  /// Whether a value was set or removed since this was asked last.
  func takeHasChanged() -> Bool {
    content.withLock { content in
      defer { content.hasChanged = false }
      return content.hasChanged
    }
  }

  /// The problems that were not asked for yet.
  func takeProblems() -> [ReportNote] {
    content.withLock { content in
      defer { content.problems = [] }
      return content.problems
    }
  }

  /// The value of a key without a sensitivity as it is stored; nil if it cannot be encoded.
  func plainContent(of key: String) -> ValueContent? {
    let entry = content.withLock { $0.entries[key] }
    if let stored = entry?.stored { return stored.sensitivity == nil ? stored.content : nil }
    do {
      return try entry?.box?.plainContent()
    } catch {
      note(.storageEncodingFailed(key: key, error.reason))
      return nil
    }
  }

  /// The values without a sensitivity, as they are now.
  var change: ValueChange {
    let removed = content.withLock { content in
      content.entries.filter(\.value.isRemoved).map(\.key)
    }
    var change = ValueChange(contents: [:], removed: Set(removed))
    for key in storedKeys { change.contents[key] = plainContent(of: key) }
    return change
  }

  /// Takes values where none was set.
  func fill(with found: [(key: String, stored: RestoredContent)]) {
    for (key, stored) in found {
      let box = content.withLock { content -> (any RestorableValueBox)? in
        let box = content.entries[key]?.box
        if box == nil { content.entries[key, default: Entry()].stored = stored }
        return box
      }
      if let box, !box.isSet { note(take(stored, in: box, key)) }
    }
  }

  /// Writes the value of a key.
  func encode(_ key: String, with coder: StateEncoder) throws {
    let entry = content.withLock { $0.entries[key] }
    if let stored = entry?.stored {
      try coder.encode(stored, forKey: Self.valueKey)
    } else if let box = entry?.box {
      try box.encode(with: coder, forKey: Self.valueKey)
    }
  }

  /// Takes what a restore has found; a value that somebody has read already becomes what was
  /// stored, which is a problem.
  func restore(_ found: [(key: String, stored: RestoredContent)]) {
    let isFirst = content.withLock { content in
      defer { content.isRestored = true }
      return !content.isRestored
    }
    for (key, stored) in found {
      let box = content.withLock { content -> (any RestorableValueBox)? in
        let box = content.entries[key]?.box
        if box == nil { content.entries[key, default: Entry()].stored = stored }
        return box
      }
      guard let box else { continue }
      note(take(stored, in: box, key))
      if isFirst { note(.valueUsedTooEarly(key: key)) }
    }
  }

  /// Forgets secrets that are as they were stored; those that were set are the app's to forget.
  func forgetSecrets(where isForgotten: (String) -> Bool) {
    let boxes = content.withLock { content in
      content.entries.compactMap { key, entry -> (any RestorableValueBox)? in
        guard isForgotten(key) else { return nil }
        if entry.stored?.sensitivity == .secret { content.entries[key]?.stored = nil }
        return entry.box
      }
    }
    for box in boxes { box.forgetSecret() }
    let tell = content.withLock(\.tell)
    tell?()
  }

  /// Whether something is stored that was not asked for.
  var hasUnread: Bool {
    content.withLock { $0.entries.values.contains { $0.stored != nil } }
  }

  /// Forgets what is stored and was not asked for.
  func forgetUnread() {
    content.withLock { content in
      for (key, entry) in content.entries where entry.stored != nil {
        content.entries[key]?.stored = nil
      }
    }
  }

  /// What was replaced since this was asked last and could not be decoded as a whole.
  func takeUndecoded() -> Set<RecordFingerprint> {
    content.withLock { content in
      defer { content.undecoded = [] }
      return content.undecoded
    }
  }

  /// The key of a value in its record.
  static let valueKey = "value"
}
