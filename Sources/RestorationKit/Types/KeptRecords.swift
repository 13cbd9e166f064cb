internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What a restore could not bring back, for the saves that follow: they write it
/// back as it was stored.
///
/// The states of an object that is back are kept for as long as the object lives.
/// An element that is not back is kept with all below it, while the one above it
/// is saved. The next restore begins anew.
final class KeptRecords {
  /// The states of an object that are kept.
  struct State {
    /// Its element, if its record has the state that nobody could read: the object has
    /// said nothing else yet.
    var withheld: StoredTree.Element?
    /// Those beside the state of the record, newest first.
    var beside: [Beside] = []
    let kind: ElementKind
    let path: RestorationPath
    /// What became of the element in the restore.
    let outcome: RestorationReport.NodeOutcome
    /// The launches that leave the element out since it crashed; nil if it is not left out.
    var leftOut: LeftOutPeriod?
  }

  /// A state beside another one, and why nobody got it.
  struct Beside {
    var state: KeptState
    let reason: RestorationReport.NodeOutcome
  }

  /// An element that is not back.
  struct Unclaimed {
    var element: StoredTree.Element
    let outcome: RestorationReport.NodeOutcome
    /// Whether what takes its place is saved beside it, and does not replace it.
    let staysBeside: Bool
    /// The launches that leave it out, or what is above it; nil if it is not left out.
    let leftOut: LeftOutPeriod?
    /// What is kept directly below it.
    var children: [Int] = []
  }

  /// What tells apart what is kept directly below one object.
  struct Name: Hashable {
    let kind: ElementKind
    let identifier: String
    let siblingIndex: Int
  }

  /// What is kept directly below one object, in stored order.
  struct Tops {
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

  struct Reference {
    weak var object: (any StateRestoring)?
  }

  /// Where all of it was stored.
  struct Source {
    let version: ArchiveVersion
    let facts: SaveFacts?
    let secrets: (any Subkeys)?
    /// What classes were called before the save that was restored.
    let formerNames: [String: [String]]
  }

  let source: Source
  var states = WeakTable<State>()
  /// By their places, which stay; nil for what is not kept any more.
  var unclaimed: [Unclaimed?] = []
  var places: [UInt64: Int] = [:]
  var topsBelow = WeakTable<Tops>()
  var rootTops = Tops()
  /// The first saves that kept what no save had kept before.
  var firstSaves: [KeptState.ID: Date] = [:]
  private(set) var sizes = KeptSizes()
  /// What objects said of their states when the restore had ended.
  var probes = WeakTable<StateProbe>()
  /// What the restore has left out since it crashed there, by its records.
  var skippedRecords: [UInt64: LeftOutPeriod] = [:]
  /// What the stored records that something kept refers to stand for.
  var objects: [UInt64: Reference] = [:]
  var referredRecords: Set<UInt64> = []

  /// Nil if there is nothing to keep.
  ///
  /// - Parameter result: What became of all that was stored.
  init?(_ result: RestoreResult) {
    guard !result.unread.isEmpty || !result.missing.isEmpty || !result.tree.kept.isEmpty else {
      return nil
    }
    source = Source(
      version: result.tree.version, facts: result.tree.facts, secrets: result.tree.secrets,
      formerNames: result.tree.formerNames)
    keep(result)
    if isEmpty { return nil }
  }

  /// What the saves need to know of a restore.
  struct RestoreResult {
    /// As it was stored.
    let tree: StoredTree
    let outcomes: [RestorationReport.NodeOutcome]
    /// The places of those that are back without their state.
    let unread: Set<Int>
    /// The places of those that are not back, or that nothing took.
    let missing: Set<Int>
    /// Those that were left out since they crashed, by their places.
    let skipped: [Int: LeftOutPeriod]
    /// The versions of states that are known, of the elements beside whose states others are
    /// kept.
    let knownVersions: [Int: Int]
    let restored: RestoredObjects
  }

