package import ArchiveCodec

/// Opens the archives of one state, and gives the key that seals them.
package struct ArchiveOpener: Sendable {
  package let keys: any KeyProvider
  package let context: ArchiveContext
  let limits: ArchiveLimits

  /// Opens an archive.
  ///
  /// - Parameters:
  ///   - storage: Where the archive is.
  ///   - key: The key; nil asks the provider.
  ///   - file: The file of the archive, if it is open already.
  ///   - recovery: What to do with a damaged end.
  /// - Returns: The archive; nil if the storage is empty.
  /// - Throws: As ``Archive/open(_:key:context:limits:recovery:)``, and why there is no key.
  package func open(
    _ storage: any ArchiveStorage, _ key: ArchiveKey? = nil, _ file: (any ArchiveFile)? = nil,
    recovery: ArchiveRecovery = .strict
  ) throws(ArchiveError) -> Archive? {
    let key = if let key { key } else { try existingKey() }
    return try Archive.open(
      storage, file, with: .key(key), context: context, limits: limits, recovery: recovery)
  }

  package func existingKey() throws(ArchiveError) -> ArchiveKey {
    guard let key = try keys.key(creating: false) else {
      throw ArchiveError(.keyMissing, location: keys.location)
    }
    return key
  }

  /// The key, with the stamp of its provider.
  func currentKey(creating: Bool) throws(ArchiveError) -> CurrentKey {
    if let current = try (keys as? FileKeyProvider)?.currentKey() { return current }
    guard let key = try keys.key(creating: creating) else {
      throw ArchiveError(.keyMissing, location: keys.location)
    }
    return CurrentKey(key: key, stamp: nil)
  }
}

/// A key with the stamp of its provider; nil if the provider has none, or has just made the key.
struct CurrentKey {
  let key: ArchiveKey
  let stamp: KeyFile.Stamp?
}
