internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension KeptRecords {
  func state(of object: any StateRestoring) -> State? { states[object] }

  /// The states that an object keeps which takes a place; nil if it replaces all.
  func state(of place: Int) -> State? {
    guard let kept = unclaimed[place] else { return nil }
    let element = kept.element
    let isWithheld = kept.staysBeside && element.values.state != nil
    guard isWithheld || !element.kept.isEmpty else { return nil }
    return State(
      withheld: isWithheld ? element : nil,
      beside: element.kept.map { Beside(state: $0, reason: kept.outcome) },
      kind: element.content.kind, path: element.path, outcome: kept.outcome, leftOut: kept.leftOut)
  }

  /// What an object said of its state when the restore had ended; nil if it was not there.
  func probe(of object: any StateRestoring) -> StateProbe? { probes[object] }

  /// What is left out of a part of the tree, since restoring it crashed, by its places.
  func skippedPlaces(in tree: StoredTree) -> [Int: LeftOutPeriod] {
    var periods: [Int: LeftOutPeriod] = [:]
    for (place, row) in tree.outline.rows.enumerated() {
      periods[place] = skippedRecords[row.record]
    }
    return periods
  }

  /// How many of the objects live to which something refers that is kept.
  ///
  /// - Complexity: O(*n*) in these.
  var livingReferenceCount: Int { objects.values.count { $0.object != nil } }

  /// Whether states of objects are kept that are back.
  var hasStates: Bool { !states.isEmpty }

  /// Whether nothing is kept any more.
  var isEmpty: Bool { unclaimed.allSatisfy { $0 == nil } && states.isEmpty }

  /// The places of what is not back and is kept below nothing.
  var roots: [Int] { rootTops.places.filter { unclaimed[$0] != nil } }

  /// The places of what is not back directly below an object.
  func tops(below parent: any StateRestoring) -> [Int] {
    topsBelow[parent]?.places.filter { unclaimed[$0] != nil } ?? []
  }

  /// The place of what is kept under a name directly below an object, or below
  /// nothing.
  func place(of name: Name, below parent: (any StateRestoring)?) -> Int? {
    let tops = parent.map { topsBelow[$0] } ?? rootTops
    return tops?.named[name].flatMap { unclaimed[$0] == nil ? nil : $0 }
  }

  /// What has a place; nil if it is not kept any more.
  subscript(place: Int) -> Unclaimed? { unclaimed[place] }

  /// The place of a record of the restored archive; nil if it is not kept.
  func place(ofRecord record: UInt64) -> Int? {
    places[record].flatMap { unclaimed[$0] == nil ? nil : $0 }
  }

  /// What a record that is referred to stands for.
  func object(_ record: UInt64) -> (any StateRestoring)? { objects[record]?.object }

  /// A place and all below it; those above come first.
  func subtree(of top: Int) -> [Int] {
    var subtree: [Int] = []
    var stack = [top]
    while let place = stack.popLast() {
      guard let kept = unclaimed[place] else { continue }
      subtree.append(place)
      stack.append(contentsOf: kept.children.reversed())
    }
    return subtree
  }
}

// MARK: - Time

extension KeptRecords {
  /// When it was kept in a save for the first time; nil if it never was.
  ///
  /// A clock that was not set does not count.
  func firstSave(keeping element: StoredTree.Element) -> Date? {
    firstSave(keeping: KeptState(of: element))
  }

  func firstSave(keeping state: KeptState) -> Date? {
    (state.since ?? firstSaves[state.id]).flatMap { $0 > .earliestSave ? $0 : nil }
  }

  /// The same; that is now if it never was.
  ///
  /// It cannot have been before the save in which it was there, whatever the
  /// clock says: when that is right again, nothing must have grown old.
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

// MARK: - Ages of values

extension KeptRecords {
  /// Makes the values older that end, since the clock was set back by so many seconds.
  ///
  /// - Complexity: O(*n*) in what is kept.
  func makeOlder(by seconds: TimeInterval) {
    for place in unclaimed.indices { unclaimed[place]?.element.makeValuesOlder(by: seconds) }
    states.update { state in
      state.withheld?.makeValuesOlder(by: seconds)
      for index in state.beside.indices {
        state.beside[index].state.values.makeOlder(by: seconds)
      }
    }
  }
}

extension StoredTree.Element {
  fileprivate mutating func makeValuesOlder(by seconds: TimeInterval) {
    values.makeOlder(by: seconds)
    for index in kept.indices { kept[index].values.makeOlder(by: seconds) }
  }
}

extension StoredTree.Values {
  fileprivate mutating func makeOlder(by seconds: TimeInterval) {
    guard let sensitive else { return }
    do {
      self.sensitive = try StoredSensitiveValue.older(sensitive, by: seconds)
    } catch {
      // Nobody can open what cannot be read.
    }
  }
}
