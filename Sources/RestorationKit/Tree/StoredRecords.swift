internal import ArchiveCodec
internal import Dispatch
internal import Synchronization
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The records of a tree before the elements are ordered, by their places in the archive.
struct StoredRecords {
  private let all: VerifiedRecords
  private let parts: [RecordPart]
  private let recordsPerPart: Int
  private(set) var application: KeyedDecoder?
  private(set) var tree: KeyedDecoder?
  private(set) var unreadable: [StoredTree.Unreadable] = []

  /// The fewest records of a part: fewer are read before another thread has begun.
  private static let leastPerPart = 512
  /// Several parts for each worker, so that none waits for long when one is slower.
  private static let partsPerWorker = 4

  /// Reads the records, on all cores.
  ///
  /// The call blocks its thread, as ``Archive/verifiedRecords(workerCount:)`` does.
  init(
    _ all: VerifiedRecords,
    workerCount: Int? = nil
  ) throws(ArchiveError) {
    self.all = all
    let workerCount =
      all.count > Self.leastPerPart ? workerCount ?? ProcessorCount.value : 1
    let recordsPerPart = max(
      all.count / (max(workerCount, 1) * Self.partsPerWorker) + 1, Self.leastPerPart)
    self.recordsPerPart = recordsPerPart
    let count = (all.count + recordsPerPart - 1) / recordsPerPart
    @Sendable func part(_ number: Int) -> RecordPart {
      let start = number * recordsPerPart
      return RecordPart(all, start..<min(start + recordsPerPart, all.count))
    }
    parts =
      count == 1 || workerCount < 2
      ? (0..<count).map(part) : Self.atOnce(count: count, part)
    for part in parts {
      if let place = part.application { application = try all.record(at: place) }
      if let place = part.tree { tree = try all.record(at: place) }
      unreadable += part.unreadable
    }
  }

  private static func atOnce(
    count: Int, _ part: @Sendable (_ number: Int) -> RecordPart
  ) -> [RecordPart] {
    let read = Mutex<[RecordPart?]>(Array(repeating: nil, count: count))
    DispatchQueue.concurrentPerform(iterations: count) { number in
      let part = part(number)
      read.withLock { $0[number] = part }
    }
    return read.withLock { $0 }.compactMap(\.self)
  }

  /// Orders the records: parents first, their views, the elements that they contain in order, the
  /// one that they present, then the ones that only they refer to.
  func place(
    _ roots: [UInt64], _ unreadable: inout [StoredTree.Unreadable]
  ) throws(ArchiveError) -> StoredOutline {
    let common = try CommonParts(parts)
    let places = recordPlaces()
    var isPlaced = Array(repeating: false, count: all.count)
    var siblings = SiblingCheck(count: all.count)
    var placed: [StoredRow] = []
    placed.reserveCapacity(all.count)
    var stack: [Unplaced] = roots.reversed().map { ($0, nil, .root) }
    while let (record, parent, role) = stack.popLast() {
      guard let place = places[record], !isPlaced[place] else { continue }
      isPlaced[place] = true
      let (part, index) = place.quotientAndRemainder(dividingBy: recordsPerPart)
      var row = parts[part].rows[index]
      common.adapt(&row, ofPart: part)
      (row.parent, row.role) = (parent, role)
      let (identifier, siblingIndex) = parts[part].names[index]
      let name = SiblingCheck.Name(
        kind: row.kind, parent: parent, identifier: identifier, index: siblingIndex)
      guard siblings.insert(name) else {
        unreadable.append(
          StoredTree.Unreadable(
            record: record, error: ArchiveError(.malformed, subject: "two nodes of one path")))
        continue
      }
      common.push(row, placed.count, on: &stack)
      placed.append(row)
    }
    if placed.count < all.count { noteUnplaced(isPlaced, &unreadable) }
    return StoredOutline(placed, common.forms, common.references, siblings.names, common.rare)
  }

  /// A record that another one names, and the element above.
  fileprivate typealias Unplaced = (record: UInt64, parent: Int?, role: StoredTree.Role)

  private func recordPlaces() -> RecordPlaces {
    var places = RecordPlaces(count: all.count)
    for part in parts {
      for (place, row) in zip(part.range, part.rows) where row.record > 0 {
        places[row.record] = place
      }
    }
    return places
  }

  private func noteUnplaced(_ isPlaced: [Bool], _ unreadable: inout [StoredTree.Unreadable]) {
    var left: [UInt64] = []
    for part in parts {
      for (place, row) in zip(part.range, part.rows) where row.record > 0 && !isPlaced[place] {
        left.append(row.record)
      }
    }
    for record in left.sorted() {
      unreadable.append(
        StoredTree.Unreadable(
          record: record, error: ArchiveError(.malformed, subject: "not in the tree")))
    }
  }
}

