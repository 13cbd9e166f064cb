internal import ArchiveCodec

/// The archive of one state, with the archives beside it: generations, and those
/// that were set aside.
///
/// A stored archive knows which versions were read or written here, and replaces no others.
package final class StoredArchive {
  package let storage: StateStorage
  private let claimed: ClaimedName
  package let opener: ArchiveOpener
  /// The open archive, if a save or a restore has opened one.
  package let open: OpenArchive
  let copy: (any LinkedCopy)?

  /// The version that was read whole here, or written here; only this version is replaced
  /// without being set aside.
  var known: ArchiveVersion? {
    didSet { if let known { copy?.noteHere(known) } }
  }
  /// The generation that was read whole here in place of the state.
  var knownGeneration: String?
  /// Whether a sync has failed, so that the disk may lack what the system shows of the file, and no
  /// later sync brings it: the next save writes a new file.
  var hasLostSync = false
  /// How the next whole save keeps the archive that it replaces.
  var replacing = Replacing.previous
  /// Where an archive was set aside that is not reported yet, because a later step failed.
  package var moved: String?

  init(
    in storage: StateStorage, _ claimed: ClaimedName, _ opener: ArchiveOpener,
    _ open: OpenArchive, _ copy: (any LinkedCopy)?
  ) {
    (self.storage, self.claimed, self.opener, self.open) = (storage, claimed, opener, open)
    self.copy = copy
  }

  /// Notes that the stored archive was neither read nor written here.
  func forgetKnown() {
    (known, knownGeneration, replacing) = (nil, nil, .previous)
  }

  /// Forgets the stored archive, since another one has taken its place.
  package func forget() {
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

  /// The finding of somebody who looks whether anything is stored.
  enum Found {
    /// A state that was kept open for the next reader, with its key.
    case opened(CurrentKey)
    /// A state, whose file is open now.
    case state(any ArchiveFile)
    /// A state that the next save may change, whose file is open now.
    case changeable(any AppendableArchiveFile)
    /// No state, but a generation of one.
    case generation

    /// The key of a state that is open, if it is in a file, which was looked at then; another provider
    /// may have been locked since.
    var keyOfFile: CurrentKey? {
      if case .opened(let key) = self, key.stamp != nil { key } else { nil }
    }

    var file: (any ArchiveFile)? {
      switch self {
      case .state(let file): file
      case .changeable(let file): file
      case .opened, .generation: nil
      }
    }
  }

  /// Looks for a state or a generation of one; nil if nothing is stored.
  func find() throws(ArchiveError) -> Found? {
    if let file = try storage.open() { return .state(file) }
    return try findGeneration()
  }

  /// Looks for a state that the next save may change, too.
  func findChangeable() throws(ArchiveError) -> Found? {
    if let key = storage.keyOfOpened(under: claimed.taken?.lock) { return .opened(key) }
    do throws(ArchiveError) {
      if let file = try storage.openForAppending() { return .changeable(file) }
    } catch {
      // The file may still be read; if not, the error is that of reading.
      return try find()
    }
    return try findGeneration()
  }

  private func findGeneration() throws(ArchiveError) -> Found? {
    try storage.generations().isEmpty ? nil : .generation
  }

  /// Reads the first archive that can be read; nil if nothing is stored.
  ///
  /// An end that is not whole is left out: a power cut in a save leaves one, and all saves before
  /// that one are there.
  ///
  /// - Parameters:
  ///   - key: The key of all archives.
  ///   - found: What was found when somebody looked for a state.
  ///   - body: Reads an archive; nil passes it over, since restoring it crashed. The
  ///     state comes without a generation.
  /// - Returns: The content, with the archives that were passed over.
  /// - Throws: Why the newest archive cannot be read, if none can be; else what the storage throws.
  func firstReadable<Content>(
    _ key: CurrentKey, _ found: Found?,
    _ body: (Archive, SetAsideArchive?) throws(ArchiveError) -> Content?
  ) throws(ArchiveError) -> Loaded<Content>? {
    var choice = ArchiveChoice()
    func load(
      _ storage: any ArchiveStorage, _ generation: SetAsideArchive?
    ) throws(ArchiveError) -> Loaded<Content>? {
      var finding = ArchiveChoice.Finding.missing
      var loaded: Loaded<Content>?
      do throws(ArchiveError) {
        let archive =
          generation == nil
          ? try openState(key, found) : try opener.open(storage, key.key, recovery: .recover)
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

  /// Opens the state; one that is whole stays open for the changes of the next save, if it can.
  private func openState(_ key: CurrentKey, _ found: Found?) throws(ArchiveError) -> Archive? {
    let lock = claimed.taken?.lock
    // Who looked for a state to change has just found that others are kept out.
    if case .opened? = found, let opened = storage.takeOpened(key.key, under: lock) {
      return opened
    }
    storage.closeOpened()
    if !hasLostSync, let lock, case .changeable(let file) = found {
      do throws(ArchiveError) {
        let archive = try open.open(storage, key, opener.context, lock, opener.limits, file).archive
        if let archive, archive.dropped == nil { return archive }
      } catch {
        // What is wrong is said by the one who only reads the archive.
      }
      open.close()
    }
    return try opener.open(storage, key.key, found?.file, recovery: .recover)
  }

  /// Remembers the version that a restore has read, for the saves that replace it.
  ///
  /// - Parameters:
  ///   - loaded: The tree that was read.
  ///   - hasCrashed: Whether the last crash of a restore was in this state.
  ///   - applicationVersion: The version of the app that runs.
  func noteRead(_ loaded: Loaded<StoredTree>, hasCrashed: Bool, by applicationVersion: String?) {
    let tree = loaded.content
    // A state that has to stay, as one of another version of the app, is replaced by a whole archive.
    defer { if known != tree.version || replacing != .previous { open.close() } }
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
