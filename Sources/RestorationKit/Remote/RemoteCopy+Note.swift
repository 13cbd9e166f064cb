internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
internal import Synchronization

/// What a lasting copy knows of the store at the next launch.
extension RemoteCopy {
  private struct Note: Codable {
    enum Rest: String, Codable {
      case change, whole, removal
    }

    /// Nil if nobody knows what the store has.
    var version: RemoteVersion?
    var id: RemoteParcel.ID?
    var parcelCount: Int
    var byteCount: Int
    var isPlace: Bool
    /// What the store does not have yet, if there is anything.
    var rest: Rest
    /// The beginning of the archive, and its end as the store has it.
    var sample: [UInt8]
    /// The same of the subkeys.
    var secrets: [UInt8]
    /// What was set aside that the store has.
    var sentAsides: [Aside]
  }

  private struct Aside: Codable {
    let name: String
    let identifier: String
    /// Whether it is to be removed from the store.
    var isRemoved = false
  }

  /// What of the archive is kept in the note, to tell whether it goes on from there.
  static let sampleByteCount = 64
  private static let largestNote = 1 << 20
  /// More than any state has; a note that says otherwise is none.
  private static let parcelCounts = 0...(1 << 20)

  /// Notes that the state was removed here: the process may end before the store can be told.
  func noteRemoval() {
    let changes = changes
    content.withLock { $0.removed = changes }
    if isUnsent { writeNote() }
  }

  func writeNote() {
    guard isLasting else { return }
    do {
      let changes = changes
      let (known, needsWhole, sent, removed) = content.withLock {
        ($0.base, $0.needsWhole, $0.sent, $0.removed)
      }
      let isRemoved = removed == changes && sent != changes
      guard let base = known else {
        guard isRemoved || hasRemovedAsides else { return try note.remove() }
        return try write(
          Note(
            version: nil, id: nil, parcelCount: 0, byteCount: 0, isPlace: false,
            rest: isRemoved ? .removal : .whole, sample: [], secrets: [],
            sentAsides: try notedAsides()))
      }
      // Another archive may have taken the place of the one that was sent.
      let isSame =
        !isRemoved && !needsWhole && main.changes.unchangedByteCount >= base.byteCount
        && sent.secrets == changes.secrets
      let archive = isSame ? try sample(of: main, base.byteCount) : nil
      let rest: Note.Rest = if isRemoved { .removal } else { archive == nil ? .whole : .change }
      try write(
        Note(
          version: base.version, id: base.id, parcelCount: base.parcelCount,
          byteCount: base.byteCount, isPlace: base.isPlace, rest: rest, sample: archive ?? [],
          secrets: try sample(of: secrets) ?? [], sentAsides: try notedAsides()))
    } catch {
      // Then the next launch finds out what the store has.
    }
  }

  private func write(_ content: Note) throws {
    let bytes = try JSONEncoder().encode(content)
    try note.replace { sink throws(ArchiveError) in try sink.write(Array(bytes)) }
  }

  /// Those that are here and in the store, and those that are to be removed from it.
  private func notedAsides() throws(ArchiveError) -> [Aside] {
    let removed = hasRemovedAsides ? Set(try removedAsides().map(\.name)) : []
    return asides.withLock { $0.stored }
      .filter { $0.stored == nil || removed.contains($0.name) }
      .map {
        Aside(
          name: $0.name, identifier: $0.identifier, isRemoved: removed.contains($0.name))
      }
  }

  /// Nil if nothing is there, or less.
  private func sample(
    of storage: TrackedStorage, _ count: Int? = nil
  ) throws(ArchiveError) -> [UInt8]? {
    guard let file = try storage.open() else { return nil }
    let byteCount = count ?? file.byteCount
    guard byteCount >= 0, file.byteCount >= byteCount else { return nil }
    let count = min(Self.sampleByteCount, byteCount)
    return try file.read(at: 0, count: count) + file.read(at: byteCount - count, count: count)
  }

  func readNote() {
    guard isLasting else { return }
    // What nobody has noted counts as not sent.
    asides.withLock { $0.sentCount = .max }
    do {
      let size = try main.open()?.byteCount
      content.withLock { $0.sent = size == nil ? Changes() : Changes(main: .max, secrets: .max) }
      guard let file = try note.open(), file.byteCount < Self.largestNote else { return }
      let note = try JSONDecoder().decode(
        Note.self, from: Data(try file.read(at: 0, count: file.byteCount)))
      guard Self.parcelCounts.contains(note.parcelCount) else { return }
      // A file that somebody has taken away is still in the store.
      let here = Set(try main.setAsideArchives().map(\.identifier))
      for aside in note.sentAsides where aside.isRemoved || here.contains(aside.identifier) {
        self.note(
          StoredAside(
            name: aside.name, version: nil, identifier: aside.identifier, stored: nil))
        if aside.isRemoved { asides.withLock { $0.hasRemoved = true } }
      }
      // A file that somebody has taken away is no state that the user has discarded.
      guard size != nil || note.rest == .removal else { return }
      if size == nil { content.withLock { $0.removed = Changes() } }
      let isSame =
        try note.rest == .change && sample(of: main, note.byteCount) == note.sample
        && sample(of: secrets) ?? [] == note.secrets
      guard let version = note.version else {
        if size == nil { content.withLock { $0.sent = Changes(main: .max, secrets: .max) } }
        return
      }
      content.withLock { content in
        content.base = Base(
          version, id: note.id, parcelCount: note.parcelCount, byteCount: note.byteCount,
          isPlace: note.isPlace)
        content.isFetched = true
        content.needsWhole = !isSame
        if size == nil {
          content.sent = Changes(main: .max, secrets: .max)
        } else if isSame {
          content.sent = Changes(main: size == note.byteCount ? 0 : .max)
        }
      }
      if isSame { main.mark(note.byteCount) }
    } catch {
      // The store says what it has.
    }
  }
}
