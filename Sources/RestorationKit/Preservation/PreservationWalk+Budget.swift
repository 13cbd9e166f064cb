internal import ArchiveCodec

/// The bound of a state: objects that have no room are left out in a second walk, so that
/// everything is stored as if these objects were not there.
extension PreservationWalk {
  /// Whether the stored state of an object is to stay, since there is no room for another.
  func hasLastState(_ object: any StateRestoring) -> Bool {
    fates[ObjectIdentifier(object)] == .lastState
  }

  func isLeftOut(_ object: any StateRestoring) -> Bool {
    fates[ObjectIdentifier(object)] == .leftOut
  }

  var isWithinBudget: Bool { conditions.budget?.hard.map { rows.byteCount <= $0 } ?? true }

  /// Asks everything, and if the state is too large, asks again without the objects that have no
  /// room.
  func walkEverythingWithinBudget(_ roots: [any RestorableNode]) throws {
    guard let hard = conditions.budget?.hard else { return try walkEverything(roots) }
    let mark = try builder.mark()
    let notes = rows.findings.notes[nil]
    try walkEverything(roots)
    guard rows.byteCount > hard else { return }
    let tree = RowTree(rows)
    let shares = shares(of: tree)
    let plan = BudgetPlan(
      shares, applicationByteCount: rows.whole.applicationByteCount, hard: hard)
    guard !plan.tops.isEmpty else { return }
    for (place, fate) in plan.fates {
      if let identity = rows[tree.rows[place]].identity { fates[identity] = fate }
    }
    let before = zip(tree.rows, shares).map { Entry($0, $1.byteCount, of: rows) }
    beginAnew(from: mark, notes)
    try walkEverything(roots)
    for number in tree.rows where !rows.isStored(number) { rows.keepHearing(number) }
    report(plan, before)
  }

  /// The facts about an element for its line, if the element has no place in the second walk.
  private struct Entry {
    let number: RowNumber
    let kind: ElementKind
    let path: RestorationPath
    let className: String
    let byteCount: Int

    init(_ number: RowNumber, _ byteCount: Int, of rows: Rows) {
      (self.number, self.byteCount) = (number, byteCount)
      kind = rows[number].kind
      path = rows.path(of: number)
      className = rows.className(of: number)
    }
  }

  /// The elements as the plan counts them.
  private func shares(of tree: RowTree) -> [BudgetPlan.Share] {
    var priorities: [RowNumber: RestorationPriority] = [:]
    agenda.forEachSeenNode { node in
      if let number = rows.placed(node) { priorities[number] = node.restorationPriority }
    }
    let last = lastByteCounts()
    return zip(tree.rows, tree.parents).map { number, parent in
      let row = rows[number]
      return BudgetPlan.Share(
        parent: parent < 0 ? nil : parent, byteCount: Int(row.met.byteCount),
        isAlone: row.kind == .node && row.type != nil, priority: priorities[number],
        isKept: rows.outcome(of: number) == .keptAsStored || rows.kept.besides.contains(number),
        lastByteCount: last[number])
    }
  }

  private func report(_ plan: BudgetPlan, _ entries: [Entry]) {
    for top in plan.tops {
      let entry = entries[top.place]
      if top.keepsLast {
        rows.note(.lastStateForBudget(byteCount: top.byteCount), entry.number)
      } else {
        add(entry, top.byteCount)
      }
    }
    // Elements that only left out elements referred to have no place any more, and are left out
    // with them.
    for (place, entry) in entries.enumerated() where plan.fates[place] == nil {
      guard
        rows[entry.number].met.walk != rows.run.walk || rows[entry.number].met.status != .placed,
        rows[entry.number].type != nil
      else { continue }
      add(entry, entry.byteCount)
    }
  }

  private func add(_ entry: Entry, _ byteCount: Int) {
    report.add(
      PreservationReport.Entry(
        kind: entry.kind, path: entry.path, className: entry.className,
        outcome: .overBudget(byteCount: byteCount)))
  }

  /// Adds a note if the state is larger than its budget allows, once all elements have their
  /// records.
  func noteSize() {
    guard let budget = conditions.budget else { return }
    let byteCount = rows.byteCount
    if let hard = budget.hard, byteCount > hard {
      noteApplication(.overHardBudget(byteCount: byteCount, hard: hard))
    }
    if let soft = budget.soft, byteCount > soft {
      noteApplication(
        .overSoftBudget(byteCount: byteCount, soft: soft, largest: rows.largestParts))
    }
  }

  // MARK: Sizes of stored states

  /// The most bytes that a record takes which keeps the stored state of its row, for all rows that
  /// have one.
  private func lastByteCounts() -> [RowNumber: Int] {
    var counts: [RowNumber: Int] = [:]
    guard records.rewrites else {
      for number in rows.placed where rows[number].stored.fingerprint != .none {
        guard rows.isOwn(number) else { continue }
        counts[number] = Self.mostBytes(Int(rows[number].stored.byteCount))
      }
      return counts
    }
    guard let stored = conditions.stored else { return [:] }
    let elements = LastElements(stored, rows, knowsObjects: false)
    let inKeptPlaces = rowsInKeptPlaces
    for number in rows.placed {
      guard let type = rows[number].type,
        let place = elements.places(of: number).first,
        let byteCount = stored.laterFingerprints.byteCount(at: place),
        canKeep(
          stored.outline.form(of: place).className, stored.formerNames, as: type,
          inKeptPlaces.contains(number))
      else { continue }
      counts[number] = Self.mostBytes(byteCount)
    }
    return counts
  }

  /// A record with a kept state is larger than the stored one: it says that it keeps the state, and
  /// may name others by longer numbers.
  private static func mostBytes(_ stored: Int) -> Int { stored + stored / 64 + 64 }
}
