internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The records of a tree before each has its place, of which nothing is placed twice.
struct StoredRecords {
  private var rows: [StoredRow] = []
  private var isPlaced: [Bool] = []
  /// The identifier and the sibling index of each.
  private var names: [(identifier: String, index: Int)] = []
  private var places: RecordPlaces
  private var lists = NodeRecord.Lists()
  private var referred: [UInt64: [UInt64]] = [:]
  private var keptSince: [UInt64: Date] = [:]
  private var forms: [StoredForm] = []
  private var formNumbers: [NodeRecord.FormKey: Int32] = [:]
  private var lastForm: (key: NodeRecord.FormKey, number: Int32)?
  private var keys: NodeKeys?

  init(count: Int) {
    places = RecordPlaces(count: count)
    rows.reserveCapacity(count)
    names.reserveCapacity(count)
    isPlaced.reserveCapacity(count)
  }

  /// Takes the record that has a place among those of the archive.
  mutating func append(
    _ record: UInt64, _ decoder: KeyedDecoder, at place: Int
  ) throws(ArchiveError) {
    let keys = keys ?? NodeKeys(of: decoder)
    self.keys = keys
    let read = try NodeRecord.read(decoder, keys, &lists)
    let form = number(of: read.form, decoder)
    places[record] = rows.count
    rows.append(
      StoredRow(
        record: record, kind: read.kind, hasLastState: read.hasLastState, form: form,
        recordPlace: UInt32(place), builtIn: UInt32(read.builtIn), state: UInt32(read.state),
        views: read.views, children: read.children, presented: read.presented,
        referrer: read.referrer))
    isPlaced.append(false)
    names.append((read.identifier, read.siblingIndex))
    if let date = read.keptSince { keptSince[record] = date }
    if read.referrer != 0 { referred[read.referrer, default: []].append(record) }
  }

  private mutating func number(of key: NodeRecord.FormKey, _ decoder: KeyedDecoder) -> Int32 {
    if let lastForm, lastForm.key == key { return lastForm.number }
    if let number = formNumbers[key] {
      lastForm = (key, number)
      return number
    }
    let number = Int32(forms.count)
    let className = lists.name(key.className, of: decoder) ?? ""
    forms.append(
      StoredForm(
        className: className,
        restorationClassName: key.restoresItself
          ? className : lists.name(key.restorationClass, of: decoder),
        storyboard: lists.name(key.storyboard, of: decoder).map {
          StoryboardReference(
            name: $0, identifier: lists.name(key.storyboardIdentifier, of: decoder) ?? "")
        },
        version: key.version))
    // Those that are written inline are not compared.
    guard !key.hasInlineNames else { return number }
    formNumbers[key] = number
    lastForm = (key, number)
    return number
  }

  /// Orders the records: parents first, their views, what they contain in
  /// order, what they present, then what only they refer to.
  mutating func place(
    _ roots: [UInt64], _ unreadable: inout [StoredTree.Unreadable]
  ) -> StoredOutline {
    var siblings = SiblingCheck(count: rows.count)
    var placed: [StoredRow] = []
    placed.reserveCapacity(rows.count)
    var stack: [(record: UInt64, parent: Int?, role: StoredTree.Role)] =
      roots.reversed().map { ($0, nil, .root) }
    while let (record, parent, role) = stack.popLast() {
      guard let place = places[record], !isPlaced[place] else { continue }
      isPlaced[place] = true
      var row = rows[place]
      (row.parent, row.role) = (parent, role)
      let name = SiblingCheck.Name(
        kind: row.kind, parent: parent, identifier: names[place].identifier,
        index: names[place].index)
      guard siblings.insert(name) else {
        unreadable.append(
          StoredTree.Unreadable(
            record: record, error: ArchiveError(.malformed, subject: "two nodes of one path")))
        continue
      }
      let number = placed.count
      placed.append(row)
      // The last is next.
      if !referred.isEmpty {
        for next in (referred[record] ?? []).reversed() { stack.append((next, number, .referred)) }
      }
      if row.presented != 0 { stack.append((row.presented, number, .presented)) }
      for next in row.children.reversed() {
        stack.append((lists.references[Int(next)], number, .child))
      }
      for next in row.views.reversed() {
        stack.append((lists.references[Int(next)], number, .view))
      }
    }
    let left = rows.indices.lazy.filter { [isPlaced] in !isPlaced[$0] }
      .map { [rows] in rows[$0].record }.sorted()
    for record in left {
      unreadable.append(
        StoredTree.Unreadable(
          record: record, error: ArchiveError(.malformed, subject: "not in the tree")))
    }
    return StoredOutline(placed, forms, lists.references, siblings.names, keptSince: keptSince)
  }
}
