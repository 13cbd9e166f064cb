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

  var isProven: Bool { state.finding != nil }

  /// The finding of ``prove(orNothing:)``; trusted before the comparison.
  var finding: LocalFinding { state.finding ?? .trusted }

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
    guard file != nil || stored != nil else { return take(.proved(.nothing)) }
    let key: ArchiveKey?
    do throws(ArchiveError) {
      key = try opener.keys.key(creating: false)
    } catch {
      guard orNothing else { throw error }
      key = nil
    }
    guard let key else {
      if orNothing { take(.proved(.unread)) }
      return
    }
    let note = stored?.note(key, opener.noteContext)
    versions.withLock { versions in
      versions.noted = note.map { Here(archive: $0.copy.archive, subkeys: $0.copy.subkeys) }
    }
    guard file != nil else { return proveRemoval(note, stored?.content) }
    let archive = try Self.whole(main, key, opener.context)
    let subkeys = try subkeysHere(key, opener, note)
    let finding = LocalFinding(
      file: archive == nil ? .damaged : .whole, note: Self.standing(of: archive, to: note),
      hasSubkeys: subkeys.areHere)
    take(
      .proved(
        .file(
          finding, opposes: !finding.isDoubted && note?.copy.opposes == true,
          mergesSubkeys: subkeys.areToBeMerged,
          try noted(finding, note, stored?.content, subkeys))))
  }

  /// What the note says of the store, if that counts: only of the state that it names.
  private func noted(
    _ finding: LocalFinding, _ note: Note?, _ old: Note?, _ subkeys: Subkeys
  ) throws(ArchiveError) -> SyncNote {
    guard !finding.isDoubted else { return .nothing }
    guard let note, finding.note == .fits else {
      return try old.map { (old) throws(ArchiveError) in try wasSent(old) } == true
        ? .all : .nothing
    }
    guard let base = note.store.base else { return .nothing }
    let isSame =
      note.copy.rest == .change
      ? try sample(of: main, base.byteCount) == note.copy.sample : false
    return .base(
      base, isSame: isSame, hasSubkeys: subkeys.version == note.copy.subkeys,
      isAll: try main.open()?.byteCount == base.byteCount)
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

  /// A file that somebody has taken away is not a state that the user has discarded.
  private func proveRemoval(_ note: Note?, _ old: Note?) {
    guard (note ?? old)?.copy.rest == .removal else { return take(.proved(.nothing)) }
    take(.proved(.removal(note?.store.base)))
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

  /// Whether the store may have subkeys that are not here, or has forgotten some that are.
  var needsSubkeys: Bool {
    isLasting && sync.withLock { $0.mergesSubkeys || $0.finding?.hasSubkeys == false }
  }

  /// Whether the local subkeys come from this machine, though some are missing.
  var mergesSubkeys: Bool { state.mergesSubkeys }

  /// Replaces the local subkeys by those of a state of the store.
  func adoptSubkeys(_ bytes: [UInt8], of version: RemoteVersion) throws(ArchiveError) {
    try secrets.adopt(bytes.isEmpty ? nil : bytes)
    take(.adoptedSubkeys(of: version))
  }
}
