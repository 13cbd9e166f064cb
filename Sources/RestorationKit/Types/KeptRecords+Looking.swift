internal import ArchiveCodec
internal import RestorationFoundation

extension KeptRecords {
  func state(of object: any StateRestoring) -> State? { states[object] }

  /// The states that an object keeps if it claims the element at a place; nil if the object
  /// replaces all of them.
  func state(of index: Int) -> State? {
    guard let kept = unclaimed[index] else { return nil }
    var element = kept.element
    element.inlineFields { record in
      let field = places[record].flatMap { unclaimed[$0]?.element }
      return field.map { ($0.content.className, $0.values.state) }
    }
    let isWithheld = kept.staysBeside && element.values.state != nil
    guard isWithheld || !element.kept.isEmpty else { return nil }
    return State(
      withheld: isWithheld ? element : nil,
      beside: element.kept.map { Beside(state: $0, reason: kept.outcome) },
      kind: element.content.kind, path: element.path, outcome: kept.outcome, leftOut: kept.leftOut)
  }

  /// The state that an object gave when the restore had ended; nil if the object was not there
  /// then.
  func probe(of object: any StateRestoring) -> StateProbe? { probes[object] }

  /// The elements of a part of the tree that are left out because restoring them crashed, by their
  /// places.
  func skippedPlaces(in tree: StoredTree) -> [Int: LeftOutPeriod] {
    var periods: [Int: LeftOutPeriod] = [:]
    for (index, row) in tree.outline.rows.enumerated() {
      periods[index] = skippedRecords[row.record]
    }
    return periods
  }

  /// How many objects are alive to which kept states refer.
  ///
  /// - Complexity: O(*n*) in the objects to which kept states refer.
  var livingReferenceCount: Int { named.objects.values.count { $0.object != nil } }

  /// Whether states are kept of objects that are back.
  var hasStates: Bool { !states.isEmpty }

  /// Whether nothing is kept any more.
  var isEmpty: Bool { unclaimed.allSatisfy { $0 == nil } && states.isEmpty }

  /// The indices of the kept elements that have no element above them.
  var roots: [Int] { rootTops.places.filter { unclaimed[$0] != nil } }

  /// The indices of the elements that are kept directly below an object.
  func tops(below parent: any StateRestoring) -> [Int] {
    topsBelow[parent]?.places.filter { unclaimed[$0] != nil } ?? []
  }

  /// The index of the kept element with a name directly below an object, or of one with no element
  /// above it.
  func index(of name: SiblingName, below parent: (any StateRestoring)?) -> Int? {
    let tops = parent.map { topsBelow[$0] } ?? rootTops
    return tops?.named[name].flatMap { unclaimed[$0] == nil ? nil : $0 }
  }

  /// The element at a place; nil if the element is kept no more.
  subscript(index: Int) -> Unclaimed? { unclaimed[index] }

  /// The index of a record of the restored archive; nil if it is not kept.
  func index(ofRecord record: UInt64) -> Int? {
    places[record].flatMap { unclaimed[$0] == nil ? nil : $0 }
  }

  /// The object of a record to which kept states refer.
  func object(_ record: UInt64) -> (any StateRestoring)? { named.objects[record]?.object }

  /// The indices of a kept element and of all below it; an element comes after the one above it.
  func subtree(of top: Int) -> [Int] {
    var subtree: [Int] = []
    var stack = [top]
    while let index = stack.popLast() {
      guard let kept = unclaimed[index] else { continue }
      subtree.append(index)
      stack.append(contentsOf: kept.children.reversed())
    }
    return subtree
  }
}

// MARK: - Time

extension KeptRecords {
  /// When a save kept an element for the first time; nil if none did.
  ///
  /// The time of a clock that was not set does not count.
  func firstSave(keeping element: StoredTree.Element) -> Date? {
    firstSave(keeping: KeptState(of: element))
  }

  func firstSave(keeping state: KeptState) -> Date? {
    (state.since ?? firstSaves[state.id]).flatMap { $0 > .earliestSave ? $0 : nil }
  }

  /// When a save kept an element for the first time; now if none did.
  ///
  /// The time is not before the save that was restored, in which the element was there, whatever
  /// the clock says: once the clock is right again, the element must not have grown old.
  func firstSave(keeping element: StoredTree.Element, now: Date) -> Date {
    firstSave(keeping: KeptState(of: element), now: now)
  }

  func firstSave(keeping state: KeptState, now: Date) -> Date {
    if let since = firstSave(keeping: state) { return since }
    let since = max(now, source.facts?.timestamp ?? now)
    firstSaves[state.id] = since
    return since
  }
}