  func keep(_ result: RestoreResult) {
    let elements = result.tree.elements
    for (place, period) in result.skipped {
      skippedRecords[result.tree.outline.rows[place].record] = period
    }
    for states in result.tree.kept.values.joined() { noteReferences(of: states) }
    let missing = keepMissing(result)
    for place in result.unread.union(result.tree.kept.keys).sorted()
    where !missing.contains(place) {
      guard let object = result.restored[elements[place].record] else { continue }
      keepStates(of: object, at: place, result)
    }
    for element in elements where referredRecords.contains(element.record) {
      if let object = result.restored[element.record] {
        objects[element.record] = Reference(object: object)
      }
    }
  }

  /// Keeps the elements that are not back, with all below them.
  ///
  /// - Returns: Their places in the tree.
  private func keepMissing(_ result: RestoreResult) -> Set<Int> {
    let elements = result.tree.elements
    var keptPlaces: [Int: Int] = [:]
    var tops: [Int: Tops] = [:]
    for (place, element) in elements.enumerated() {
      let above = element.parent.flatMap { keptPlaces[$0] }
      guard above != nil || result.missing.contains(place) else { continue }
      let kept = unclaimed.count
      keptPlaces[place] = kept
      places[element.record] = kept
      if let byteCount = result.tree.laterFingerprints.byteCount(at: place) {
        sizes.ofRecords[element.record] = byteCount
      }
      let outcome = result.outcomes[place]
      let isBelowBeside = above.flatMap { unclaimed[$0]?.staysBeside } ?? false
      unclaimed.append(
        Unclaimed(
          element: element, outcome: outcome,
          staysBeside: outcome.staysBeside || outcome.isBelowMissing && isBelowBeside,
          leftOut: result.skipped[place] ?? above.flatMap { unclaimed[$0]?.leftOut }))
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
    return Set(keptPlaces.keys)
  }

  /// Keeps the states of an object that is back.
  private func keepStates(of object: any StateRestoring, at place: Int, _ result: RestoreResult) {
    let element = result.tree.elements[place]
    let outcome = result.outcomes[place]
    let isUnread = result.unread.contains(place)
    if isUnread {
      if let byteCount = result.tree.laterFingerprints.byteCount(at: place) {
        sizes.ofRecords[element.record] = byteCount
      }
      noteReferences(of: element)
    }
    let known = result.knownVersions[place] ?? .max
    states[object] = State(
      withheld: isUnread ? element : nil,
      beside: element.kept.map { state in
        Beside(
          state: state,
          reason: state.version > known
            ? .newerVersion(by: outcome.step, stored: state.version, known: known)
            : isUnread ? outcome : .laterStateRestored)
      },
      kind: element.content.kind, path: element.path, outcome: outcome)
  }

  private func noteReferences(of element: StoredTree.Element) {
    _ = byteCount(notingReferencesOf: element.values)
  }

  private func noteReferences(of state: KeptState) {
    sizes.note(byteCount(notingReferencesOf: state.values), of: state.id)
  }

  /// The size of values in bytes.
  private func byteCount(notingReferencesOf values: StoredTree.Values) -> Int {
    var byteCount = 0
    do {
      _ = try KeyedDecoder.encoding { encoder in
        let container = encoder.beginContainer(forKey: NodeRecord.Key.kept.rawValue)
        try values.copy(to: encoder) { [self] record in
          referredRecords.insert(record)
          return record
        }
        encoder.endContainer(container)
        byteCount = encoder.byteCount(of: container)
      }
    } catch {
      // What cannot be copied cannot be written back; the save reports that.
    }
    return byteCount
  }
}

/// The sizes of what is kept, in bytes.
struct KeptSizes {
  /// The sizes of whole stored records.
  var ofRecords: [UInt64: Int] = [:]
  /// The sizes of the states that are kept beside others.
  private var besides: [KeptState.ID: Int] = [:]
  /// The same of all beside the state of one record.
  private var besidesOfRecords: [UInt64: Int] = [:]

  /// Notes the size of a state beside another one, once.
  mutating func note(_ byteCount: Int, of state: KeptState.ID) {
    guard besides.updateValue(byteCount, forKey: state) == nil else { return }
    besidesOfRecords[state.record, default: 0] += byteCount
  }

  /// The size of a state that is kept alone.
  subscript(state: KeptState.ID) -> Int {
    guard state.index == 0, let byteCount = ofRecords[state.record] else {
      return besides[state] ?? 0
    }
    return byteCount - (besidesOfRecords[state.record] ?? 0)
  }
}
