internal import ArchiveCodec

/// Is told what becomes of the archives of a state, of which there is a copy elsewhere.
protocol ArchiveListener: AnyObject {
  /// This version is here now.
  func know(_ version: ArchiveVersion)

  /// Something that was set aside is here no more.
  func noteRemovedAsides()
}

extension RemoteCopy: ArchiveListener {}

/// The archive of one state, and what is kept beside it: generations, and what was set aside.
///
/// It knows what of it was read or written here, and replaces nothing else.
final class StoredArchive {
  let storage: StateStorage
  let opener: ArchiveOpener
  /// What goes on with it, if somebody has begun to.
  let open: OpenArchive
  let listener: (any ArchiveListener)?

  /// The version that was read whole, or written, here; only that is replaced.
  var known: ArchiveVersion? {
    didSet { if let known { listener?.know(known) } }
  }
  /// The generation that was read whole here in place of the state.
  var knownGeneration: String?
  /// What the next whole save sets the stored state aside as.
  var replacing = Replacing.previous
  /// Where something was set aside that is not reported yet, because what came after it failed.
  var moved: String?

  init(
    in storage: StateStorage, _ opener: ArchiveOpener, _ open: OpenArchive,
    listener: (any ArchiveListener)?
  ) {
    (self.storage, self.opener, self.open) = (storage, opener, open)
    self.listener = listener
  }

  /// Whatever is stored, it was neither read nor written here.
  func knowNothing() {
    (known, knownGeneration, replacing) = (nil, nil, .previous)
  }

  /// The same where something else has taken its place.
  func forget() {
    knowNothing()
    open.close()
    storage.forgetGenerations()
  }

  // MARK: Reading

  /// What was read of an archive, and of which one.
  struct Loaded<Content> {
    let content: Content
    let location: String
    /// Nil if it is the state itself.
    let generation: SetAsideArchive?
    /// Why the end of it was left out; nil if nothing was.
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

  /// What a body reads of the first archive that can be read; nil if nothing is stored.
  ///
  /// An end that is not whole is left out: a power cut in a save leaves one, and what was said to
  /// be stored before that save is there.
  ///
  /// - Parameters:
  ///   - key: The key of all of them.
  ///   - body: Reads an archive; nil passes it over, since restoring it crashed. The
  ///     state comes without a generation.
  /// - Returns: What was read, with what was passed over.
  /// - Throws: Why the newest one cannot be read, if none can be; else what the storage
  ///   throws.
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
        let opened = generation == nil ? self.storage.takeOpened(key) : nil
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

  /// Remembers what a restore has read, for the saves that replace it.
  ///
  /// - Parameters:
  ///   - loaded: The tree that was read.
  ///   - hasCrashed: Whether the last crash of a restore was in it.
  ///   - applicationVersion: The version of the app that runs.
  func know(_ loaded: Loaded<StoredTree>, hasCrashed: Bool, by applicationVersion: String?) {
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
