internal import ArchiveCodec
internal import RestorationKit
internal import Synchronization

/// The proof that the local state is the one that this machine wrote last.
///
/// A file may be damaged, or an older one may have been put in its place. If that file
/// were sent, it would replace the state of the store, since the version in the note
/// would permit the write.
extension RemoteCopy {
  /// The key and the context of the archives of the state.
  struct Opener {
    let key: ArchiveKey
    let context: ArchiveContext

    /// The context of the note.
    var noteContext: ArchiveContext { ArchiveContext(context.fields + ["remote"]) }

    /// The archive, up to an end that a killed save has left; nil if it is missing or damaged.
    ///
    /// Unless it is read whole, a part of it may be damaged all the same.
    func archive(
      in storage: any ArchiveStorage, isWhole: Bool = true
    ) throws(ArchiveError) -> Archive? {
      do throws(ArchiveError) {
        let archive = try Archive.open(storage, key: key, context: context, recovery: .recover)
        if isWhole { try archive?.verifyAll() }
        return archive
      } catch {
        guard error.isAboutContent else { throw error }
        return nil
      }
    }
  }

  /// Asks for the key; nil if there is none.
  func opener() throws(ArchiveError) -> Opener? {
    guard let (keys, context) = sealing.withLock({ $0 }), let key = try keys.key(creating: false)
    else { return nil }
    return Opener(key: key, context: context)
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
    guard !isProven else { return }
    let stored = try storedNote()
    let file = try files.main.open()
    guard file != nil || stored != nil else { return take(.proved(.nothing, .nothing)) }
    let opener: Opener?
    do throws(ArchiveError) {
      opener = try self.opener()
    } catch {
      guard orNothing else { throw error }
      opener = nil
    }
    guard let opener else {
      if orNothing { take(.proved(.unread, .nothing)) }
      return
    }
    let note = stored?.isTagged == true ? stored?.note : nil
    versions.withLock { $0.noted = note?.archive }
    // A file that somebody has taken away is not a state that the user has discarded.
    guard file != nil else { return proveRemoval(stored?.note.isRemoval == true, note) }
    let archive = try opener.archive(in: files.main)
    if archive?.hasRecords == false { return proveRemoval(note?.isRemoval == true, note) }
    let finding = LocalFinding(
      file: archive == nil ? .damaged : .whole, note: Self.standing(of: archive, to: note))
    take(.proved(finding, try noted(finding, note)))
  }

  /// What the note says of the store, if that counts: only of the state that it names.
  private func noted(_ finding: LocalFinding, _ note: Note?) throws(ArchiveError) -> SyncNote {
    guard !finding.isDoubted, finding.note == .fits, let note, let base = note.base else {
      return .nothing
    }
    let sample = try sample(base.byteCount)
    let isSame = sample != nil && sample == note.sample
    return .base(base, isSame: isSame, isAll: try files.main.open()?.byteCount == base.byteCount)
  }

  private static func standing(of archive: Archive?, to note: Note?) -> LocalFinding.Note {
    guard let note else { return .missing }
    guard let archive else { return .differs }
    guard let noted = note.archive else { return note.isRemoval ? .removed : .fits }
    guard archive.verdict(against: noted) == .ok else {
      return note.isRemoval ? .removed : .differs
    }
    // A file that was written anew since then has a later number, no matter who wrote it.
    return archive.comes(from: noted) ? .fits : note.isRemoval ? .removed : .missing
  }

  /// Takes the copy as one that has no state.
  private func proveRemoval(_ isRemoval: Bool, _ note: Note?) {
    if isRemoval {
      take(.proved(.removal, .removal(note?.base)))
    } else {
      take(.proved(.nothing, .nothing))
      take(.undone(changes))
    }
  }

  /// The local archive, perhaps only a part of it; nil if nothing can be read.
  func readable() throws(ArchiveError) -> Archive? {
    try opener()?.archive(in: files.main, isWhole: false)
  }
}
