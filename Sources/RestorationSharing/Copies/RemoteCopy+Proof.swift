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

  /// Calls a body with the key; nil if there is none.
  func opened<Value>(
    _ body: (ArchiveKey, Opener) throws(ArchiveError) -> Value
  ) throws(ArchiveError) -> Value? {
    guard let opener = opener.withLock({ $0 }), let key = try opener.keys.key(creating: false)
    else { return nil }
    return try body(key, opener)
  }

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
    let file = try files.main.open()
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
    let note = stored?.isTagged == true ? stored?.note : nil
    versions.withLock { $0.noted = note.map { Here(archive: $0.archive) } }
    // A file that somebody has taken away is not a state that the user has discarded.
    guard file != nil else { return proveRemoval(stored?.note.rest == .removal, note) }
    let archive = try Self.whole(files.main, key, opener.context)
    if archive?.hasRecords == false { return proveRemoval(note?.rest == .removal, note) }
    let finding = LocalFinding(
      file: archive == nil ? .damaged : .whole, note: Self.standing(of: archive, to: note))
    take(.proved(.file(finding, try noted(finding, note))))
  }

  /// What the note says of the store, if that counts: only of the state that it names.
  private func noted(_ finding: LocalFinding, _ note: Note?) throws(ArchiveError) -> SyncNote {
    guard !finding.isDoubted, finding.note == .fits, let note, let base = note.base else {
      return .nothing
    }
    let isSame = note.rest == .change ? try sample(base.byteCount) == note.sample : false
    return .base(base, isSame: isSame, isAll: try files.main.open()?.byteCount == base.byteCount)
  }

  private static func standing(of archive: Archive?, to note: Note?) -> LocalFinding.Note {
    guard let note else { return .missing }
    guard let archive else { return .differs }
    let isRemoval = note.rest == .removal
    guard let noted = note.archive else { return isRemoval ? .removed : .fits }
    guard archive.verdict(against: noted) == .ok else { return isRemoval ? .removed : .differs }
    // A file that was written anew since then has a later number, no matter who wrote it.
    return archive.comes(from: noted) ? .fits : isRemoval ? .removed : .missing
  }

  /// Takes the copy as one that has no state.
  private func proveRemoval(_ isRemoval: Bool, _ note: Note?) {
    take(.proved(isRemoval ? .removal(note?.base) : .nothing))
    if !isRemoval { take(.undone(changes)) }
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

  /// The local archive, perhaps only a part of it; nil if nothing can be read.
  func readable() throws(ArchiveError) -> Archive? {
    let archive = try opened { (key, opener) throws(ArchiveError) in
      do throws(ArchiveError) {
        return try Archive.open(files.main, key: key, context: opener.context, recovery: .recover)
      } catch {
        guard error.isAboutContent else { throw error }
        return nil
      }
    }
    return archive ?? nil
  }
}
