internal import ArchiveCodec
internal import RestorationFoundation
internal import RestorationKit
internal import Synchronization

/// The note of a lasting copy, which tells the next launch about the store.
extension RemoteCopy {
  struct Note: Codable {
    /// The state of the store; nil if its version is not known.
    let base: Base?
    /// Whether the state was removed here.
    let isRemoval: Bool
    /// The beginning of the archive, and its end as the store has it; nil if the archive is another one.
    ///
    /// The sample shows whether the file continues the archive in the store, if the file is whole.
    let sample: [UInt8]?
    /// The last local state, by the MAC of its whole history; nil if there was none.
    let archive: ArchiveVersion?
    /// The moments here that the store has, and those that are to be removed from it.
    ///
    /// Only these versions are: another moment may have the name by then.
    let sent: [String: RemoteVersion]
    let removed: [String: RemoteVersion]
  }

  /// A note with its MAC, or without one if there is no key.
  ///
  /// A file that somebody has changed must not pass for the state that the store has.
  private struct Tagged: Codable {
    let note: Data
    let tag: Data
  }

  /// The length of the samples, in bytes, at the beginning and at the end.
  static let sampleByteCount = 64
  private static let largestNote = 1 << 20
  /// The largest number is more than any state has; a note with a larger one is no note.
  private static let parcelCounts = 0...(1 << 20)

  // MARK: Writing

  /// Notes the local state if it has taken the place of another one, or of one that is doubted.
  ///
  /// A state that replaces one that nobody has read begins a history of its own: nothing would show that it comes
  /// from the noted one.
  func noteIfReplaced() {
    let isReplaced = tracked.withLock { $0.isReplaced }
    if isUnsent, isReplaced || finding.isDoubted { writeNote() }
  }

  /// Notes the state that is about to be replaced.
  ///
  /// A file names the state that it has replaced, and none before that. So the note has
  /// to name the same one, or nothing would show that the file comes from here.
  func noteBeforeReplacing() {
    guard isLasting, isProven, let noted = versions.withLock({ $0.noted }) else { return }
    do {
      if let here = try here().archive, here != noted { writeNote() }
    } catch {
      // Without the note the next launch asks the store.
    }
  }

  func writeNote() {
    // While the file is doubted and nothing was saved since, the note keeps naming the right state.
    guard let note = files.note, isProven, !finding.isDoubted || isUnsent else { return }
    do {
      let (changes, state, here) = (changes, state, try here())
      let isRemoved = state.removed == changes && state.sent != changes
      versions.withLock { $0.noted = here.archive }
      tracked.withLock { $0.isReplaced = false }
      guard state.base != nil || isRemoved || hasRemovedMoments else { return try note.remove() }
      var sample: [UInt8]?
      // Another archive may have replaced the one that was sent.
      if let base = state.base, !isRemoved, !state.needsWhole,
        tracked.withLock({ $0.unchangedByteCount }) >= base.byteCount
      {
        sample = try self.sample(base.byteCount)
      }
      let local = Set(try files.moments.listed().map(\.id))
      let history = history.withLock { $0 }
      let bytes = try JSONEncoder().encode(
        Note(
          base: state.base, isRemoval: isRemoved, sample: sample, archive: here.archive,
          sent: history.stored.filter { local.contains($0.key) }, removed: history.removed))
      let tag = try opener().map { $0.key.tag(of: Array(bytes), context: $0.noteContext) }
      let tagged = try JSONEncoder().encode(Tagged(note: bytes, tag: Data(tag ?? [])))
      try note.replace { sink throws(ArchiveError) in try sink.write(Array(tagged)) }
    } catch {
      // Without the note the next launch asks the store.
    }
  }

  /// The sample of so many bytes of the local archive; nil if it is missing, or shorter.
  func sample(_ byteCount: Int) throws(ArchiveError) -> [UInt8]? {
    guard byteCount >= 0, let file = try files.main.open(), file.byteCount >= byteCount else {
      return nil
    }
    let count = min(Self.sampleByteCount, byteCount)
    return try file.read(at: 0, count: count) + file.read(at: byteCount - count, count: count)
  }

  // MARK: What is here

  /// The version of the local state, as far as it can be opened.
  struct Here: Sendable {
    var archive: ArchiveVersion?
    /// Whether the archive has nothing, as after a discard.
    var isEmpty = false
    /// The changes for which the version was found.
    var changes: Changes?
  }

  /// Tells which state is here, so that nobody has to open it to find out.
  func noteHere(_ archive: Archive) {
    let here = Here(archive: archive.version, isEmpty: !archive.hasRecords, changes: changes)
    versions.withLock { $0.here = here }
  }

  /// Whether there is a state here; an empty archive is none.
  func isHere() throws(ArchiveError) -> Bool {
    guard try files.main.open() != nil else { return false }
    do throws(ArchiveError) {
      return try !here().isEmpty
    } catch {
      // Without the key nobody can tell.
      return true
    }
  }

  private func here() throws(ArchiveError) -> Here {
    if let here = versions.withLock({ $0.here }), here.changes == changes { return here }
    if let archive = try readable() { noteHere(archive) }
    return versions.withLock { $0.here.flatMap { $0.changes == changes ? $0 : nil } } ?? Here()
  }

  // MARK: Reading

  /// Reads the unsent changes and the moments; ``prove(orNothing:)`` finds out the rest.
  func readNote() {
    guard isLasting else { return }
    // Moments that are not in a note count as not sent.
    history.withLock { $0.kept = 1 }
    do {
      take(.began(isHere: try files.main.open() != nil))
      guard let note = try storedNote()?.note else { return }
      // A moment that somebody has taken away is still in the store.
      let here = Set(try files.moments.listed().map(\.id))
      history.withLock { history in
        history.stored = note.sent.filter { here.contains($0.key) }
        history.removed = note.removed
      }
    } catch {
      // Without a note the store is asked.
    }
  }

  /// The stored note, and whether somebody with the key has written it; nil if there is none, or the file
  /// holds something else.
  func storedNote() throws(ArchiveError) -> (note: Note, isTagged: Bool)? {
    guard let file = try files.note?.open(), file.byteCount < Self.largestNote else { return nil }
    let bytes = Data(try file.read(at: 0, count: file.byteCount))
    guard let tagged: Tagged = Self.decoded(bytes), let note: Note = Self.decoded(tagged.note),
      Self.parcelCounts.contains(note.base?.parcelCount ?? 0)
    else { return nil }
    do throws(ArchiveError) {
      let isTagged = try opener().map {
        $0.key.isTag(Array(tagged.tag), of: Array(tagged.note), context: $0.noteContext)
      }
      return (note, isTagged ?? false)
    } catch {
      return (note, false)
    }
  }

  private static func decoded<Value: Decodable>(_ bytes: Data) -> Value? {
    do { return try JSONDecoder().decode(Value.self, from: bytes) } catch { return nil }
  }
}
