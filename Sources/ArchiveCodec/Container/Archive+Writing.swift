#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
internal import Synchronization

extension Archive {
  /// What was written.
  public struct Summary: Hashable, Sendable {
    /// The version of the new archive.
    public let version: ArchiveVersion

    /// The size of the file in bytes.
    public let byteCount: Int

    /// The number of records.
    public let recordCount: Int
  }

  /// Seals records and replaces what is stored, or changes nothing.
  ///
  /// Every file gets a random data key of its own. The content goes to the
  /// storage in chunks of 16 KiB as it is sealed.
  ///
  /// - Parameters:
  ///   - records: All records of the archive.
  ///   - storage: Where the archive goes.
  ///   - key: The key that will open it.
  ///   - context: The context that will open it.
  ///   - replacing: The version of the archive that this one replaces.
  ///   - schema: A number of the application's own, for its migrations.
  /// - Returns: What was written.
  /// - Throws: ``ArchiveError``: what the storage throws, and
  ///   `cryptographyUnavailable`. On an error the stored archive is unchanged.
  /// - Complexity: O(*n*) in the size of the records.
  public static func write(
    _ records: RecordBatch, to storage: any ArchiveStorage, key: ArchiveKey,
    context: ArchiveContext, replacing: ArchiveVersion? = nil, schema: UInt32 = 0
  ) throws(ArchiveError) -> Summary {
    try write(
      records, to: storage, key: key, context: context, replacing: replacing, schema: schema,
      random: .system, moment: .now)
  }

  package static func write(
    _ records: RecordBatch, to storage: any ArchiveStorage, key: ArchiveKey,
    context: ArchiveContext, replacing: ArchiveVersion?, schema: UInt32, random: RandomSource,
    moment: Moment
  ) throws(ArchiveError) -> Summary {
    var summary: Summary?
    try storage.replace { sink throws(ArchiveError) in
      let writer = try SnapshotWriter(
        key: key, context: context, replacing: replacing, random: random, moment: moment,
        sink: sink)
      summary = try writer.write(records, schema: schema)
    }
    guard let summary else { throw ArchiveError(.inputOutput, subject: "storage wrote nothing") }
    return summary
  }

  /// Something that no other write shares: it hedges a failed random source.
  package struct Moment: Sendable {
    package let witness: [UInt8]

    package init(witness: [UInt8]) {
      self.witness = witness
    }

    private static let count = Atomic<UInt64>(0)

    /// The time, the process, and how many archives it has written.
    package static var now: Moment {
      var writer = ByteWriter()
      writer.writeInteger(Date().timeIntervalSinceReferenceDate.bitPattern)
      writer.writeInteger(ProcessInfo.processInfo.processIdentifier)
      writer.writeInteger(count.wrappingAdd(1, ordering: .relaxed).newValue)
      return Moment(witness: writer.bytes)
    }
  }
}
