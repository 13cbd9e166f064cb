internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What a restore could not bring back, for the saves that follow: they write it
/// back as it was stored.
///
/// The state of an object that is back is kept for as long as the object lives.
/// An element that is not back is kept with all below it, while the one above it
/// is saved. The next restore begins anew.
final class KeptRecords {
  /// The state of an object that is back, which nobody could read.
  struct State {
    fileprivate(set) var element: StoredTree.Element
    let outcome: RestorationReport.NodeOutcome
  }

  /// An element that is not back.
  struct Unclaimed {
    fileprivate(set) var element: StoredTree.Element
    let outcome: RestorationReport.NodeOutcome
    /// What is kept directly below it.
    fileprivate(set) var children: [Int] = []
  }

  /// What tells apart what is kept directly below one object.
  struct Name: Hashable {
    let kind: ElementKind
    let identifier: String
    let siblingIndex: Int
  }

  /// What is kept directly below one object, in stored order.
  private struct Tops {
    var places: [Int] = []
    var named: [Name: Int] = [:]

    mutating func append(_ place: Int, _ content: NodeRecord) {
      places.append(place)
      named[
        Name(
          kind: content.kind, identifier: content.identifier, siblingIndex: content.siblingIndex)] =
        place
    }
  }

  private struct Reference {
    weak var object: (any StateRestoring)?
  }

  private let version: ArchiveVersion
  private let facts: SaveFacts?
  private let secrets: SecretKeys?
  /// What classes were called before the save that was restored.
  let formerNames: [String: [String]]
  private var states = WeakTable<State>()
  /// By their places, which stay; nil for what is not kept any more.
  private var unclaimed: [Unclaimed?] = []
  private var places: [UInt64: Int] = [:]
  private var topsBelow = WeakTable<Tops>()
  private var rootTops = Tops()
  /// The first saves that kept what no save had kept before, by its record.
  private var firstSaves: [UInt64: Date] = [:]
  /// The sizes of the stored records of all that is kept.
  private var byteCounts: [UInt64: Int] = [:]
  /// What the stored records that something kept refers to stand for.
  private var objects: [UInt64: Reference] = [:]
  private var referredRecords: Set<UInt64> = []

  /// Nil if there is nothing to keep.
  ///
  /// - Parameter result: What became of all that was stored.
  init?(_ result: RestoreResult) {
    guard !result.unread.isEmpty || !result.missing.isEmpty else { return nil }
    version = result.tree.version
    facts = result.tree.facts
    secrets = result.tree.secrets
    formerNames = result.tree.formerNames
    keep(result)
  }

  /// What the saves need to know of a restore.
  struct RestoreResult {
    /// As it was stored.
    let tree: StoredTree
    let outcomes: [RestorationReport.NodeOutcome]
    /// The places of those that are back without their state.
    let unread: [Int]
    /// The places of those that are not back, or that nothing took.
    let missing: Set<Int>
    let restored: RestoredObjects
  }

  private func keep(_ result: RestoreResult) {
    let elements = result.tree.elements
    let sizes = result.tree.laterFingerprints
    for place in result.unread {
      guard let object = result.restored[elements[place].record] else { continue }
      if let byteCount = sizes.byteCount(at: place) {
        byteCounts[elements[place].record] = byteCount
      }
      states[object] = State(element: elements[place], outcome: result.outcomes[place])
      noteReferences(of: elements[place])
    }
    var keptPlaces: [Int: Int] = [:]
    var tops: [Int: Tops] = [:]
    for (place, element) in elements.enumerated() {
      let above = element.parent.flatMap { keptPlaces[$0] }
      guard above != nil || result.missing.contains(place) else { continue }
      let kept = unclaimed.count
      keptPlaces[place] = kept
      places[element.record] = kept
      if let byteCount = sizes.byteCount(at: place) { byteCounts[element.record] = byteCount }
      unclaimed.append(Unclaimed(element: element, outcome: result.outcomes[place]))
      noteReferences(of: element)
      if let above {
        unclaimed[above]?.children.append(kept)
      } else if let parent = element.parent {
        tops[parent, default: Tops()].append(kept, element.content)
      } else {
        rootTops.append(kept, element.content)
      }
    }
    for (parent, tops) in tops {
      if let object = result.restored[elements[parent].record] { topsBelow[object] = tops }
    }
    for element in elements where referredRecords.contains(element.record) {
      if let object = result.restored[element.record] {
        objects[element.record] = Reference(object: object)
      }
    }
  }

  private func noteReferences(of element: StoredTree.Element) {
    for values in [element.values.builtIn, element.values.state].compactMap(\.self) {
      do {
        _ = try KeyedDecoder.encoding { encoder in
          try encoder.copyAll(from: values) { [self] record in
            referredRecords.insert(record)
            return record
          }
        }
      } catch {
        // What cannot be copied cannot be written back; the save reports that.
      }
    }
  }
}

// MARK: - Looking

