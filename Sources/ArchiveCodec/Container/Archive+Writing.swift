internal import RestorationFoundation
internal import Synchronization

extension Archive {
  /// The result of a write.
  public struct Summary: Hashable, Sendable {
    /// The version of the archive after the change.
    public let version: ArchiveVersion

    /// The bytes that were written.
    public let byteCount: Int

    /// The number of records that were written.
    public let recordCount: Int
  }

  /// Seals records and replaces the stored archive with them, or changes
  /// nothing.
  ///
  /// Every file gets a random data key of its own. The content goes to the
  /// storage a megabyte at a time; several processors seal it.
  ///
  /// - Parameters:
  ///   - records: All records of the archive.
  ///   - storage: The storage of the archive.
  ///   - slots: The keys and passphrases that will open it: 1 to 8, and at
  ///     most 2 passphrases.
  ///   - context: The context that will open it.
  ///   - replacing: The version of the archive that this one replaces.
  ///   - schema: A number of the application's own, for its migrations.
  /// - Returns: The new version, and the numbers of bytes and records.
  /// - Throws: ``ArchiveError``: the errors of the storage, `malformed` if the records
  ///   continue another archive, `lastSlot` for no slots, `limitExceeded` for too many,
  ///   and `cryptographyUnavailable`. Then the stored archive is unchanged. Only with
  ///   `notDurable` the new one is in its place, and a power cut may bring the old one
  ///   back.
  /// - Complexity: O(*n*) in the size of the records, and the cost of each
  ///   passphrase.
  public static func write(
    _ records: RecordBatch, to storage: any ArchiveStorage, slots: [NewSlot],
    context: ArchiveContext, replacing: ArchiveVersion? = nil, schema: UInt32 = 0
  ) throws(ArchiveError) -> Summary {
    try write(
      records, to: storage, slots: slots, context: context, replacing: replacing, schema: schema,
      random: .system, moment: .now)
  }

  /// Seals records under one key; see
  /// ``write(_:to:slots:context:replacing:schema:)``.
  ///
  /// - Parameters:
  ///   - records: All records of the archive.
  ///   - storage: The storage of the archive.
  ///   - key: The key that will open it.
  ///   - context: The context that will open it.
  ///   - replacing: The version of the archive that this one replaces.
  ///   - schema: A number of the application's own, for its migrations.
  /// - Returns: The new version, and the numbers of bytes and records.
  /// - Throws: ``ArchiveError`` as the other form does.
  public static func write(
    _ records: RecordBatch, to storage: any ArchiveStorage, key: ArchiveKey,
    context: ArchiveContext, replacing: ArchiveVersion? = nil, schema: UInt32 = 0
  ) throws(ArchiveError) -> Summary {
    try write(
      records, to: storage, slots: [.key(key)], context: context, replacing: replacing,
      schema: schema)
  }

  package static func write(
    _ records: RecordBatch, to storage: any ArchiveStorage, slots: [NewSlot],
    context: ArchiveContext, replacing: ArchiveVersion?, schema: UInt32, random: RandomSource,
    moment: Moment
  ) throws(ArchiveError) -> Summary {
    guard records.knownSymbolCount == 0 else {
      throw ArchiveError(.malformed, subject: "the records continue another archive")
    }
    return try replace(
      storage, slots: slots, context: context, replacing: replacing, random: random,
      moment: moment
    ) { writer throws(ArchiveError) in
      try writer.append(records)
      return (
        try writer.finish(symbols: records.symbols, schema: schema).trailer.version, records.count
      )
    }
  }

