internal import ArchiveCodec
internal import RestorationFoundation
internal import RestorationKit
internal import Synchronization

/// The note of a lasting copy, which tells the next launch about the store.
extension RemoteCopy {
  struct Note: Codable {
    let store: NotedStore
    let copy: NotedCopy

    init(_ store: NotedStore, _ copy: NotedCopy) { (self.store, self.copy) = (store, copy) }

    // Both parts are in one object, as versions of the library before have it.
    init(from decoder: any Decoder) throws {
      self.init(try NotedStore(from: decoder), try NotedCopy(from: decoder))
    }

    func encode(to encoder: any Encoder) throws {
      try store.encode(to: encoder)
      try copy.encode(to: encoder)
    }
  }

  /// The state of the store, as a note has it.
  struct NotedStore: Codable {
    /// The version in the store; nil if it is not known.
    let version: RemoteVersion?
    let id: RemoteParcel.ID?
    let parcelCount: Int
    let byteCount: Int
    let isPlace: Bool

    init(_ base: Base?) {
      (version, id, isPlace) = (base?.version, base?.id, base?.isPlace ?? false)
      (parcelCount, byteCount) = (base?.parcelCount ?? 0, base?.byteCount ?? 0)
    }

    /// The state from which the copy goes on; nil if its version is not known.
    var base: Base? {
      version.map {
        Base($0, id: id, parcelCount: parcelCount, byteCount: byteCount, isPlace: isPlace)
      }
    }
  }

  /// The local copy, and what the store does not have of it.
  struct NotedCopy: Codable {
    enum Rest: String, Codable {
      case change, whole, removal
    }

    /// The kind of change that the store does not have yet, if there is one.
    let rest: Rest
    /// The beginning of the archive, and its end as the store has it.
    ///
    /// The sample shows whether the file continues the archive in the store, if the file is whole.
    let sample: [UInt8]
    /// The set-aside states that the store has.
    let sentAsides: [Aside]
    /// The last local state, by the MAC of its whole history; nil if there was none.
    let archive: ArchiveVersion?
  }

  struct Aside: Codable {
    let name: String
    let identifier: String
    /// The version in the store; nil in notes of earlier versions of the library.
    let version: RemoteVersion?
    /// Whether the set-aside state is to be removed from the store.
    ///
    /// Only this version is: another state may have the name by then.
    let isRemoved: Bool
  }

  /// A note with its MAC: a file that somebody has changed must not pass for the state
  /// that the store has.
  struct Tagged: Codable {
    let note: Data
    let tag: Data
  }

  /// A note as it is stored, which anybody may have written.
  struct StoredNote {
    let content: Note
    let tagged: Tagged?

    /// The note, if somebody with the key has written it.
    ///
    /// A note without a tag comes from the version of the library before tags, or was
    /// written while the key was locked.
    func note(_ key: ArchiveKey, _ context: ArchiveContext) -> Note? {
      guard let tagged,
        key.isTag(Array(tagged.tag), of: Array(tagged.note), context: context)
      else { return nil }
      return content
    }
  }

  /// The length of the samples, in bytes, at the beginning and at the end.
  static let sampleByteCount = 64
  private static let largestNote = 1 << 20
  /// The largest number is more than any state has; a note with a larger one is no note.
  private static let parcelCounts = 0...(1 << 20)

  // MARK: Writing

  /// Notes that the state was removed here: the process may end before the store can be told.
  func noteRemoval() { take(.removed) }

  /// Notes the local state if nothing would show that it comes from the noted one.
  ///
  /// A state that replaces one that was set aside begins a history of its own.
  func noteIfBehind() {
    guard isLasting, isProven, isUnsent else { return }
    do {
      let (here, noted) = (try here(), versions.withLock { $0.noted })
      var isBehind: Bool {
        guard let here = here.archive else { return false }
        guard let noted = noted?.archive else { return isNoted }
        return here != noted && here.generation <= noted.generation
      }
      if finding.isDoubted || isBehind { writeNote() }
    } catch {
      // Without the note the next launch asks the store first.
    }
  }

  /// Whether this launch has read or written a note.
  private var isNoted: Bool { versions.withLock { $0.noted != nil } }

  /// Notes the state that is about to be replaced.
  ///
  /// A file names the state that it has replaced, and none before that. So the note has
  /// to name the same one, or nothing would show that the file comes from here.
  func noteBeforeReplacing() {
    guard isLasting, isProven, let noted = versions.withLock({ $0.noted?.archive }) else {
      return
    }
    do {
      if let here = try here().archive, here != noted { writeNote() }
    } catch {
      // Without the note the next launch asks the store.
    }
  }

  /// Notes a state that was written where the note names none, as after a discard.
  func noteFirst() {
    guard isLasting, isNoted, versions.withLock({ $0.noted?.archive }) == nil else {
      return
    }
    writeNote()
  }

