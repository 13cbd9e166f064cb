internal import ArchiveCodec

/// A verified archive as a tree, ready to be brought back.
///
/// Reading a tree needs no actor. It also makes an authentic but hostile archive
/// harmless: every record is placed at most once, so a cycle or a child of two parents
/// cannot make the restore go round or twice.
package struct StoredTree: Sendable {
  /// A node, view or object with its stored values.
  struct Element: Sendable {
    let record: UInt64
    let path: RestorationPath
    /// The index of the parent in ``StoredTree/elements``; nil for a root.
    let parent: Int?
    let role: Role
    let content: NodeRecord
    var values: Values
    /// The states that are kept beside the element's own, newest first.
    var kept: [KeptState] = []
  }

  /// The relation of an element to its parent.
  package enum Role: Sendable {
    case root, view, child, presented
    /// The parent only refers to the element.
    case referred
    /// No placed element names this one, so that a restore leaves it out.
    case stray
  }

  /// The stored values of an element.
  struct Values: Sendable {
    /// The library's values; nil if the library had none to save.
    let builtIn: KeyedDecoder?
    /// The app's values; nil if the element was saved without state.
    let state: KeyedDecoder?

    /// Tells the values from others, in any record; of no use in another process.
    ///
    /// References are left out, since they name records. If the values cannot be copied,
    /// the fingerprint equals no other.
    ///
    /// - Complexity: O(*n*) in the bytes of the values.
    var fingerprint: RecordFingerprint {
      do {
        return try ValueContent { encoder in
          try encoder.encodeContainer(forKey: ValueContent.key) { encoder in
            for (key, values) in [("builtIn", builtIn), ("state", state)] {
              guard let values else { continue }
              try encoder.encodeContainer(forKey: key) {
                try $0.copyAll(from: values) { _ in nil }
              }
            }
          }
        }.fingerprint
      } catch {
        return .unknown
      }
    }
  }

  /// The record of the application.
  struct Application: Sendable {
    let facts: SaveFacts?
    /// The values that the application wrote itself.
    let values: Values
    /// The values that were written in the name of a scene.
    let host: KeyedDecoder?

    fileprivate init(facts: SaveFacts?) {
      self.facts = facts
      values = Values(builtIn: nil, state: nil)
      host = nil
    }

    /// Reads the record; nil if the archive has none.
    fileprivate init(_ record: KeyedDecoder?, of archive: Archive) throws(ArchiveError) {
      facts = try record?.container(forKey: NodeRecord.factsKey)
        .map { (values) throws(ArchiveError) in try SaveFacts(values, of: archive) }
      values = Values(builtIn: nil, state: try record?.container(forKey: NodeRecord.stateKey))
      host = try record?.container(forKey: NodeRecord.hostKey)
    }
  }

  struct Unreadable: Sendable {
    let record: UInt64
    let error: ArchiveError
  }

  let version: ArchiveVersion
  let application: Application
  /// The names that classes had before the save, by their names in it.
  let formerNames: [String: [String]]
  /// The elements, each after its parent and after its elder siblings.
  let outline: StoredOutline
  let values: StoredValues
  /// The states that are kept beside those of elements, by the indices of the elements.
  private(set) var kept: [Int: [KeptState]] = [:]
  /// The fingerprints of the records of the elements; none of a part of a tree.
  let laterFingerprints: StoredFingerprints
  private(set) var unreadable: [Unreadable] = []
  /// The indices of the elements that a restore leaves out after crashes.
  var leftOut: Set<Int> = []
  /// Whether the state has been put in the place of another one since it was saved.
  var isPutBack = false

  var facts: SaveFacts? { application.facts }
  var host: KeyedDecoder? { application.host }
  var applicationValues: Values { application.values }

  /// The fingerprints of the records of the elements; the first call waits for them.
  var fingerprints: [RecordFingerprint] { laterFingerprints.all }

  /// Whether every record could be read and placed.
  var isWhole: Bool { unreadable.isEmpty }

  init(reading archive: Archive) throws(ArchiveError) {
    version = archive.version
    let all = try archive.verifiedRecords()
    let records = try StoredRecords(all)
    let tree = records.tree
    unreadable = records.unreadable
    application = try Application(records.application, of: archive)
    formerNames = try tree.map(Self.formerNames) ?? [:]
    let roots = try tree?.references(forKey: NodeRecord.rootsKey) ?? []
    let placed = records.place(roots)
    outline = placed.outline
    for (records, error) in [
      (placed.duplicates, PlacedRecords.duplicateError),
      (placed.strays.sorted(), PlacedRecords.strayError),
    ] {
      unreadable += records.map { Unreadable(record: $0, error: error) }
    }
    values = StoredValues(outline, in: all)
    laterFingerprints = StoredFingerprints(outline, in: all)
    for index in outline.keptPlaces { readKept(at: index) }
  }

  private mutating func readKept(at index: Int) {
    let record = outline.rows[index].record
    do throws(ArchiveError) {
      kept[index] = try values.kept(at: index).map { (container) throws(ArchiveError) in
        try KeptState.all(in: container, of: record)
      }
    } catch {
      unreadable.append(Unreadable(record: record, error: error))
    }
  }

  static func formerNames(in tree: KeyedDecoder) throws(ArchiveError) -> [String: [String]] {
    var formerNames: [String: [String]] = [:]
    if let names = try tree.container(forKey: NodeRecord.formerNamesKey) {
      for name in names.keys { formerNames[name] = try names.decodeIfPresent(forKey: name) }
    }
    return formerNames
  }

  /// A part of a tree, for a node that comes late.
  init(
    _ elements: [Element], version: ArchiveVersion, facts: SaveFacts?,
    formerNames: [String: [String]]
  ) {
    self.formerNames = formerNames
    self.version = version
    application = Application(facts: facts)
    outline = StoredOutline(elements)
    values = StoredValues(elements)
    for (index, element) in elements.enumerated() where !element.kept.isEmpty {
      kept[index] = element.kept
    }
    laterFingerprints = StoredFingerprints(StoredOutline([]), in: VerifiedRecords())
  }
}