/// Some records that follow each other in an archive.
private struct RecordPart: Sendable {
  let range: Range<Int>
  /// One for each record; if it is no element, or cannot be read, the number of its record is 0.
  private(set) var rows: [StoredRow] = []
  /// The identifier and the sibling index of each element.
  private(set) var names: [(identifier: String, index: Int)] = []
  /// The indices of the records that are no elements.
  private(set) var application: Int?
  private(set) var tree: Int?
  private(set) var lists = NodeRecord.Lists()
  private(set) var referrers: [(record: UInt64, referrer: UInt64)] = []
  private(set) var rare = RareParts()
  private(set) var forms = FormTable()
  private(set) var unreadable: [StoredTree.Unreadable] = []
  private var keys: NodeKeys?

  init(_ all: VerifiedRecords, _ range: Range<Int>) {
    self.range = range
    rows.reserveCapacity(range.count)
    names.reserveCapacity(range.count)
    for place in range {
      let record = all.identifier(at: place)
      switch record {
      case NodeRecord.application: application = place
      case NodeRecord.tree: tree = place
      default:
        do throws(ArchiveError) {
          try append(record, try all.record(at: place), at: place)
        } catch {
          unreadable.append(StoredTree.Unreadable(record: record, error: error))
        }
      }
      if rows.count == place - range.lowerBound {
        rows.append(StoredRow(0, .application, form: 0))
        names.append(("", 0))
      }
    }
  }

  private mutating func append(
    _ record: UInt64, _ decoder: KeyedDecoder, at place: Int
  ) throws(ArchiveError) {
    let keys = keys ?? NodeKeys(of: decoder)
    self.keys = keys
    let read = try NodeRecord.read(decoder, keys, &lists)
    var row = StoredRow(record, read.name.kind, form: forms.number(of: read.form, lists, decoder))
    row.hasLastState = read.hasLastState
    row.recordPlace = UInt32(place)
    (row.builtIn, row.state) = (UInt32(read.builtIn), UInt32(read.state))
    row.connections = read.connections
    rows.append(row)
    names.append((read.name.identifier, read.name.index))
    if let date = read.keptSince { rare.keptSince[record] = date }
    if read.sensitive != 0 { rare.sensitive[record] = UInt32(read.sensitive) }
    if read.kept != 0 { rare.kept[record] = UInt32(read.kept) }
    let referrer = read.connections.referrer
    if referrer != 0 { referrers.append((record, referrer)) }
  }
}

/// The forms of some elements, each with a number.
private struct FormTable: Sendable {
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
private struct FormNumbers: Sendable {
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

/// The parts to which the rows of several parts refer, in one place for all.
private struct CommonParts {
  private(set) var references: [UInt64] = []
  private(set) var forms: [StoredForm] = []
  private(set) var rare = RareParts()
  /// The records that an element is the referrer of, in their order.
  private var referred: [UInt64: [UInt64]] = [:]
  /// Where the references of each part begin.
  private var firstReferences: [Int32] = []
  /// The common numbers of the forms of each part.
  private var formNumbers: [[Int32]] = []

  init(_ parts: [RecordPart]) throws(ArchiveError) {
    var known = FormNumbers()
    references.reserveCapacity(parts.reduce(0) { $0 + $1.lists.references.count })
    for part in parts {
      firstReferences.append(Int32(references.count))
      references += part.lists.references
      guard references.count <= Int32.max else {
        throw ArchiveError(.limitExceeded, subject: "references")
      }
      formNumbers.append(
        part.forms.all.map { key, form in
          if let number = known[key] { return number }
          let number = Int32(forms.count)
          forms.append(form)
          if !key.hasInlineNames { known.add(key, number) }
          return number
        })
      for (record, referrer) in part.referrers { referred[referrer, default: []].append(record) }
      rare.merge(part.rare)
    }
  }

  /// Changes the numbers in the row of a part to the common ones.
  func adapt(_ row: inout StoredRow, ofPart part: Int) {
    row.form = formNumbers[part][Int(row.form)]
    row.connections.move(by: firstReferences[part])
  }

  /// Puts the records that a row names on a stack, of which the last is placed next.
  func push(_ row: StoredRow, _ place: Int, on stack: inout [StoredRecords.Unplaced]) {
    if !referred.isEmpty {
      for next in (referred[row.record] ?? []).reversed() { stack.append((next, place, .referred)) }
    }
    let connections = row.connections
    if connections.presented != 0 { stack.append((connections.presented, place, .presented)) }
    for next in connections.children.reversed() {
      stack.append((references[Int(next)], place, .child))
    }
    for next in connections.views.reversed() {
      stack.append((references[Int(next)], place, .view))
    }
  }
}
