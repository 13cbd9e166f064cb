package import ArchiveCodec

/// The stored state of one keeper; reads and writes one after the other.
package actor StateFile {
  private let storage: any ArchiveStorage
  private let keys: any KeyProvider
  private let context: ArchiveContext

  /// The archive that was read whole, or written, here.
  private var known: ArchiveVersion?
  /// Not reported yet, because what came after it failed.
  private var setAside: String?
  private var lastNumber: UInt64 = 0

  package init(storage: any ArchiveStorage, keys: any KeyProvider, context: ArchiveContext) {
    self.storage = storage
    self.keys = keys
    self.context = context
  }

  /// Reads and verifies what is stored, nil if nothing is.
  func read() throws(ArchiveError) -> StoredTree? {
    guard try storage.open() != nil else { return nil }
    guard let key = try keys.key(creating: false) else {
      throw ArchiveError(.keyMissing, location: keys.location)
    }
    guard let archive = try Archive.open(storage, key: key, context: context) else { return nil }
    let tree = try StoredTree(reading: archive)
    if tree.isWhole { known = tree.version }
    return tree
  }

  package struct Written: Sendable {
    package let summary: Archive.Summary
    package let setAside: String?
  }

  /// Writes a state, nil if a later one was written before; the number grows
  /// with every walk.
  package func write(
    _ records: RecordBatch, number: UInt64
  ) throws(ArchiveError) -> Written? {
    guard number > lastNumber else { return nil }
    guard let key = try keys.key(creating: true) else {
      throw ArchiveError(.keyMissing, location: keys.location)
    }
    let summary = try Archive.write(
      records, to: storage, key: key, context: context, replacing: try examine(key))
    known = summary.version
    lastNumber = number
    return Written(summary: summary, setAside: reportSetAside())
  }

  /// Removes what is stored, but keeps what cannot be read; says where.
  func decline(number: UInt64) throws(ArchiveError) -> String? {
    guard number > lastNumber else { return nil }
    if let key = try keys.key(creating: false) {
      _ = try examine(key)
      try storage.remove()
    } else {
      setAside = try storage.setAside() ?? setAside
    }
    lastNumber = number
    return reportSetAside()
  }

  /// Removes what is stored, whatever it is.
  func discard(number: UInt64) throws(ArchiveError) {
    guard number > lastNumber else { return }
    try storage.remove()
    lastNumber = number
  }

  /// Looks at what is about to be replaced; returns its version, nil if nothing
  /// is left to replace.
  ///
  /// An archive that cannot be read whole may be read again one day: with a
  /// newer version of the app, or with the key that is missing. So it is kept.
  /// Another process may have put one there at any time, so every save looks;
  /// it reads the whole only if it is not the one that is known here.
  private func examine(_ key: ArchiveKey) throws(ArchiveError) -> ArchiveVersion? {
    do throws(ArchiveError) {
      guard let archive = try Archive.open(storage, key: key, context: context) else { return nil }
      if try isReplaceable(archive) { return archive.version }
    } catch  where error.isAboutContent {
    }
    setAside = try storage.setAside() ?? setAside
    return nil
  }

  private func isReplaceable(_ archive: Archive) throws(ArchiveError) -> Bool {
    guard archive.isWritable, archive.version.generation < .max else { return false }
    guard archive.version != known else { return true }
    return try StoredTree(reading: archive).isWhole
  }

  private func reportSetAside() -> String? {
    defer { setAside = nil }
    return setAside
  }
}

extension ArchiveError {
  /// Whether the bytes or their key are the cause, and not the way to them.
  fileprivate var isAboutContent: Bool {
    switch code {
    case .notAnArchive, .unsupportedVersion, .unsupportedFeature, .damaged, .truncated, .wrongKey,
      .wrongContext, .malformed, .limitExceeded, .typeMismatch, .keyNotFound, .numberOutOfRange:
      true
    default: false
    }
  }
}
