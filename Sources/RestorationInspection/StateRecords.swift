internal import ArchiveCodec
internal import RestorationKit

/// The records of a state that are read one after the other, before the elements have places.
struct StateRecords {
  private(set) var elements: ReadableRecords
  /// The sizes of the records of the elements, in the order of the file.
  private(set) var byteCounts: [UInt32] = []
  private(set) var applicationByteCount = 0
  private(set) var roots: [UInt64] = []
  /// Whether the record with the roots cannot be read, which is one problem.
  ///
  /// That no element has a place then is not reported for each.
  private(set) var isTreeUnreadable = false
  private(set) var problems: [StoredState.Problem] = []
  private(set) var problemCount = 0

  private let archive: Archive

  /// A hostile archive could have as many problems as records.
  private static let largestProblemCount = 100

  init(of archive: Archive) {
    self.archive = archive
    elements = ReadableRecords(expecting: archive.extent.snapshotRecordCount)
    byteCounts.reserveCapacity(archive.extent.snapshotRecordCount)
  }

  mutating func take(_ record: Archive.Record) {
    do throws(ArchiveError) {
      let content = try record.content.get()
      switch record.identifier {
      case NodeRecord.application:
        applicationByteCount = record.byteCount
        _ = try StoredState.Values(content)
        _ = try StoredState.facts(in: content, of: archive)
      case NodeRecord.tree:
        roots = try NodeRecord.roots(in: content)
        try NodeRecord.checkTree(content)
      default:
        try elements.append(record.identifier, content)
        byteCounts.append(UInt32(clamping: record.byteCount))
      }
    } catch {
      if record.identifier == NodeRecord.tree { isTreeUnreadable = true }
      note([record.identifier], error)
    }
  }

  mutating func note(_ records: [UInt64], _ error: ArchiveError) {
    problemCount += records.count
    problems += records.prefix(Self.largestProblemCount - problems.count).map {
      StoredState.Problem(record: $0, error: error)
    }
  }
}
