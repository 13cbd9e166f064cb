internal import ArchiveCodec

/// Some records that follow each other in an archive.
struct RecordPart: Sendable {
  /// The place of the first record.
  let start: Int
  /// One for each record; if it is no element, or cannot be read, the number of its record is 0.
  private(set) var rows: [StoredRow] = []
  /// The identifier and the sibling index of each element.
  private(set) var names: [(identifier: String, index: Int)] = []
  /// The places of the records that are no elements.
  private(set) var application: Int?
  private(set) var tree: Int?
  private(set) var lists = NodeRecord.Lists()
  private(set) var referrers: [(record: UInt64, referrer: UInt64)] = []
  private(set) var rare = RareParts()
  private(set) var forms = FormTable()
  private(set) var unreadable: [StoredTree.Unreadable] = []
  private var keys: NodeKeys?

  /// A part without records, for about as many as will be appended.
  init(from start: Int, count: Int) {
    self.start = start
    rows.reserveCapacity(count)
    names.reserveCapacity(count)
  }

  init(_ all: VerifiedRecords, _ range: Range<Int>) {
    self.init(from: range.lowerBound, count: range.count)
    for place in range {
      let record = all.identifier(at: place)
      switch record {
      case NodeRecord.application: application = place
      case NodeRecord.tree: tree = place
      default:
        do throws(ArchiveError) {
          try append(record, try all.record(at: place))
        } catch {
          unreadable.append(StoredTree.Unreadable(record: record, error: error))
        }
      }
      if rows.count == place - start {
        rows.append(StoredRow(0, .application, form: 0))
        names.append(("", 0))
      }
    }
  }

  /// Reads the record of an element; after an error the part has no row for it.
  mutating func append(_ record: UInt64, _ decoder: KeyedDecoder) throws(ArchiveError) {
    let keys = keys ?? NodeKeys(of: decoder)
    self.keys = keys
    // Each form has its names; those of the record before are of no use any more.
    if !lists.names.isEmpty { lists.names.removeAll(keepingCapacity: true) }
    let read = try NodeRecord.read(decoder, keys, &lists)
    var row = StoredRow(record, read.name.kind, form: forms.number(of: read.form, lists, decoder))
    row.hasLastState = read.hasLastState
    row.recordPlace = UInt32(start + rows.count)
    (row.builtIn, row.state) = (UInt32(read.builtIn), UInt32(read.state))
    row.connections = read.connections
    rows.append(row)
    names.append((read.name.identifier, read.name.index))
    if let date = read.keptSince { rare.keptSince[record] = date }
    if read.kept != 0 { rare.kept[record] = UInt32(read.kept) }
    let referrer = read.connections.referrer
    if referrer != 0 { referrers.append((record, referrer)) }
  }
}

/// The forms of some elements, each with a number.
struct FormTable: Sendable {
  private(set) var all: [(key: NodeRecord.FormKey, form: StoredForm)] = []
  private var numbers = FormNumbers()
  private var last: (key: NodeRecord.FormKey, number: Int32)?

  mutating func number(
    of key: NodeRecord.FormKey, _ lists: NodeRecord.Lists, _ decoder: KeyedDecoder
  ) -> Int32 {
    if let last, last.key == key { return last.number }
    if let number = numbers[key] {
      last = (key, number)
      return number
    }
    let number = Int32(all.count)
    all.append((key, StoredForm(key, lists, of: decoder)))
    // Names that are written inline are not compared.
    guard !key.hasInlineNames else { return number }
    numbers.add(key, number)
    last = (key, number)
    return number
  }
}

/// The numbers of forms by their keys.
struct FormNumbers: Sendable {
  /// Most states have few forms, and these are found sooner than the type of a dictionary is made.
  private var few: [(key: NodeRecord.FormKey, number: Int32)] = []
  private var many: [NodeRecord.FormKey: Int32] = [:]
  private static let mostOfFew = 8

  subscript(key: NodeRecord.FormKey) -> Int32? {
    many.isEmpty ? few.first { $0.key == key }?.number : many[key]
  }

  /// Adds a form that has no number yet.
  mutating func add(_ key: NodeRecord.FormKey, _ number: Int32) {
    guard few.count == Self.mostOfFew else { return few.append((key, number)) }
    if many.isEmpty { for (key, number) in few { many[key] = number } }
    many[key] = number
  }
}
