internal import ArchiveCodec
internal import RestorationFoundation

/// The numbers of the records that belong to no element.
package enum TreeRecord {
  /// The forms, the next identifier, and what the app said of itself.
  package static let forms = UInt64.max - 2
  /// What is kept, and what was not read.
  package static let kept = UInt64.max - 1
  /// The body of the tree itself: what the application wrote.
  package static let application = UInt64.max - 4
  /// The first record of a value, behind those of all elements; there are 2^61.
  package static let firstValue = UInt64(6) << 61
  /// Stands in a file whose next compaction has to leave no trace of what was removed; no document has it.
  package static let compactionDue = UInt64.max - 3
}

enum DocumentKey {
  static let (ids, names, roles, siblings, forms) = ("ids", "names", "roles", "siblings", "forms")
  static let (classes, makers, versions) = ("classes", "makers", "versions")
  static let (storyboards, storyboardNames) = ("storyboards", "storyboardNames")
  static let (idLimit, facts) = ("idLimit", "facts")
  static let (reasons, since, owners) = ("reasons", "since", "owners")
}

extension RecordBuilder {
  /// Writes who is below an element, as arrays beside each other.
  func writeContents(_ ids: [UInt64], _ places: [Place], of element: Element) throws {
    let coder = try begin(record: element.contentsRecord)
    // The identifiers of new siblings follow each other, so that most differences take a byte.
    let steps = zip(ids, [0] + ids).map { Int64(bitPattern: $0 &- $1) }
    coder.encode(steps, forKey: DocumentKey.ids)
    coder.encode(places.map(\.name), forKey: DocumentKey.names)
    coder.encode(places.map { Int($0.form) }, forKey: DocumentKey.forms)
    coder.encode(places.map(\.storedRole), DocumentKey.roles, unlessAll: 0)
    coder.encode(places.map { Int($0.siblingIndex) }, DocumentKey.siblings, unlessAll: 0)
    try end()
  }

  func writeHead(_ head: DocumentHead) throws {
    let coder = try begin(record: TreeRecord.forms)
    let forms = head.forms
    coder.encode(head.idLimit, forKey: DocumentKey.idLimit)
    coder.encode(forms.map(\.className), forKey: DocumentKey.classes)
    coder.encode(forms.map { $0.restorationClassName ?? "" }, forKey: DocumentKey.makers)
    coder.encode(forms.map(\.version), forKey: DocumentKey.versions)
    let boards = forms.map(\.storyboard)
    coder.encode(boards.map { $0?.name ?? "" }, DocumentKey.storyboards, unlessAll: "")
    coder.encode(boards.map { $0?.identifier ?? "" }, DocumentKey.storyboardNames, unlessAll: "")
    coder.encode(head.facts, forKey: DocumentKey.facts)
    try end()
  }

  /// Writes the elements and bodies that are kept since a date, each with the identifier of its element.
  func writeKept(_ rows: [(owner: UInt64, part: Kept)], since now: Date) throws {
    let coder = try begin(record: TreeRecord.kept)
    coder.encode(rows.map(\.owner), forKey: DocumentKey.owners)
    coder.encode(rows.map(\.part.id), forKey: DocumentKey.ids)
    coder.encode(rows.map { Int($0.part.form) }, forKey: DocumentKey.forms)
    coder.encode(rows.map(\.part.reason.rawValue), forKey: DocumentKey.reasons)
    coder.encode(rows.map { $0.part.since ?? now }, forKey: DocumentKey.since)
    try end()
  }
}

extension KeyedEncoder {
  /// Writes an array that need not be there, as the one that is read instead has one value alone.
  fileprivate func encode<Value: Equatable>(
    _ values: [Value], _ key: String, unlessAll value: Value
  ) where [Value]: ArchiveValue {
    if values.contains(where: { $0 != value }) { encode(values, forKey: key) }
  }
}
