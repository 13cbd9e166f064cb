extension ArchiveWriter {
  /// Locks the storage and opens what is stored with a key; see
  /// ``open(_:with:context:limits:recovery:)``.
  ///
  /// - Parameters:
  ///   - storage: Where the archive is or will be.
  ///   - key: A key of the archive.
  ///   - context: The context of the archive.
  ///   - lock: The lock of the storage, if the caller has it already.
  ///   - limits: What a record may hold.
  ///   - recovery: What to do with a damaged end of the journal.
  /// - Returns: A writer; nothing stored is not an error.
  /// - Throws: ``ArchiveError`` as the other form does.
  public static func open(
    _ storage: any ArchiveStorage, key: ArchiveKey, context: ArchiveContext,
    lock: (any ArchiveLock)? = nil, limits: ArchiveLimits = .standard,
    recovery: ArchiveRecovery = .recover
  ) throws(ArchiveError) -> ArchiveWriter {
    try open(
      storage, with: .key(key), context: context, lock: lock, limits: limits, recovery: recovery)
  }
}
