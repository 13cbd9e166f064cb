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
    workerCount: Int = ProcessorCount.value
  ) throws(ArchiveError) {
    self.all = all
    let recordsPerPart = max(
      all.count / (max(workerCount, 1) * Self.partsPerWorker) + 1, Self.leastPerPart)
    self.recordsPerPart = recordsPerPart
    let count = (all.count + recordsPerPart - 1) / recordsPerPart
    let read = Mutex<[RecordPart?]>(Array(repeating: nil, count: count))
    @Sendable func readPart(_ number: Int) {
      let start = number * recordsPerPart
      let part = RecordPart(all, start..<min(start + recordsPerPart, all.count))
      read.withLock { $0[number] = part }
    }
    if count == 1 || workerCount < 2 {
      for number in 0..<count { readPart(number) }
    } else {
      DispatchQueue.concurrentPerform(iterations: count, execute: readPart)
    }
    parts = read.withLock { $0 }.compactMap(\.self)
    for part in parts {
      if let place = part.application { application = try all.record(at: place) }
      if let place = part.tree { tree = try all.record(at: place) }
      unreadable += part.unreadable
    }
  }

  /// Orders the elements: each parent, then its views, its children in order, its
  /// presented node, and then the elements that it only refers to.
  func place(
    _ roots: [UInt64], _ unreadable: inout [StoredTree.Unreadable]
  ) throws(ArchiveError) -> StoredOutline {
    let common = try CommonParts(parts)
    var places = RecordPlaces(count: all.count)
    for part in parts {
      for (place, row) in zip(part.range, part.rows) where row.record > 0 {
        places[row.record] = place
      }
    }
    var isPlaced = Array(repeating: false, count: all.count)
    var siblings = SiblingCheck(count: all.count)
    var placed: [StoredRow] = []
    placed.reserveCapacity(all.count)
    var sensitive: [Int: UInt32] = [:]
    var kept: [Int: UInt32] = [:]
    var stack: [(record: UInt64, parent: Int?, role: StoredTree.Role)] =
      roots.reversed().map { ($0, nil, .root) }
    while let (record, parent, role) = stack.popLast() {
      guard let place = places[record], !isPlaced[place] else { continue }
      isPlaced[place] = true
      let (part, index) = place.quotientAndRemainder(dividingBy: recordsPerPart)
      var row = parts[part].rows[index]
      common.adapt(&row, ofPart: part)
      (row.parent, row.role) = (parent, role)
      let name = SiblingCheck.Name(
        kind: row.kind, parent: parent, identifier: parts[part].names[index].identifier,
        index: parts[part].names[index].index)
      guard siblings.insert(name) else {
        unreadable.append(
          StoredTree.Unreadable(
            record: record, error: ArchiveError(.malformed, subject: "two nodes of one path")))
        continue
      }
      let number = placed.count
      placed.append(row)
      if !common.sensitive.isEmpty { sensitive[number] = common.sensitive[record] }
      if !common.kept.isEmpty { kept[number] = common.kept[record] }
      // A step that is pushed last comes next.
      if !common.referred.isEmpty {
        for next in (common.referred[record] ?? []).reversed() {
          stack.append((next, number, .referred))
        }
      }
      if row.presented != 0 { stack.append((row.presented, number, .presented)) }
      for next in row.children.reversed() {
        stack.append((common.references[Int(next)], number, .child))
      }
      for next in row.views.reversed() {
        stack.append((common.references[Int(next)], number, .view))
      }
    }
    if placed.count < all.count {
      noteUnplaced(isPlaced, &unreadable)
    }
    return StoredOutline(
      placed, common.forms, common.references, siblings.names, keptSince: common.keptSince,
      sensitive: sensitive, kept: kept)
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

/// The elements of a run of records in an archive.
private struct RecordPart: Sendable {
  let range: Range<Int>
  /// The row of each record; a record that is no element, or cannot be read, has the number 0.
  private(set) var rows: [StoredRow] = []
  /// The identifier and the sibling index of each element.
  private(set) var names: [(identifier: String, index: Int)] = []
  /// The places of the records that are no elements.
  private(set) var application: Int?
  private(set) var tree: Int?
  private(set) var lists = NodeRecord.Lists()
  private(set) var referrers: [(record: UInt64, referrer: UInt64)] = []
  private(set) var keptSince: [UInt64: Date] = [:]
  /// The offsets of the values with a sensitivity, in the records that have some.
  private(set) var sensitive: [UInt64: UInt32] = [:]
  /// The offsets of the kept states, in the records that have some.
  private(set) var kept: [UInt64: UInt32] = [:]
  private(set) var forms: [(key: NodeRecord.FormKey, form: StoredForm)] = []
  private(set) var unreadable: [StoredTree.Unreadable] = []
  private var formNumbers: [NodeRecord.FormKey: Int32] = [:]
  private var lastForm: (key: NodeRecord.FormKey, number: Int32)?
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
      if rows.count == place - range.lowerBound { appendNone() }
    }
  }

  private mutating func append(
    _ record: UInt64, _ decoder: KeyedDecoder, at place: Int
  ) throws(ArchiveError) {
    let keys = keys ?? NodeKeys(of: decoder)
    self.keys = keys
    let read = try NodeRecord.read(decoder, keys, &lists)
    let form = number(of: read.form, decoder)
    rows.append(
      StoredRow(
        record: record, kind: read.kind, hasLastState: read.hasLastState, form: form,
        recordPlace: UInt32(place), builtIn: UInt32(read.builtIn), state: UInt32(read.state),
        views: read.views, children: read.children, presented: read.presented,
        referrer: read.referrer))
    names.append((read.identifier, read.siblingIndex))
    if let date = read.keptSince { keptSince[record] = date }
    if read.sensitive != 0 { sensitive[record] = UInt32(read.sensitive) }
    if read.kept != 0 { kept[record] = UInt32(read.kept) }
    if read.referrer != 0 { referrers.append((record, read.referrer)) }
  }

  private mutating func appendNone() {
    rows.append(
      StoredRow(
        record: 0, kind: .application, hasLastState: false, form: 0, recordPlace: 0, builtIn: 0,
        state: 0, views: 0..<0, children: 0..<0, presented: 0, referrer: 0))
    names.append(("", 0))
  }

  private mutating func number(of key: NodeRecord.FormKey, _ decoder: KeyedDecoder) -> Int32 {
    if let lastForm, lastForm.key == key { return lastForm.number }
    if let number = formNumbers[key] {
      lastForm = (key, number)
      return number
    }
    let number = Int32(forms.count)
    let className = lists.name(key.className, of: decoder) ?? ""
    let form = StoredForm(
      className: className,
      restorationClassName: key.restoresItself
        ? className : lists.name(key.restorationClass, of: decoder),
      storyboard: lists.name(key.storyboard, of: decoder).map {
        StoryboardReference(
          name: $0, identifier: lists.name(key.storyboardIdentifier, of: decoder) ?? "")
      },
      version: key.version)
    forms.append((key, form))
    // Names that are written inline are not compared, so their form gets no number.
    guard !key.hasInlineNames else { return number }
    formNumbers[key] = number
    lastForm = (key, number)
    return number
  }
}