  func writeNote() {
    // While the file is doubted and nothing was saved since, the note keeps naming the right state.
    guard isLasting, isProven, !finding.isDoubted || isUnsent else { return }
    do {
      let changes = changes
      let state = state
      let base = state.base
      let isRemoved = state.removed == changes && state.sent != changes
      let here = try here()
      versions.withLock { $0.noted = here }
      guard base != nil || isRemoved || hasRemovedAsides else { return try note.remove() }
      var archive: [UInt8]?
      // Another archive may have replaced the one that was sent.
      if let base, !isRemoved, !state.needsWhole,
        main.changes.unchangedByteCount >= base.byteCount
      {
        archive = try sample(base.byteCount)
      }
      let rest: NotedCopy.Rest =
        if isRemoved { .removal } else { archive == nil ? .whole : .change }
      try write(
        Note(
          NotedStore(base),
          NotedCopy(
            rest: rest, sample: archive ?? [], sentAsides: try notedAsides(),
            archive: here.archive)))
    } catch {
      // Without the note the next launch asks the store.
    }
  }

  private func write(_ content: Note) throws {
    let bytes = try JSONEncoder().encode(content)
    let stored: Data
    if let opener = opener.withLock({ $0 }), let key = try opener.keys.key(creating: false) {
      let tag = key.tag(of: Array(bytes), context: opener.noteContext)
      stored = try JSONEncoder().encode(Tagged(note: bytes, tag: Data(tag)))
    } else {
      stored = bytes
    }
    try note.replace { sink throws(ArchiveError) in try sink.write(Array(stored)) }
  }

  /// The set-aside states that are here and in the store, and those to be removed from the store.
  private func notedAsides() throws(ArchiveError) -> [Aside] {
    let removed = hasRemovedAsides ? Set(try removedAsides().map(\.name)) : []
    return asides.withLock { $0.stored }
      .filter { $0.stored == nil || removed.contains($0.name) }
      .map {
        Aside(
          name: $0.name, identifier: $0.identifier, version: $0.version,
          isRemoved: removed.contains($0.name))
      }
  }

  /// The sample of so many bytes of the local archive; nil if it is missing, or shorter.
  func sample(_ byteCount: Int) throws(ArchiveError) -> [UInt8]? {
    guard byteCount >= 0, let file = try main.open(), file.byteCount >= byteCount else {
      return nil
    }
    let count = min(Self.sampleByteCount, byteCount)
    return try file.read(at: 0, count: count) + file.read(at: byteCount - count, count: count)
  }

  // MARK: Which versions are here

  /// The version of the local state, as far as it can be opened.
  struct Here: Sendable {
    var archive: ArchiveVersion?
    /// The changes for which the version was found.
    var changes = Changes()
  }

  /// Tells which state is here, so that nobody has to open it to find out.
  func noteHere(_ version: ArchiveVersion) {
    let here = Here(archive: version, changes: changes)
    versions.withLock { $0.here = here }
  }

  private func here() throws(ArchiveError) -> Here {
    let changes = changes
    var here = versions.withLock { $0.here }
    guard let opener = opener.withLock({ $0 }),
      let key = try opener.keys.key(creating: false)
    else { return Here() }
    if here.archive == nil || here.changes != changes {
      here.archive = try version(key, opener.context)
    }
    here.changes = changes
    versions.withLock { $0.here = here }
    return here
  }

  /// The version of the local archive; nil if there is none, or none that can be opened.
  private func version(
    _ key: ArchiveKey, _ context: ArchiveContext
  ) throws(ArchiveError) -> ArchiveVersion? {
    do throws(ArchiveError) {
      return try Archive.open(main, key: key, context: context, recovery: .recover)?.version
    } catch {
      guard error.isAboutContent else { throw error }
      return nil
    }
  }

  // MARK: Reading

  /// Reads the unsent changes and the set-aside states; ``prove(orNothing:)`` finds out the rest.
  func readNote() {
    guard isLasting else { return }
    // Set-aside states that are not in a note count as not sent.
    asides.withLock { $0.sentCount = .max }
    do {
      let isHere = try main.open() != nil
      take(.began(isHere: isHere))
      guard let note = try storedNote()?.content else { return }
      // A set-aside file that somebody has taken away is still in the store.
      let here = Set(try main.setAsideArchives().map(\.identifier))
      for aside in note.copy.sentAsides where aside.isRemoved || here.contains(aside.identifier) {
        self.note(
          StoredAside(
            name: aside.name, version: aside.version, identifier: aside.identifier, stored: nil))
        if aside.isRemoved { asides.withLock { $0.hasRemoved = true } }
      }
    } catch {
      // Without a note the store is asked.
    }
  }

  /// The stored note; nil if there is none, or the file holds something else.
  func storedNote() throws(ArchiveError) -> StoredNote? {
    guard let file = try note.open(), file.byteCount < Self.largestNote else { return nil }
    let bytes = Data(try file.read(at: 0, count: file.byteCount))
    let tagged: Tagged? = Self.decoded(bytes)
    guard let content: Note = Self.decoded(tagged?.note ?? bytes),
      Self.parcelCounts.contains(content.store.parcelCount)
    else { return nil }
    return StoredNote(content: content, tagged: tagged)
  }

  private static func decoded<Value: Decodable>(_ bytes: Data) -> Value? {
    do { return try JSONDecoder().decode(Value.self, from: bytes) } catch { return nil }
  }
}