extension KeptRecords {
  func state(of object: any StateRestoring) -> State? { states[object] }

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
    let since = element.content.keptSince ?? firstSaves[element.record]
    return since.flatMap { $0 > .earliestSave ? $0 : nil }
  }

  /// The same; that is now if it never was.
  ///
  /// It cannot have been before the save in which it was there, whatever the
  /// clock says: when that is right again, nothing must have grown old.
  func firstSave(keeping element: StoredTree.Element, now: Date) -> Date {
    if let since = firstSave(keeping: element) { return since }
    let since = max(now, facts?.timestamp ?? now)
    firstSaves[element.record] = since
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
    states.update { $0.element.makeValuesOlder(by: seconds) }
  }
}

extension StoredTree.Element {
  fileprivate mutating func makeValuesOlder(by seconds: TimeInterval) {
    guard let sensitive = values.sensitive else { return }
    do {
      values.sensitive = try StoredSensitiveValue.older(sensitive, by: seconds)
    } catch {
      // Nobody can open what cannot be read.
    }
  }
}

// MARK: - Sizes

extension KeptRecords {
  /// The size of a state in bytes.
  func byteCount(of state: State) -> Int { byteCounts[state.element.record] ?? 0 }

  /// The size of what has a place, with all below it.
  func byteCount(below top: Int) -> Int {
    subtree(of: top).reduce(0) { sum, place in
      sum + (unclaimed[place].flatMap { byteCounts[$0.element.record] } ?? 0)
    }
  }

  /// All that is kept of a restore that has just run.
  ///
  /// - Complexity: O(*n*) in what is kept.
  func list(_ result: RestoreResult) -> [KeptElement] {
    let below = Set(unclaimed.compactMap(\.self).flatMap(\.children))
    let elements = result.tree.elements
    return result.unread.compactMap { place in
      guard let state = result.restored[elements[place].record].flatMap({ states[$0] }) else {
        return nil
      }
      return listed(state.element, state.outcome, isStateAlone: true, byteCount(of: state))
    }
      + unclaimed.indices.compactMap { place in
        guard !below.contains(place), let kept = unclaimed[place] else { return nil }
        return listed(kept.element, kept.outcome, isStateAlone: false, byteCount(below: place))
      }
  }

  private func listed(
    _ element: StoredTree.Element, _ reason: RestorationReport.NodeOutcome, isStateAlone: Bool,
    _ byteCount: Int
  ) -> KeptElement {
    KeptElement(
      kind: element.content.kind, path: element.path, className: element.content.className,
      reason: reason, isStateAlone: isStateAlone, since: firstSave(keeping: element),
      byteCount: byteCount)
  }
}

// MARK: - Coming late

extension KeptRecords {
  /// What has a place and all below it, as a tree of its own.
  ///
  /// - Complexity: O(*n*) in its elements.
  func tree(below top: Int) -> StoredTree {
    var elements: [StoredTree.Element] = []
    var parents: [Int: Int] = [:]
    let since = unclaimed[top].flatMap { firstSave(keeping: $0.element) }
    for place in subtree(of: top) {
      guard let kept = unclaimed[place] else { continue }
      for child in kept.children { parents[child] = elements.count }
      var content = kept.element.content
      // What is not back this time goes on counting.
      content.keptSince = content.keptSince ?? firstSaves[kept.element.record] ?? since
      elements.append(
        StoredTree.Element(
          record: kept.element.record, path: kept.element.path, parent: parents[place],
          role: kept.element.role, content: content, values: kept.element.values))
    }
    return StoredTree(
      elements, version: version, facts: facts, formerNames: formerNames, secrets: secrets)
  }

  /// Goes on without what came late, and keeps what of it is not back.
  func settleLate(_ top: Int, _ result: RestoreResult) {
    remove(top)
    keep(result)
  }
}

// MARK: - Changing

extension KeptRecords {
  /// What a save changes of what is kept, when it has been written.
  struct Settlement {
    var replaced: [(place: Int, object: any StateRestoring)] = []
    var dropped: [Int] = []
    /// The objects whose states are not kept any more.
    var droppedStates: [any StateRestoring] = []
  }

  func settle(_ settlement: Settlement) {
    for (place, object) in settlement.replaced { replace(place, by: object) }
    for place in settlement.dropped { remove(place) }
    for object in settlement.droppedStates { states[object] = nil }
  }

  /// What was kept below it is kept below the object from now on.
  private func replace(_ place: Int, by object: any StateRestoring) {
    guard let kept = unclaimed[place] else { return }
    unclaimed[place] = nil
    if referredRecords.contains(kept.element.record) {
      objects[kept.element.record] = Reference(object: object)
    }
    var tops = topsBelow[object] ?? Tops()
    let since = firstSave(keeping: kept.element)
    for child in kept.children {
      guard let element = unclaimed[child]?.element else { continue }
      if firstSave(keeping: element) == nil { firstSaves[element.record] = since }
      tops.append(child, element.content)
    }
    topsBelow[object] = tops
  }

  private func remove(_ top: Int) {
    for place in subtree(of: top) { unclaimed[place] = nil }
  }
}