  /// Seals records as they are encoded and replaces the stored archive with
  /// them, or changes nothing.
  ///
  /// Use the method for an archive that is too large to be held in memory. It needs 16
  /// bytes for each record, the names of the keys, and a few megabytes.
  ///
  ///     let summary = try Archive.write(to: storage, slots: [.key(key)], context: context) {
  ///       records in
  ///       for row in table {
  ///         try records.append(record: row.id) { $0.encode(row.text, forKey: "text") }
  ///       }
  ///     }
  ///
  /// - Parameters:
  ///   - storage: The storage of the archive.
  ///   - slots: The keys and passphrases that will open it: 1 to 8, and at
  ///     most 2 passphrases.
  ///   - context: The context that will open it.
  ///   - replacing: The version of the archive that this one replaces.
  ///   - schema: A number of the application's own, for its migrations.
  ///   - limits: The limits of a record.
  ///   - body: Encodes all records.
  /// - Returns: The new version, and the numbers of bytes and records.
  /// - Throws: The errors of `body`, and as the other form does.
  /// - Complexity: O(*n*) in the size of the records, and the cost of each
  ///   passphrase.
  public static func write(
    to storage: any ArchiveStorage, slots: [NewSlot], context: ArchiveContext,
    replacing: ArchiveVersion? = nil, schema: UInt32 = 0, limits: ArchiveLimits = .standard,
    _ body: (RecordBuilder) throws -> Void
  ) throws -> Summary {
    var failure: (any Error)?
    do {
      return try replace(
        storage, slots: slots, context: context, replacing: replacing, random: .system, moment: .now
      ) { writer throws(ArchiveError) in
        let builder = RecordBuilder(limits: limits)
        builder.drainWhenLarge = writer.append
        do {
          try body(builder)
        } catch {
          // The storage can only throw archive errors; the error of `body` is thrown below.
          failure = error
          throw ArchiveError(.inputOutput, subject: "encoding")
        }
        try writer.append(builder.drain())
        let index = try builder.index.finish()
        writer.index.replace(by: index)
        let symbols = builder.symbols(from: 0)
        return (try writer.finish(symbols: symbols, schema: schema).trailer.version, index.count)
      }
    } catch {
      throw failure ?? error
    }
  }

  /// Seals records as they are encoded under one key; see
  /// ``write(to:slots:context:replacing:schema:limits:_:)``.
  ///
  /// - Parameters:
  ///   - storage: The storage of the archive.
  ///   - key: The key that will open it.
  ///   - context: The context that will open it.
  ///   - replacing: The version of the archive that this one replaces.
  ///   - schema: A number of the application's own, for its migrations.
  ///   - limits: The limits of a record.
  ///   - body: Encodes all records.
  /// - Returns: The new version, and the numbers of bytes and records.
  /// - Throws: The errors of `body`, and as the other form does.
  public static func write(
    to storage: any ArchiveStorage, key: ArchiveKey, context: ArchiveContext,
    replacing: ArchiveVersion? = nil, schema: UInt32 = 0, limits: ArchiveLimits = .standard,
    _ body: (RecordBuilder) throws -> Void
  ) throws -> Summary {
    try write(
      to: storage, slots: [.key(key)], context: context, replacing: replacing, schema: schema,
      limits: limits, body)
  }

  private static func replace(
    _ storage: any ArchiveStorage, slots: [NewSlot], context: ArchiveContext,
    replacing: ArchiveVersion?, random: RandomSource, moment: Moment,
    _ body: (CommitWriter) throws(ArchiveError) -> (ArchiveVersion, Int)
  ) throws(ArchiveError) -> Summary {
    // The slow work for a passphrase is done before there is a temporary file.
    let file = try UnlockedHeader(
      making: slots, context: context, replacing: replacing, random: random)
    var summary: Summary?
    try storage.replace { sink throws(ArchiveError) in
      let writer = try CommitWriter(
        file, file.encoded, random: random, moment: moment, sink: sink)
      let (version, count) = try body(writer)
      summary = Summary(version: version, byteCount: writer.fileByteCount, recordCount: count)
    }
    guard let summary else { throw ArchiveError(.inputOutput, subject: "storage wrote nothing") }
    return summary
  }

  /// Bytes that no other write shares: they hedge against a failed random source.
  package struct Moment: Sendable {
    package let witness: [UInt8]

    package init(witness: [UInt8]) {
      self.witness = witness
    }

    private static let count = Atomic<UInt64>(0)

    /// The time, the process, and how many archives the process has written.
    package static var now: Moment {
      let writer = ByteBuffer()
      writer.writeInteger(Date().timeIntervalSinceReferenceDate.bitPattern)
      writer.writeInteger(ProcessInfo.processInfo.processIdentifier)
      writer.writeInteger(count.wrappingAdd(1, ordering: .relaxed).newValue)
      return Moment(witness: writer.bytes)
    }
  }
}
