internal import ArchiveCodec
internal import Synchronization

/// Whether what is here is what was left here.
///
/// A file may be damaged, or an older one may have been put in its place. Sent to the store, it
/// would take the place of what the store has, and the version in the note would let it.
extension RemoteCopy {
  /// What opens what is here.
  struct Opener: Sendable {
    let keys: any KeyProvider
    let context: ArchiveContext
    let subkeysContext: ArchiveContext

    /// Of the note.
    var noteContext: ArchiveContext { ArchiveContext(context.fields + ["remote"]) }
  }

  func use(_ opener: Opener) { self.opener.withLock { $0 = opener } }

  var isProven: Bool { content.withLock { $0.finding != nil } }

  /// What was found; trusted as long as nobody has looked.
  var finding: LocalFinding {
    get { content.withLock { $0.finding ?? .trusted } }
    set { content.withLock { $0.finding = newValue } }
  }

  /// Compares what is here with the note, once.
  ///
  /// - Parameter orNothing: Whether to go on without the key, and to know nothing then.
  /// - Throws: What the storage throws, and why the key cannot be had.
  /// - Complexity: O(*n*) in the size of the state, the first time.
  func prove(orNothing: Bool = false) throws(ArchiveError) {
    guard !isProven, let opener = opener.withLock({ $0 }) else { return }
    let stored = try storedNote()
    let file = try main.open()
    guard file != nil || stored != nil else { return finding = .nothing }
    let key: ArchiveKey?
    do throws(ArchiveError) {
      key = try opener.keys.key(creating: false)
    } catch {
      guard orNothing else { throw error }
      key = nil
    }
    guard let key else {
      if orNothing { finding = LocalFinding(file: .whole, note: .missing, hasSubkeys: true) }
      return
    }
    let note = stored?.note(key, opener.noteContext)
    content.withLock { content in
      content.noted = note.map { Here(archive: $0.archive, subkeys: $0.subkeys) }
    }
    guard file != nil else { return proveRemoval(note, stored?.content) }
    let archive = try Self.whole(main, key, opener.context)
    let subkeys = try subkeysHere(key, opener, note)
    let finding = LocalFinding(
      file: archive == nil ? .damaged : .whole, note: Self.standing(of: archive, to: note),
      hasSubkeys: subkeys.areHere)
    content.withLock { content in
      content.opposes = !finding.isDoubted && note?.opposes == true
      content.mergesSubkeys = subkeys.areToBeMerged
    }
    if finding.isDoubted {
      // What is here is sent only if somebody saves, and then it is a conflict.
      content.withLock { $0.sent = changes }
    } else if let note, finding.note == .fits {
      try goOn(from: note, isSubkeysSame: subkeys.version == note.subkeys)
    } else if let old = stored?.content, try wasSent(old) {
      content.withLock { $0.sent = changes }
    }
    self.finding = finding
  }

  private static func standing(of archive: Archive?, to note: Note?) -> LocalFinding.Note {
    guard let note else { return .missing }
    guard let archive else { return .differs }
    guard let noted = note.archive else { return note.rest == .removal ? .removed : .fits }
    guard archive.verdict(against: noted) == .ok else { return .differs }
    // One that was written anew since then has a later number, whoever has written it.
    return archive.comes(from: noted) ? .fits : .missing
  }

  /// Goes on from what the note says of the store.
  private func goOn(from note: Note, isSubkeysSame: Bool) throws(ArchiveError) {
    guard let version = note.version else { return }
    let file = try main.open()
    let isSame =
      note.rest == .change ? try sample(of: main, note.byteCount) == note.sample : false
    content.withLock { content in
      content.base = Base(
        version, id: note.id, parcelCount: note.parcelCount, byteCount: note.byteCount,
        isPlace: note.isPlace)
      content.isFetched = true
      content.needsWhole = !isSame || !isSubkeysSame
      content.sent = Changes(
        main: isSame && file?.byteCount == note.byteCount ? 0 : .max,
        secrets: isSame && isSubkeysSame ? 0 : .max)
    }
    if isSame { main.mark(note.byteCount) }
  }

  /// A file that somebody has taken away is no state that the user has discarded.
  private func proveRemoval(_ note: Note?, _ old: Note?) {
    guard (note ?? old)?.rest == .removal else { return finding = .nothing }
    content.withLock { content in
      content.removed = Changes()
      content.sent = Changes(main: .max, secrets: .max)
      guard let note, let version = note.version else { return }
      content.base = Base(
        version, id: note.id, parcelCount: note.parcelCount, byteCount: note.byteCount,
        isPlace: note.isPlace)
      (content.isFetched, content.needsWhole) = (true, true)
    }
    finding = LocalFinding(file: .missing, note: .fits, hasSubkeys: true)
  }