/// The parts of rows that several record parts share.
private struct CommonParts {
  private(set) var references: [UInt64] = []
  private(set) var forms: [StoredForm] = []
  /// The records that name an element as their referrer, in order.
  private(set) var referred: [UInt64: [UInt64]] = [:]
  private(set) var keptSince: [UInt64: Date] = [:]
  private(set) var sensitive: [UInt64: UInt32] = [:]
  private(set) var kept: [UInt64: UInt32] = [:]
  /// The index of the first reference of each part.
  private var firstReferences: [Int32] = []
  /// The common numbers of the forms of each part.
  private var formNumbers: [[Int32]] = []

  init(_ parts: [RecordPart]) throws(ArchiveError) {
    var known: [NodeRecord.FormKey: Int32] = [:]
    references.reserveCapacity(parts.reduce(0) { $0 + $1.lists.references.count })
    for part in parts {
      firstReferences.append(Int32(references.count))
      references += part.lists.references
      guard references.count <= Int32.max else {
        throw ArchiveError(.limitExceeded, subject: "references")
      }
      formNumbers.append(
        part.forms.map { key, form in
          if let number = known[key] { return number }
          let number = Int32(forms.count)
          forms.append(form)
          if !key.hasInlineNames { known[key] = number }
          return number
        })
      for (record, referrer) in part.referrers { referred[referrer, default: []].append(record) }
      keptSince.merge(part.keptSince) { first, _ in first }
      sensitive.merge(part.sensitive) { first, _ in first }
      kept.merge(part.kept) { first, _ in first }
    }
  }

  /// Changes the numbers in the row of a part to the common ones.
  func adapt(_ row: inout StoredRow, ofPart part: Int) {
    row.form = formNumbers[part][Int(row.form)]
    row.moveReferences(by: firstReferences[part])
  }
}
