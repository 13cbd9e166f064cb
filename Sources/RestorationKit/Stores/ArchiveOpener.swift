internal import ArchiveCodec

/// Opens the archives of one state, and gives the key that seals them.
struct ArchiveOpener: Sendable {
  let keys: any KeyProvider
  let context: ArchiveContext
  let limits: ArchiveLimits

  /// Opens an archive.
  ///
  /// - Parameters:
  ///   - storage: Where the archive is.
  ///   - key: The key; nil asks the provider.
  ///   - recovery: What to do with a damaged end.
  /// - Returns: The archive; nil if the storage is empty.
  /// - Throws: As ``Archive/open(_:key:context:limits:recovery:)``, and why there is no key.
  func open(
    _ storage: any ArchiveStorage, _ key: ArchiveKey? = nil, recovery: ArchiveRecovery = .strict
  ) throws(ArchiveError) -> Archive? {
    let key = if let key { key } else { try existingKey() }
    return try Archive.open(
      storage, key: key, context: context, limits: limits, recovery: recovery)
  }

  func existingKey() throws(ArchiveError) -> ArchiveKey {
    guard let key = try keys.key(creating: false) else {
      throw ArchiveError(.keyMissing, location: keys.location)
    }
    return key
  }

  /// The key; what its provider says of it is asked first, so that it is of no later one.
  func currentKey(creating: Bool) throws(ArchiveError) -> CurrentKey {
    let stamp = try (keys as? any StampedKeyProvider)?.stamp()
    guard let key = try keys.key(creating: creating) else {
      throw ArchiveError(.keyMissing, location: keys.location)
    }
    return CurrentKey(key: key, stamp: stamp)
  }
}

/// A key with what its provider said of it before it gave it.
struct CurrentKey {
  let key: ArchiveKey
  let stamp: KeyFile.Stamp?
}
