internal import ArchiveCodec
internal import RestorationKit
internal import Synchronization

/// The proof that the local state is the one that this machine wrote last.
///
/// A file may be damaged, or an older one may have been put in its place. If that file
/// were sent, it would replace the state of the store, since the version in the note
/// would permit the write.
extension RemoteCopy {
  /// The keys and the context that open the local archive.
  struct Opener: Sendable {
    let keys: any KeyProvider
    let context: ArchiveContext

    /// The context of the note.
    var noteContext: ArchiveContext { ArchiveContext(context.fields + ["remote"]) }
  }

  func use(_ opener: Opener) { self.opener.withLock { $0 = opener } }

  var isProven: Bool { state.finding != nil }

  /// The finding of ``prove(orNothing:)``; trusted before the comparison.
  var finding: LocalFinding { state.finding ?? .trusted }

  /// Compares the local archive with the note, once.
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
    versions.withLock { $0.noted = note.map { Here(archive: $0.copy.archive) } }
    guard file != nil else { return proveRemoval(note, stored?.content) }
    let archive = try Self.whole(main, key, opener.context)
    let finding = LocalFinding(
      file: archive == nil ? .damaged : .whole, note: Self.standing(of: archive, to: note))
    take(.proved(.file(finding, try noted(finding, note, stored?.content))))
  }

  /// What the note says of the store, if that counts: only of the state that it names.
  private func noted(
    _ finding: LocalFinding, _ note: Note?, _ old: Note?
  ) throws(ArchiveError) -> SyncNote {
    guard !finding.isDoubted else { return .nothing }
    guard let note, finding.note == .fits else {
      return try old.map { (old) throws(ArchiveError) in try wasSent(old) } == true
        ? .all : .nothing
    }
    guard let base = note.store.base else { return .nothing }
    let isSame =
      note.copy.rest == .change
      ? try sample(base.byteCount) == note.copy.sample : false
    return .base(base, isSame: isSame, isAll: try main.open()?.byteCount == base.byteCount)
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
    guard note.copy.rest == .change, try main.open()?.byteCount == note.store.byteCount else {
      return false
    }
    return try sample(note.store.byteCount) == note.copy.sample
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
}
