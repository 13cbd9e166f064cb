extension Archive {
  /// Opens what is stored with a key; see
  /// ``open(_:with:context:limits:recovery:)``.
  ///
  /// - Parameters:
  ///   - storage: Where the archive is.
  ///   - key: One of the keys that it was written with.
  ///   - context: The context that it was written with.
  ///   - limits: What a record may hold.
  ///   - recovery: What to do with a damaged end of the journal.
  /// - Returns: The archive, or nil if the storage is empty.
  /// - Throws: ``ArchiveError`` as the other form does.
  public static func open(
    _ storage: any ArchiveStorage, key: ArchiveKey, context: ArchiveContext,
    limits: ArchiveLimits = .standard, recovery: ArchiveRecovery = .strict
  ) throws(ArchiveError) -> Archive? {
    try open(storage, with: .key(key), context: context, limits: limits, recovery: recovery)
  }

  /// Seals records under one key; see
  /// ``write(_:to:slots:context:replacing:schema:)``.
  ///
  /// - Parameters:
  ///   - records: All records of the archive.
  ///   - storage: Where the archive goes.
  ///   - key: The key that will open it.
  ///   - context: The context that will open it.
  ///   - replacing: The version of the archive that this one replaces.
  ///   - schema: A number of the application's own, for its migrations.
  /// - Returns: What was written.
  /// - Throws: ``ArchiveError`` as the other form does.
  public static func write(
    _ records: RecordBatch, to storage: any ArchiveStorage, key: ArchiveKey,
    context: ArchiveContext, replacing: ArchiveVersion? = nil, schema: UInt32 = 0
  ) throws(ArchiveError) -> Summary {
    try write(
      records, to: storage, slots: [.key(key)], context: context, replacing: replacing,
      schema: schema)
  }

  /// Seals records as they are encoded under one key; see
  /// ``write(to:slots:context:replacing:schema:limits:_:)``.
  ///
  /// - Parameters:
  ///   - storage: Where the archive goes.
  ///   - key: The key that will open it.
  ///   - context: The context that will open it.
  ///   - replacing: The version of the archive that this one replaces.
  ///   - schema: A number of the application's own, for its migrations.
  ///   - limits: What a record may hold.
  ///   - body: Encodes all records.
  /// - Returns: What was written.
  /// - Throws: What `body` throws, and as the other form does.
  public static func write(
    to storage: any ArchiveStorage, key: ArchiveKey, context: ArchiveContext,
    replacing: ArchiveVersion? = nil, schema: UInt32 = 0, limits: ArchiveLimits = .standard,
    _ body: (RecordBuilder) throws -> Void
  ) throws -> Summary {
    try write(
      to: storage, slots: [.key(key)], context: context, replacing: replacing, schema: schema,
      limits: limits, body)
  }
}