// MARK: - Elements

extension StoredTree {
  var elements: Elements { Elements(tree: self) }

  /// All elements, as a collection that makes each element on access.
  struct Elements: RandomAccessCollection, Sendable {
    fileprivate let tree: StoredTree

    var startIndex: Int { 0 }
    var endIndex: Int { tree.outline.rows.count }

    subscript(index: Int) -> Element {
      let row = tree.outline.rows[index]
      return Element(
        record: row.record, path: tree.outline.path(of: index), parent: row.parent, role: row.role,
        content: tree.outline.content(of: index),
        values: tree.values[index], kept: tree.kept[index] ?? [])
    }
  }
}

/// The values of all elements of a tree, opened on access.
final class StoredValues: Sendable {
  private let outline: StoredOutline
  private let records: VerifiedRecords
  /// The values of the elements of a part of a tree; empty for a whole tree.
  private let made: [StoredTree.Values]

  init(_ outline: StoredOutline, in records: VerifiedRecords) {
    self.outline = outline
    self.records = records
    made = []
  }

  init(_ elements: [StoredTree.Element]) {
    outline = StoredOutline([])
    records = VerifiedRecords()
    made = elements.map(\.values)
  }

  subscript(index: Int) -> StoredTree.Values {
    StoredTree.Values(builtIn: builtIn(at: index), state: state(at: index))
  }

  /// The state of an element; nil if the element was saved without state.
  func state(at index: Int) -> KeyedDecoder? {
    made.isEmpty ? container(outline.rows[index].state, at: index) : made[index].state
  }

  /// The library's values of an element; nil if there are none.
  func builtIn(at index: Int) -> KeyedDecoder? {
    made.isEmpty ? container(outline.rows[index].builtIn, at: index) : made[index].builtIn
  }

  /// The states that are kept beside that of an element; nil if there are none.
  func kept(at index: Int) -> KeyedDecoder? { container(outline.kept(index) ?? 0, at: index) }

  private func container(_ start: UInt32, at index: Int) -> KeyedDecoder? {
    guard start > 0 else { return nil }
    return records.container(at: Int(start), ofRecordAt: Int(outline.rows[index].recordPlace))
  }
}