  /// Whether a note without a tag says that the store had what is here.
  ///
  /// Then there is nothing to send. What the store has is known when it is asked.
  private func wasSent(_ note: Note) throws(ArchiveError) -> Bool {
    guard note.rest == .change, try main.open()?.byteCount == note.byteCount,
      try sample(of: main, note.byteCount) == note.sample
    else { return false }
    return try note.secrets == sample(of: secrets) ?? []
  }

  private struct Subkeys {
    /// Whether all are here that the note names.
    let areHere: Bool
    /// Whether those of the store have to join them, and not to take their place.
    var areToBeMerged = false
    var version: ArchiveVersion?
  }

  /// Whether the subkeys are here that the note names, or later ones; and which they are.
  private func subkeysHere(
    _ key: ArchiveKey, _ opener: Opener, _ note: Note?
  ) throws(ArchiveError) -> Subkeys {
    let archive = try Self.whole(secrets, key, opener.subkeysContext)
    let lacksSome = note?.lacksSubkeys == true
    guard let archive else {
      // Without a note nobody knows whether there were some.
      let isGone = try secrets.open() == nil
      return Subkeys(areHere: isGone && note != nil && note?.subkeys == nil && !lacksSome)
    }
    let noted = note?.subkeys
    let isLater = noted.map { archive.verdict(against: $0) == .ok } ?? true
    let isProven = noted.map { archive.comes(from: $0) } ?? true
    return Subkeys(
      areHere: isLater && !lacksSome, areToBeMerged: isLater && (lacksSome || !isProven),
      version: archive.version)
  }

  /// The archive, up to an end that a killed save has left; nil if it is missing or damaged.
  static func whole(
    _ storage: any ArchiveStorage, _ key: ArchiveKey, _ context: ArchiveContext
  ) throws(ArchiveError) -> Archive? {
    do throws(ArchiveError) {
      let archive = try Archive.open(storage, key: key, context: context, recovery: .recover)
      try archive?.verifyAll()
      return archive
    } catch {
      guard error.isAboutContent else { throw error }
      return nil
    }
  }

  /// Whether an archive can be read, though perhaps not all of it.
  static func readable(
    _ storage: any ArchiveStorage, _ key: ArchiveKey, _ context: ArchiveContext
  ) throws(ArchiveError) -> Bool {
    do throws(ArchiveError) {
      return try Archive.open(storage, key: key, context: context, recovery: .recover) != nil
    } catch {
      guard error.isAboutContent else { throw error }
      return false
    }
  }

  /// Goes on with a state that has lost subkeys, and knows nothing of the store.
  func oppose() {
    content.withLock { content in
      // First, since what the store has is no older state that it had before another one.
      content.isFetched = false
      (content.base, content.opposes) = (nil, true)
      // Without a save there is nothing to decide.
      if content.sent.main != .max { content.sent = changes }
    }
  }

  /// Lets what is here be sent, since nothing of it was ever in the store.
  func endDoubt() {
    content.withLock { content in
      content.finding = .trusted
      content.sent = Changes(main: .max, secrets: .max)
    }
  }

  /// Whether the store may have subkeys that are not here, or has forgotten some that are.
  var needsSubkeys: Bool {
    isLasting && content.withLock { $0.mergesSubkeys || $0.finding?.hasSubkeys == false }
  }

  /// Whether the subkeys that are here were left here, though some are missing.
  var mergesSubkeys: Bool { content.withLock { $0.mergesSubkeys } }

  /// Says that all subkeys of the store are here that were not forgotten.
  func markSubkeysHere() {
    content.withLock { content in
      content.finding?.hasSubkeys = true
      content.mergesSubkeys = false
    }
    writeNote()
  }

  /// Makes the subkeys of a state of the store those that are here.
  func adoptSubkeys(_ bytes: [UInt8], of version: RemoteVersion) throws(ArchiveError) {
    try secrets.adopt(bytes.isEmpty ? nil : bytes)
    content.withLock { content in
      guard content.base?.version == version else { return }
      content.sent.secrets = changes.secrets
    }
  }
}

extension LocalFinding {
  /// Nothing is here.
  fileprivate static let nothing = LocalFinding(file: .missing, note: .missing, hasSubkeys: true)
}
