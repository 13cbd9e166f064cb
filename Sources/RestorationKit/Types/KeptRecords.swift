internal import ArchiveCodec
internal import RestorationFoundation

/// The elements and states that a restore could not bring back, which the saves that follow write
/// as they were stored.
///
/// The states of an object that is back are kept for as long as the object lives. An element that
/// is not back is kept with all below it, while the element above it is saved. The next restore
/// begins anew.
final class KeptRecords {
  /// The states of an object that are kept.
  struct State {
    /// The stored element of the object, if nobody could read the state of its record; nil once the
    /// object has said another state.
    var withheld: StoredTree.Element?
    /// The states beside the state of the record, newest first.
    var beside: [Beside] = []
    let kind: ElementKind
    let path: RestorationPath
    /// The outcome of the element in the restore.
    var outcome: RestorationReport.NodeOutcome
    /// The launches that leave the element out since it crashed; nil if it is not left out.
    var leftOut: LeftOutPeriod?
  }

  /// A state beside another one, and why nobody got it.
  struct Beside {
    var state: KeptState
    var reason: RestorationReport.NodeOutcome

    /// Whether the object itself keeps the state for later.
    var isKeptByNode: Bool { reason.keptReason != nil }
  }

  /// An element that is not back.
  struct Unclaimed {
    var element: StoredTree.Element
    let outcome: RestorationReport.NodeOutcome
    /// Whether the state of an object that claims the element is saved beside the stored state, and
    /// does not replace it.
    let staysBeside: Bool
    /// The launches that leave out the element, or an element above it; nil if neither is left out.
    let leftOut: LeftOutPeriod?
    /// The place in the stack of which the other nodes are back; nil where the element comes last.
    var stackPlace: Int?
    /// The indices of the elements that are kept directly below this one.
    var children: [Int] = []
  }

  /// The elements that are kept directly below one object, in stored order.
  struct Tops {
    var places: [Int] = []
    var named: [SiblingName: Int] = [:]

    mutating func append(_ index: Int, _ content: NodeRecord) {
      places.append(index)
      named[content.name] = index
    }
  }

  /// The archive in which the kept elements and states were stored.
  struct Source {
    let version: ArchiveVersion
    let facts: SaveFacts?
    /// The former names of each class, as the restored save knew them.
    let formerNames: [String: [String]]
  }

  let source: Source
  var states = WeakTable<State>()
  /// The elements that are not back, by their places.
  ///
  /// A place never changes; nil stands for an element that is kept no more.
  var unclaimed: [Unclaimed?] = []
  var places: [UInt64: Int] = [:]
  var topsBelow = WeakTable<Tops>()
  var rootTops = Tops()
  /// The times of the first saves that kept a state which no save before had kept.
  var firstSaves: [KeptState.ID: Date] = [:]
  private(set) var sizes = KeptSizes()
  /// The states that objects gave when the restore had ended, to see later whether they have
  /// changed.
  var probes = WeakTable<StateProbe>()
  /// The elements that the restore has left out because it had crashed in them, by their records.
  var skippedRecords: [UInt64: LeftOutPeriod] = [:]
  /// The record of the tab that was selected and is not back, and what is selected instead.
  var selectedTabs = WeakTable<(record: UInt64, instead: ObjectIdentifier?)>()
  /// What the kept states name.
  var named = KeptReferences()
  /// The last number that was given to something that no record has.
  var lastFreeNumber = UInt64.max

  /// Keeps the elements and states that a restore could not bring back; nil if there are none.
  ///
  /// - Parameter result: The outcomes of all stored elements.
  init?(_ result: RestoreResult) {
    guard !result.unread.isEmpty || !result.missing.isEmpty || !result.tree.kept.isEmpty else {
      return nil
    }
    source = Source(
      version: result.tree.version, facts: result.tree.facts,
      formerNames: result.tree.formerNames)
    keep(result)
    if isEmpty { return nil }
  }

  /// The result of a restore, as far as saves need it.
  struct RestoreResult {
    /// The tree as it was stored.
    let tree: StoredTree
    let outcomes: [RestorationReport.NodeOutcome]
    /// The indices of the elements that are back without their state.
    let unread: Set<Int>
    /// The indices of the elements that are not back, or whose objects nothing took.
    let missing: Set<Int>
    /// Those of them at which their stack is not cut.
    let notThere: Set<Int>
    /// The elements that were left out because they had crashed, by their places.
    let skipped: [Int: LeftOutPeriod]
    /// The known version of the state of each element that has other states kept beside its own, by
    /// place.
    let knownVersions: [Int: Int]
    let restored: RestoredObjects
  }

  func keep(_ result: RestoreResult) {
    let elements = result.tree.elements
    for (index, period) in result.skipped {
      skippedRecords[result.tree.outline.rows[index].record] = period
    }
    for (tabs, record) in result.restored.selectedTabsToCome {
      selectedTabs[tabs] = (record, tabs.selectedTab.map { ObjectIdentifier($0) })
    }
    for states in result.tree.kept.values.joined() { noteReferences(of: states) }
    let missing = keepMissing(result)
    for index in result.unread.union(result.tree.kept.keys).sorted()
    where !missing.contains(index) {
      guard let object = result.restored[elements[index].record] else { continue }
      keepStates(of: object, at: index, result)
    }
    for element in elements where named.records.contains(element.record) {
      if let object = result.restored[element.record] {
        named.objects[element.record] = KeptReferences.Object(object)
      }
    }
  }

