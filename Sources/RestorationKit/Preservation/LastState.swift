internal import ArchiveCodec

/// The state that was stored last of an object that cannot say its state now.
struct LastState {
  let form: StoredForm
  let values: StoredTree.Values
}

extension LastState {
  fileprivate init(_ record: KeyedDecoder) throws(ArchiveError) {
    form = try StoredForm(reading: record)
    values = StoredTree.Values(
      builtIn: try record.container(forKey: NodeRecord.builtInKey),
      state: try record.container(forKey: NodeRecord.stateKey))
  }
}

/// The states that were stored last, and what the records that they name are called by now.
protocol LastStates {
  /// The names that classes had before, by their stored names.
  var formerNames: [String: [String]] { get }

  /// The states that may stay for a row, that of the row's own element first.
  func states(of number: RowNumber) -> [LastState]

  /// The record that an object with a stored record has now; nil if the object has gone.
  func record(_ stored: UInt64) -> UInt64?
}

/// The last states of rows that know which records are stored.
///
/// Only the records of these rows are read, so that an object which cannot say its state costs a save
/// no more than an object which has changed.
struct LastRecords: LastStates {
  let formerNames: [String: [String]]
  private let rows: Rows
  private var states: [RowNumber: LastState] = [:]

  /// The records to read for some rows, with that of the tree, which has the former names of classes.
  static func records(of numbers: some Sequence<RowNumber>) -> [UInt64] {
    [NodeRecord.tree] + numbers.map(\.record)
  }

  /// - Parameters:
  ///   - records: The records of ``records(of:)``, without those that are not stored.
  ///   - rows: The rows, which must know since an earlier save which record is whose.
  init(_ records: [UInt64: KeyedDecoder], _ rows: Rows) {
    self.rows = rows
    formerNames = Self.read(records[NodeRecord.tree], StoredTree.formerNames) ?? [:]
    for (record, content) in records {
      guard let number = rows.number(ofRecord: record), rows.isOwn(number) else { continue }
      states[number] = Self.read(content, LastState.init)
    }
  }

  /// A record that cannot be read counts as one that is not stored, as in the whole tree.
  private static func read<Content>(
    _ record: KeyedDecoder?, _ body: (KeyedDecoder) throws(ArchiveError) -> Content
  ) -> Content? {
    do throws(ArchiveError) { return try record.map(body) } catch { return nil }
  }

  func states(of number: RowNumber) -> [LastState] { [states[number]].compactMap(\.self) }

  func record(_ stored: UInt64) -> UInt64? {
    rows.number(ofRecord: stored).flatMap { rows.isStored($0) && rows.isOwn($0) ? stored : nil }
  }
}
