internal import ArchiveCodec

/// The records of a save; a record is written if another one is stored, or if all records are
/// written.
final class RecordWriting {
  let builder: RecordBuilder
  /// The encoder of all records; the coder of the objects keeps it.
  let encoder: KeyedEncoder
  /// Whether all records are written, and not only those that are stored otherwise.
  let rewrites: Bool
  private let rows: Rows

  /// Whether the application has something to store that is not stored.
  private(set) var isApplicationChanged = false
  private(set) var isTreeChanged = false
  /// The objects that have no record yet, because their state could not be encoded or was not asked
  /// for.
  var lost: [LostState] = []

  /// The written records of elements; the rows take them when they are stored, and not before.
  @safe @exclusivity(unchecked) private var written: [Written] = []
  private var application: [RecordFingerprint]?
  private var tree: RecordFingerprint?

  private struct Written {
    let number: RowNumber
    let fingerprint: RecordFingerprint
    let isAsked: Bool
  }

  /// Writes with a builder of changes to the archive of the rows; nil writes all records anew.
  init(_ rows: Rows, changing builder: RecordBuilder?, _ limits: ArchiveLimits) {
    self.rows = rows
    rewrites = builder == nil
    self.builder = builder ?? RecordBuilder(limits: limits, keys: NodeRecord.keys)
    encoder = self.builder.makeEncoder()
  }

  /// Whether anything is written that is not stored, in a save of changes.
  var hasWritten: Bool { !written.isEmpty || isApplicationChanged || isTreeChanged }

  // MARK: Elements

  /// Ends the open record, which is that of a row; with `isSaid` the object itself has said its
  /// state for the record.
  ///
  /// Where all records are written, their fingerprints are made while nobody waits.
  ///
  /// - Returns: Whether the row's object, asked before, says something else now.
  @inline(__always)
  func end(_ number: RowNumber, isSaid: Bool) throws -> Bool {
    let isIncomplete = rows[number].met.isIncomplete
    // An object with a note may get another record when other objects have changed.
    let isAsked =
      isSaid && rows[number].hearing.isRegistered && !isIncomplete
      && !rows.findings.hasNotes(number)
    if rewrites {
      try builder.end()
      rows[number].stored.isAsked = isAsked
      return false
    }
    let (fingerprint, isWritten) = try builder.end(
      ifOtherThan: rows[number].stored.fingerprint)
    guard isWritten else {
      rows[number].stored.isAsked = isAsked
      return false
    }
    written.append(Written(number: number, fingerprint: fingerprint, isAsked: isAsked))
    return rows[number].stored.isAsked && !isIncomplete
  }

  // MARK: The application, and the whole

  /// Ends the open record of the application, or abandons it if the stored one has the same
  /// fingerprints.
  func endApplication(_ fingerprints: [RecordFingerprint], time: UInt32) throws {
    isApplicationChanged = fingerprints != rows.whole.application
    application = fingerprints
    if rewrites || isApplicationChanged || time == 0 {
      try builder.end()
    } else {
      builder.abandon()
    }
  }

  /// Ends the open record of the tree, which is written if another one is stored.
  func endTree() throws {
    if rewrites {
      try builder.end()
    } else {
      (tree, isTreeChanged) = try builder.end(ifOtherThan: rows.whole.tree)
    }
  }

  /// Lets the rows know of the written records, which are stored now.
  func commit() {
    for record in written {
      rows[record.number].stored = Row.Stored(
        fingerprint: record.fingerprint, isAsked: record.isAsked)
    }
    if let application { rows.whole.application = application }
    if let tree { rows.whole.tree = tree }
  }

  /// Forgets all records of elements since a mark.
  func beginAnew(from mark: RecordBuilder.Mark) {
    builder.goBack(to: mark)
    (written, lost) = ([], [])
  }
}