  /// Keeps the elements that are not back, with all below them.
  ///
  /// - Returns: The indices of the kept elements in the tree.
  private func keepMissing(_ result: RestoreResult) -> Set<Int> {
    let elements = result.tree.elements
    var keptPlaces: [Int: Int] = [:]
    var tops: [Int: Tops] = [:]
    for (index, element) in elements.enumerated() {
      let above = element.parent.flatMap { keptPlaces[$0] }
      guard above != nil || result.missing.contains(index) else { continue }
      let kept = unclaimed.count
      keptPlaces[index] = kept
      places[element.record] = kept
      if let byteCount = result.tree.laterFingerprints.byteCount(at: index) {
        sizes.ofRecords[element.record] = byteCount
      }
      let outcome = result.outcomes[index]
      let isBelowBeside = above.flatMap { unclaimed[$0]?.staysBeside } ?? false
      unclaimed.append(
        Unclaimed(
          element: element, outcome: outcome,
          staysBeside: outcome.staysBeside || outcome.isBelowMissing && isBelowBeside,
          leftOut: result.skipped[index] ?? above.flatMap { unclaimed[$0]?.leftOut }))
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
      guard let object = result.restored[elements[parent].record] else { continue }
      topsBelow[object] = tops
    }
    for (stack, notThere) in Dictionary(
      grouping: result.notThere, by: { elements[$0].parent ?? $0 })
    {
      // They stay below what lay on them.
      let nodes = elements[stack].content.children
      let stackPlaces = Dictionary(
        zip(nodes, nodes.indices), uniquingKeysWith: { first, _ in first })
      for index in notThere {
        guard let kept = keptPlaces[index] else { continue }
        unclaimed[kept]?.stackPlace = stackPlaces[elements[index].record]
      }
    }
    return Set(keptPlaces.keys)
  }

  private func keepStates(of object: any StateRestoring, at index: Int, _ result: RestoreResult) {
    var element = result.tree.elements[index]
    let outcome = result.outcomes[index]
    let isUnread = result.unread.contains(index)
    if isUnread {
      let stored = element.values
      // What the user types in the screen goes to the records of its fields, and the kept state must not
      // change with it.
      let isInlined = element.inlineFields { record in
        guard let place = result.restored.place(ofRecord: record) else { return nil }
        return (
          result.tree.outline.form(of: place).className, result.tree.values.state(at: place)
        )
      }
      if let byteCount = result.tree.laterFingerprints.byteCount(at: index) {
        sizes.ofRecords[element.record] = byteCount
      }
      noteReferences(of: element)
      if isInlined {
        object.letGoOfFieldRecords()
        sizes.ofRecords[element.record]? +=
          byteCount(notingReferencesOf: element.values) - byteCount(notingReferencesOf: stored)
      }
    }
    let known = result.knownVersions[index] ?? .max
    states[object] = State(
      withheld: isUnread ? element : nil,
      beside: element.kept.map { state in
        Beside(
          state: state,
          reason: state.version > known
            ? .newerVersion(by: outcome.step, stored: state.version, known: known)
            : state.reason.map { .kept(by: outcome.step, $0) }
              ?? (isUnread ? outcome : .laterStateRestored))
      },
      kind: element.content.kind, path: element.path, outcome: outcome)
  }

  private func noteReferences(of element: StoredTree.Element) {
    _ = byteCount(notingReferencesOf: element.values)
  }

  func noteReferences(of state: KeptState) {
    sizes.note(byteCount(notingReferencesOf: state.values), of: state.id)
  }

  /// The size of values in bytes.
  private func byteCount(notingReferencesOf values: StoredTree.Values) -> Int {
    var byteCount = 0
    do {
      _ = try KeyedDecoder.encoding { encoder in
        let container = encoder.beginContainer(forKey: NodeRecord.Key.kept.rawValue)
        try values.copy(to: encoder) { [self] record in
          named.records.insert(record)
          return record
        }
        encoder.endContainer(container)
        byteCount = encoder.byteCount(of: container)
      }
    } catch {
      // Values that cannot be copied cannot be written back; the save reports the loss.
    }
    return byteCount
  }
}

/// The sizes of kept records and states, in bytes.
struct KeptSizes {
  /// The sizes of whole stored records.
  var ofRecords: [UInt64: Int] = [:]
  /// The sizes of the states that are kept beside others.
  private var besides: [KeptState.ID: Int] = [:]
  /// The sizes of all states that are kept beside the state of one record, added up.
  private var besidesOfRecords: [UInt64: Int] = [:]

  /// Notes the size of a state beside another one, once.
  mutating func note(_ byteCount: Int, of state: KeptState.ID) {
    guard besides.updateValue(byteCount, forKey: state) == nil else { return }
    besidesOfRecords[state.record, default: 0] += byteCount
  }

  /// The size of a state without the states that are kept beside it.
  subscript(state: KeptState.ID) -> Int {
    guard state.index == 0, let byteCount = ofRecords[state.record] else {
      return besides[state] ?? 0
    }
    return byteCount - (besidesOfRecords[state.record] ?? 0)
  }
}

/// The records and objects that kept states name.
struct KeptReferences {
  struct Object {
    weak var object: (any StateRestoring)?

    init(_ object: any StateRestoring) { self.object = object }
  }

  /// The stored records to which kept states refer.
  var records: Set<UInt64> = []
  /// The objects of these records.
  var objects: [UInt64: Object] = [:]
}
