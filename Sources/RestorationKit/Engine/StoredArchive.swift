internal import ArchiveCodec

/// Is told of changes to the archives of a state that has a copy elsewhere.
protocol ArchiveListener: AnyObject {
  /// This version is here now.
  func noteHere(_ version: ArchiveVersion)

  /// An archive that was set aside has been removed here.
  func noteRemovedAsides()
}

extension RemoteCopy: ArchiveListener {}

/// The archive of one state, with the archives beside it: generations, and those
/// that were set aside.
///
/// A stored archive knows which versions were read or written here, and replaces no others.
final class StoredArchive {
  let storage: StateStorage
  private let claimed: ClaimedName
  let opener: ArchiveOpener
  /// The open archive, if a save or a restore has opened one.
  let open: OpenArchive
  let listener: (any ArchiveListener)?

  /// The version that was read whole here, or written here; only this version is replaced
  /// without being set aside.
  var known: ArchiveVersion? {
    didSet { if let known { listener?.noteHere(known) } }
  }
  /// The generation that was read whole here in place of the state.
  var knownGeneration: String?
  /// How the next whole save keeps the archive that it replaces.
  var replacing = Replacing.previous
  /// Where an archive was set aside that is not reported yet, because a later step failed.
  var moved: String?

  init(
    in storage: StateStorage, _ claimed: ClaimedName, _ opener: ArchiveOpener,
    _ open: OpenArchive, listener: (any ArchiveListener)?
  ) {
    (self.storage, self.claimed, self.opener, self.open) = (storage, claimed, opener, open)
    self.listener = listener
  }

  /// Notes that the stored archive was neither read nor written here.
  func forgetKnown() {
    (known, knownGeneration, replacing) = (nil, nil, .previous)
  }

  /// Forgets the stored archive, since another one has taken its place.
  func forget() {
    forgetKnown()
    open.close()
    storage.forgetGenerations()
  }

  // MARK: Reading

  /// The content that was read of an archive, and which archive that was.
  struct Loaded<Content> {
    let content: Content
    let location: String
    /// The generation that was read; nil for the state itself.
    let generation: SetAsideArchive?
    /// Why the end of the archive was left out; nil if all was read.
    let dropped: ArchiveError?
    let passedOver: [RestorationReport.PassedOver]
  }

  /// Whether there is a state or a generation of one.
  var isAnythingStored: Bool {
    get throws(ArchiveError) {
      if try storage.open() != nil { return true }
      return try !storage.generations().isEmpty
    }
  }

  /// Reads the first archive that can be read; nil if nothing is stored.
  ///
  /// An end that is not whole is left out: a power cut in a save leaves one, and all saves before
  /// that one are there.
  ///
  /// - Parameters:
  ///   - key: The key of all archives.
  ///   - body: Reads an archive; nil passes it over, since restoring it crashed. The
  ///     state comes without a generation.
  /// - Returns: The content, with the archives that were passed over.
  /// - Throws: Why the newest archive cannot be read, if none can be; else what the storage throws.
  func firstReadable<Content>(
    _ key: ArchiveKey,
    _ body: (Archive, SetAsideArchive?) throws(ArchiveError) -> Content?
  ) throws(ArchiveError) -> Loaded<Content>? {
    var choice = ArchiveChoice()
    func load(
      _ storage: any ArchiveStorage, _ generation: SetAsideArchive?
    ) throws(ArchiveError) -> Loaded<Content>? {
      var finding = ArchiveChoice.Finding.missing
      var loaded: Loaded<Content>?
      do throws(ArchiveError) {
        let opened =
          generation == nil ? try self.storage.takeOpened(key, under: claimed.taken?.lock) : nil
        let archive =
          if let opened { opened } else { try opener.open(storage, key, recovery: .recover) }
        if let archive {
          loaded = try body(archive, generation).map { content in
            Loaded(
              content: content, location: storage.location, generation: generation,
              dropped: archive.dropped, passedOver: choice.passedOver)
          }
          finding = loaded == nil ? .crashed : .readable
        }
      } catch {
        finding = .unreadable(error)
      }
      return try choice.take(finding, at: storage.location) ? loaded : nil
    }
    if let loaded = try load(storage, nil) { return loaded }
    for generation in try storage.generations().reversed() {
      if let loaded = try load(generation.storage, generation) { return loaded }
    }
    try choice.endWithoutAny()
    return nil
  }

  /// Remembers the version that a restore has read, for the saves that replace it.
  ///
  /// - Parameters:
  ///   - loaded: The tree that was read.
  ///   - hasCrashed: Whether the last crash of a restore was in this state.
  ///   - applicationVersion: The version of the app that runs.
  func noteRead(_ loaded: Loaded<StoredTree>, hasCrashed: Bool, by applicationVersion: String?) {
    let tree = loaded.content
    guard tree.isWhole else { return }
    knownGeneration = loaded.generation?.identifier
    guard loaded.generation == nil else { return }
    known = tree.version
    let evidence = RestoredEvidence(
      end: loaded.dropped.map { $0.code == .truncated ? .truncated : .damaged } ?? .whole,
      hasCrashed: hasCrashed,
      savedBy: tree.facts.map { RestoredEvidence.SavedBy($0.applicationVersion) })
    replacing = Replacing(evidence, by: applicationVersion)
  }
}
