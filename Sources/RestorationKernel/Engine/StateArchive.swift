internal import ArchiveCodec
internal import Dispatch
internal import Synchronization

/// The file of a state: opened once, locked and kept open. All that waits for the disk happens here.
actor StateArchive {
  private let storage: any ArchiveStorage
  private let keys: any KeyProvider
  private let context: ArchiveContext
  private let limits: ArchiveLimits
  private var writer: ArchiveWriter?

  init(_ storage: any ArchiveStorage, _ keys: any KeyProvider, _ context: ArchiveContext, _ limits: ArchiveLimits) {
    (self.storage, self.keys, self.context, self.limits) = (storage, keys, context, limits)
  }

  struct Opened: Sendable {
    let writer: ArchiveWriter
    /// Nil if nothing is stored.
    let stored: (document: Document, records: StoredRecords)?
  }

  /// Opens the file, and reads what is stored.
  func open(creatingKey isCreating: Bool) throws(ArchiveError) -> Opened? {
    let opened: ArchiveWriter
    if let writer, isCurrent(writer) {
      opened = writer
    } else {
      writer = nil
      guard let key = try keys.key(creating: isCreating) else {
        guard try storage.open() == nil else {
          throw ArchiveError(.keyMissing, location: keys.location)
        }
        return nil
      }
      opened = try ArchiveWriter(storage, with: .key(key), context: context, limits: limits)
    }
    writer = opened
    guard let archive = opened.archive else { return Opened(writer: opened, stored: nil) }
    let records = try StoredRecords(archive)
    return Opened(
      writer: opened, stored: (try Document(records, savedAt: archive.schema), records))
  }

  /// Whether nobody else has changed the file.
  private func isCurrent(_ writer: ArchiveWriter) -> Bool {
    do throws(ArchiveError) {
      try writer.checkIsCurrent()
      return true
    } catch {
      return false
    }
  }

  /// Opens the file to save without having restored: what is stored is kept beside the state, which
  /// begins anew.
  ///
  /// - Returns: Nil if nothing is stored; then a first save makes the file. And where the earlier state is.
  func openForSaving() throws(ArchiveError) -> (writer: ArchiveWriter?, setAside: String?) {
    guard try open(creatingKey: false)?.stored != nil else { return (writer, nil) }
    writer = nil
    let location = try storage.setAside()
    return (try open(creatingKey: false)?.writer, location)
  }

  struct Appended: Sendable {
    let writer: ArchiveWriter
    let version: ArchiveVersion?
    let byteCount: Int
    /// The fingerprints of the records, if they are asked for.
    let fingerprints: [(record: UInt64, fingerprint: RecordFingerprint)]
  }

  func append(
    _ records: RecordBatch, removing removed: [UInt64], at time: UInt32, withFingerprints: Bool
  ) throws(ArchiveError) -> Appended {
    if writer == nil { _ = try open(creatingKey: true) }
    guard let writer else {
      throw ArchiveError(.keyMissing, location: keys.location)
    }
    let summary = try writer.append(records, removing: removed, schema: time)
    return Appended(
      writer: writer, version: summary.version, byteCount: summary.byteCount,
      fingerprints: withFingerprints ? records.fingerprints : [])
  }

  func discard() throws(ArchiveError) {
    writer = nil
    try storage.remove()
  }

  /// Lets the file and its lock go.
  func close() { writer = nil }
}
