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

  /// Whether the record of an element is written.
  @safe @exclusivity(unchecked) private(set) var hasWritten = false
  /// Whether the application has something to store that is not stored.
  private(set) var isApplicationChanged = false
  private(set) var isTreeChanged = false
  /// The objects that have no record yet, because their state could not be encoded or was not asked
  /// for.
  var lost: [LostState] = []

  /// The entries of the rows before their records were written, for a walk that may begin anew.
  @safe @exclusivity(unchecked) private(set) var undo: [Undo] = []
  /// Whether the walk may begin anew.
  @safe @exclusivity(unchecked) var keepsUndo = true

  struct Undo {
    let number: RowNumber
    let stored: RecordFingerprint
    let byteCount: UInt32
    let wasAsked: Bool
  }

  /// Writes with a builder of changes to the archive of the rows; nil writes all records anew.
  init(_ rows: Rows, changing builder: RecordBuilder?, _ limits: ArchiveLimits) {
    self.rows = rows
    rewrites = builder == nil
    self.builder = builder ?? RecordBuilder(limits: limits, keys: NodeRecord.keys)
    encoder = self.builder.makeEncoder()
  }

  // MARK: Elements

  /// Ends the open record, which is that of a row.
  ///
  /// Where all records are written, their fingerprints are made while nobody waits.
  ///
  /// - Returns: Whether the row's object, asked before, says something else now.
  @inline(__always)
  func end(_ number: RowNumber) throws -> Bool {
    let wasAsked = rows[number].stored.isAsked && !rows[number].met.isIncomplete
    // An object with a note may get another record when other objects have changed.
    rows[number].stored.isAsked =
      rows[number].hearing.isRegistered && !rows[number].met.isIncomplete
      && !rows.findings.hasNotes(number)
    if rewrites {
      rows[number].stored.byteCount = UInt32(clamping: try builder.end())
      return false
    }
    let known = rows[number].stored.fingerprint
    let (fingerprint, byteCount, isWritten) = try builder.end(ifOtherThan: known)
    if keepsUndo {
      undo.append(
        Undo(
          number: number, stored: known, byteCount: rows[number].stored.byteCount,
          wasAsked: wasAsked))
    }
    rows[number].stored.fingerprint = fingerprint
    rows[number].stored.byteCount = UInt32(clamping: byteCount)
    if isWritten { hasWritten = true }
    return wasAsked && isWritten
  }

  // MARK: The application, and the whole

  /// Ends the open record of the application, or abandons it if the stored one has the same
  /// fingerprints.
  func endApplication(_ fingerprints: [RecordFingerprint], time: UInt32) throws {
    isApplicationChanged = fingerprints != rows.whole.application
    rows.whole.application = fingerprints
    if rewrites || isApplicationChanged || time == 0 {
      try builder.end()
    } else {
      builder.abandon()
    }
  }

  /// Ends the open record of the tree; nil writes it in any case.
  func endTree(ifOtherThan known: RecordFingerprint?) throws {
    if rewrites {
      try builder.end()
    } else {
      (rows.whole.tree, _, isTreeChanged) = try builder.end(ifOtherThan: known)
    }
  }

  // MARK: Beginning anew

  /// Forgets all records of elements since a mark.
  func beginAnew(from mark: RecordBuilder.Mark) {
    builder.goBack(to: mark)
    for undo in undo.reversed() {
      rows[undo.number].stored.fingerprint = undo.stored
      rows[undo.number].stored.byteCount = undo.byteCount
    }
    (undo, lost, hasWritten) = ([], [], false)
  }

  /// Forgets that this walk has asked objects, for a walk that asks the same objects again.
  func restoreWasAsked() {
    for undo in undo.reversed() { rows[undo.number].stored.isAsked = undo.wasAsked }
  }

  /// Forgets who was asked so far, so that a walk through everything blames none of these objects
  /// for a change that it did not announce.
  func forgetWasAsked() {
    for undo in undo { rows[undo.number].stored.isAsked = false }
  }
}
