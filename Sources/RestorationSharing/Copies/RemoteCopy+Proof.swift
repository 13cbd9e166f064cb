internal import ArchiveCodec
internal import RestorationKit
internal import Synchronization

/// The proof that the local state is the one that this machine wrote last.
///
/// A file may be damaged, or an older one may have been put in its place. If that file
/// were sent, it would replace the state of the store, since the version in the note
/// would permit the write.
extension RemoteCopy {
  /// The keys and contexts that open the local archives.
  struct Opener: Sendable {
    let keys: any KeyProvider
    let context: ArchiveContext
    let subkeysContext: ArchiveContext

    /// The context of the note.
    var noteContext: ArchiveContext { ArchiveContext(context.fields + ["remote"]) }
  }

  func use(_ opener: Opener) { self.opener.withLock { $0 = opener } }

  var isProven: Bool { content.withLock { $0.finding != nil } }

  /// The finding of ``prove(orNothing:)``; trusted before the comparison.
  var finding: LocalFinding {
    get { content.withLock { $0.finding ?? .trusted } }
    set { content.withLock { $0.finding = newValue } }
  }

  /// Compares the local archives with the note, once.
  ///
  /// - Parameter orNothing: Whether to go on without the key, and then to prove
  ///   nothing.
  /// - Throws: The errors of the storage, and the reason why the key is not available.
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
      content.versions.noted = note.map { Here(archive: $0.copy.archive, subkeys: $0.copy.subkeys) }
    }
    guard file != nil else { return proveRemoval(note, stored?.content) }
    let archive = try Self.whole(main, key, opener.context)
    let subkeys = try subkeysHere(key, opener, note)
    let finding = LocalFinding(
      file: archive == nil ? .damaged : .whole, note: Self.standing(of: archive, to: note),
      hasSubkeys: subkeys.areHere)
    content.withLock { content in
      content.opposes = !finding.isDoubted && note?.copy.opposes == true
      content.mergesSubkeys = subkeys.areToBeMerged
    }
    if finding.isDoubted {
      // The doubted file is sent only if somebody saves, and then it is a conflict.
      content.withLock { $0.sent = changes }
    } else if let note, finding.note == .fits {
      try goOn(from: note, isSubkeysSame: subkeys.version == note.copy.subkeys)
    } else if let old = stored?.content, try wasSent(old) {
      content.withLock { $0.sent = changes }
    }
    self.finding = finding
  }

  private static func standing(of archive: Archive?, to note: Note?) -> LocalFinding.Note {
    guard let note else { return .missing }
    guard let archive else { return .differs }
    guard let noted = note.copy.archive else {
      return note.copy.rest == .removal ? .removed : .fits
    }
    guard archive.verdict(against: noted) == .ok else { return .differs }
    // A file that was written anew since then has a later number, no matter who wrote it.
    return archive.comes(from: noted) ? .fits : .missing
  }

  /// Goes on from the version in the store that the note names.
  private func goOn(from note: Note, isSubkeysSame: Bool) throws(ArchiveError) {
    guard let base = note.store.base else { return }
    let file = try main.open()
    let isSame =
      note.copy.rest == .change
      ? try sample(of: main, base.byteCount) == note.copy.sample : false
    content.withLock { content in
      content.seen.base = base
      content.seen.isFetched = true
      content.needsWhole = !isSame || !isSubkeysSame
      content.sent = Changes(
        main: isSame && file?.byteCount == base.byteCount ? 0 : .max,
        secrets: isSame && isSubkeysSame ? 0 : .max)
    }
    if isSame { main.mark(base.byteCount) }
  }

  /// A file that somebody has taken away is not a state that the user has discarded.
  private func proveRemoval(_ note: Note?, _ old: Note?) {
    guard (note ?? old)?.copy.rest == .removal else { return finding = .nothing }
    content.withLock { content in
      content.removed = Changes()
      content.sent = Changes(main: .max, secrets: .max)
      guard let base = note?.store.base else { return }
      content.seen.base = base
      (content.seen.isFetched, content.needsWhole) = (true, true)
    }
    finding = LocalFinding(file: .missing, note: .fits, hasSubkeys: true)
  }

  /// Whether a note without a tag says that the store had the local state.
  ///
  /// Then nothing is sent. The store is asked before its state is relied on.
  private func wasSent(_ note: Note) throws(ArchiveError) -> Bool {
    guard note.copy.rest == .change, try main.open()?.byteCount == note.store.byteCount,
      try sample(of: main, note.store.byteCount) == note.copy.sample
    else { return false }
    return try note.copy.secrets == sample(of: secrets) ?? []
  }

  private struct Subkeys {
    /// Whether all subkeys of the noted archive are here.
    let areHere: Bool
    /// Whether the subkeys of the store are to be merged with the local ones, not to replace them.
    var areToBeMerged = false
    var version: ArchiveVersion?
  }

  /// Compares the local subkeys with the noted ones: they may be the same, later or missing.
  private func subkeysHere(
    _ key: ArchiveKey, _ opener: Opener, _ note: Note?
  ) throws(ArchiveError) -> Subkeys {
    let archive = try Self.whole(secrets, key, opener.subkeysContext)
    let lacksSome = note?.copy.lacksSubkeys == true
    guard let archive else {
      // Without a note nobody knows whether there were subkeys.
      let isGone = try secrets.open() == nil
      return Subkeys(areHere: isGone && note != nil && note?.copy.subkeys == nil && !lacksSome)
    }
    let noted = note?.copy.subkeys
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

  /// Whether an archive can be read, perhaps only in part.
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

  /// Goes on with a state that has lost subkeys, and forgets what was known of the store.
  func oppose() {
    content.withLock { content in
      // Set before the base changes, so that the store's state does not join the older ones.
      content.seen.isFetched = false
      (content.seen.base, content.opposes) = (nil, true)
      // Without a save nothing is in conflict, so nothing is unsent.
      if content.sent.main != .max { content.sent = changes }
    }
  }

  /// Lets the local state be sent, since nothing of it was ever in the store.
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

  /// Whether the local subkeys come from this machine, though some are missing.
  var mergesSubkeys: Bool { content.withLock { $0.mergesSubkeys } }

  /// Notes that all subkeys are here that the store has and that were not forgotten.
  func markSubkeysHere() {
    content.withLock { content in
      content.finding?.hasSubkeys = true
      content.mergesSubkeys = false
    }
    writeNote()
  }

  /// Replaces the local subkeys by those of a state of the store.
  func adoptSubkeys(_ bytes: [UInt8], of version: RemoteVersion) throws(ArchiveError) {
    try secrets.adopt(bytes.isEmpty ? nil : bytes)
    content.withLock { content in
      guard content.seen.base?.version == version else { return }
      content.sent.secrets = changes.secrets
    }
  }
}

extension LocalFinding {
  /// The finding for a copy without a local state.
  fileprivate static let nothing = LocalFinding(file: .missing, note: .missing, hasSubkeys: true)
}
