package import ArchiveCodec

/// The records of elements that can be read, taken one by one and without their values, for tools.
///
/// A restore reads all records with ``StoredRecords``. It ends at damage, and a tool goes on.
package struct ReadableRecords: Sendable {
  private var part: RecordPart

  /// Begins without a record.
  ///
  /// - Parameter count: About how many records will come.
  package init(expecting count: Int) {
    part = RecordPart(from: 0, count: count)
  }

  /// Reads the record of an element, with what is kept beside its state.
  ///
  /// - Parameters:
  ///   - record: The number of the record.
  ///   - content: Its values.
  /// - Throws: `ArchiveError` if the record is that of no element, which changes nothing.
  package mutating func append(
    _ record: UInt64, _ content: KeyedDecoder
  ) throws(ArchiveError) {
    guard part.rows.count < Int32.max else {
      throw ArchiveError(.limitExceeded, subject: "records")
    }
    if let kept = try content.container(forKey: NodeRecord.Key.kept.rawValue) {
      _ = try KeptState.all(in: kept, of: record)
    }
    try part.append(record, content)
  }

  /// Orders all elements as a restore does, with those that it leaves out.
  ///
  /// Elements of equal paths are all there. The elements that no placed one names come last, each
  /// with what is below it; of elements in a circle one comes first.
  ///
  /// - Parameter roots: The records of the roots.
  /// - Returns: The elements; the place of a row's record is the number of those appended before.
  package consuming func place(_ roots: [UInt64]) -> PlacedRecords {
    StoredRecords(part).place(roots, keepsAll: true)
  }
}
