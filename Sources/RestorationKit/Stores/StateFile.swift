internal import ArchiveCodec

/// The stored state of one keeper; reads and writes one after the other.
actor StateFile {
  private let storage: any ArchiveStorage
  private let keys: any KeyProvider
  private let context: ArchiveContext

  /// What is stored, once that it was opened or written here.
  private var version: ArchiveVersion?
  private var wasExamined = false
  private var lastWritten: UInt64 = 0

  init(storage: any ArchiveStorage, keys: any KeyProvider, context: ArchiveContext) {
    self.storage = storage
    self.keys = keys
    self.context = context
  }

  /// Reads and verifies what is stored, nil if nothing is.
  func read() throws(ArchiveError) -> StoredTree? {
    guard try storage.open() != nil else {
      wasExamined = true
      return nil
    }
    guard let key = try keys.key(creating: false) else { throw ArchiveError(.keyMissing) }
    guard let archive = try Archive.open(storage, key: key, context: context) else { return nil }
    let tree = try StoredTree(reading: archive)
    version = tree.version
    wasExamined = true
    return tree
  }

  struct Written: Sendable {
    let summary: Archive.Summary
    let setAside: String?
  }

  /// Writes a state, nil if a later one was written before; the number grows
  /// with every walk.
  func write(_ records: RecordBatch, number: UInt64) throws(ArchiveError) -> Written? {
    guard number > lastWritten else { return nil }
    guard let key = try keys.key(creating: true) else { throw ArchiveError(.keyMissing) }
    let setAside = try examine(key)
    // If the write fails, who knows what is stored: look again next time.
    wasExamined = false
    let summary = try Archive.write(
      records, to: storage, key: key, context: context, replacing: version)
    wasExamined = true
    version = summary.version
    lastWritten = number
    return Written(summary: summary, setAside: setAside)
  }

  func discard(number: UInt64) throws(ArchiveError) {
    guard number > lastWritten else { return }
    try storage.remove()
    version = nil
    wasExamined = true
    lastWritten = number
  }

  /// Looks at what is stored before it is replaced for the first time.
  ///
  /// An archive that cannot be opened may open again one day: with a newer
  /// version of the app, or with the key that is missing. So it is kept.
  private func examine(_ key: ArchiveKey) throws(ArchiveError) -> String? {
    guard !wasExamined else { return nil }
    var setAside: String?
    do throws(ArchiveError) {
      version = try Archive.open(storage, key: key, context: context)?.version
    } catch  where error.isAboutContent {
      setAside = try storage.setAside()
    }
    wasExamined = true
    return setAside
  }
}

extension ArchiveError {
  /// Whether the bytes or their key are the cause, and not the way to them.
  fileprivate var isAboutContent: Bool {
    switch code {
    case .notAnArchive, .unsupportedVersion, .unsupportedFeature, .damaged, .truncated, .wrongKey,
      .wrongContext, .malformed, .limitExceeded:
      true
    default: false
    }
  }
}
