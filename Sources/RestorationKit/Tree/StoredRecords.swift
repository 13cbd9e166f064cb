internal import ArchiveCodec
internal import Dispatch
internal import Synchronization

/// The records of a tree before the elements are ordered, by their places in the archive.
struct StoredRecords {
  private let count: Int
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
    count = all.count
    let workerCount =
      all.count > Self.leastPerPart ? workerCount ?? ProcessorCount.value : 1
    let recordsPerPart = max(
      all.count / (max(workerCount, 1) * Self.partsPerWorker) + 1, Self.leastPerPart)
    self.recordsPerPart = recordsPerPart
    let partCount = (all.count + recordsPerPart - 1) / recordsPerPart
    @Sendable func part(_ number: Int) -> RecordPart {
      let start = number * recordsPerPart
      return RecordPart(all, start..<min(start + recordsPerPart, all.count))
    }
    parts =
      partCount == 1 || workerCount < 2
      ? (0..<partCount).map(part) : Self.atOnce(count: partCount, part)
    guard parts.reduce(0, { $0 + $1.lists.references.count }) <= Int32.max else {
      throw ArchiveError(.limitExceeded, subject: "references")
    }
    for part in parts {
      if let place = part.application { application = try all.record(at: place) }
      if let place = part.tree { tree = try all.record(at: place) }
      unreadable += part.unreadable
    }
  }

  /// Takes all records in one part.
  init(_ part: RecordPart) {
    count = part.rows.count
    parts = [part]
    recordsPerPart = max(count, 1)
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
  ///
  /// - Parameters:
  ///   - roots: The records of the roots.
  ///   - keepsAll: Whether the outline also has the elements that a restore leaves out.
  /// - Returns: The elements, and which of them a restore leaves out.
  func place(_ roots: [UInt64], keepsAll: Bool = false) -> PlacedRecords {
    let common = CommonParts(parts)
    let places = recordPlaces()
    var isPlaced = Array(repeating: false, count: count)
    var siblings = SiblingCheck(count: count)
    var placed: [StoredRow] = []
    placed.reserveCapacity(count)
    var (duplicates, strays): ([UInt64], [UInt64]) = ([], [])
    var nextPlace = 0
    var stack: [Unplaced] = roots.reversed().map { ($0, nil, .root) }
    while true {
      guard let (record, parent, role) = stack.popLast() else {
        guard let stray = stray(from: &nextPlace, isPlaced) else { break }
        strays.append(stray)
        if keepsAll { stack.append((stray, nil, .stray)) }
        continue
      }
      guard let place = places[record], !isPlaced[place] else { continue }
      isPlaced[place] = true
      let (part, index) = place.quotientAndRemainder(dividingBy: recordsPerPart)
      var row = parts[part].rows[index]
      common.adapt(&row, ofPart: part)
      (row.parent, row.role) = (parent, role)
      let (identifier, siblingIndex) = parts[part].names[index]
      let name = SiblingCheck.Name(
        kind: row.kind, parent: parent, identifier: identifier, index: siblingIndex)
      if !siblings.insert(name) {
        if role != .stray { duplicates.append(record) }
        guard keepsAll else { continue }
        siblings.append(name)
      }
      common.push(row, placed.count, on: &stack)
      placed.append(row)
    }
    return PlacedRecords(
      outline: StoredOutline(
        placed, common.forms, common.references, siblings.names, common.rare),
      duplicates: duplicates, strays: strays)
  }

  /// A record that another one names, and the element above.
  fileprivate typealias Unplaced = (record: UInt64, parent: Int?, role: StoredTree.Role)

  private func recordPlaces() -> RecordPlaces {
    var places = RecordPlaces(count: count)
    for part in parts {
      for (place, row) in zip(part.start..., part.rows) where row.record > 0 {
        places[row.record] = place
      }
    }
    return places
  }

  /// The record of the first element from a place on that is not placed; nil if there is none.
  private func stray(from nextPlace: inout Int, _ isPlaced: [Bool]) -> UInt64? {
    while nextPlace < count {
      let (part, index) = nextPlace.quotientAndRemainder(dividingBy: recordsPerPart)
      let (record, isPlaced) = (parts[part].rows[index].record, isPlaced[nextPlace])
      nextPlace += 1
      if record > 0, !isPlaced { return record }
    }
    return nil
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

  init(_ parts: [RecordPart]) {
    var known = FormNumbers()
    if parts.count > 1 {
      references.reserveCapacity(parts.reduce(0) { $0 + $1.lists.references.count })
    }
    for part in parts {
      firstReferences.append(Int32(references.count))
      // One part shares its memory.
      if parts.count == 1 {
        references = part.lists.references
      } else {
        references += part.lists.references
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
