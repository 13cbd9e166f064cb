/// What a restore could not read, for the saves that follow: they write it back
/// as it was stored.
///
/// The state of an object that is back is kept for as long as the object lives.
/// An element that is not back because of that is kept with all below it, for as
/// long as the one above it lives. The next restore begins anew.
final class KeptRecords {
  /// An element that nobody provided, and all below it; parents come first.
  struct Unclaimed {
    fileprivate(set) weak var parent: (any RestorableObject)?
    fileprivate(set) var elements: [StoredTree.Element]
  }

  private struct Reference {
    weak var object: (any RestorableObject)?
  }

  private var states = WeakTable<StoredTree.Element>()
  /// What nothing is above.
  private(set) var unclaimedRoots: [Unclaimed] = []
  private var unclaimed: [ObjectIdentifier: [Unclaimed]] = [:]
  private var unclaimedRecords: Set<UInt64> = []
  /// What the records of the restored archive stand for.
  private var objects: [UInt64: Reference] = [:]

  /// Nil if there is nothing to keep.
  ///
  /// - Parameters:
  ///   - elements: The elements as they were stored.
  ///   - unread: The places of those that are back without their state.
  ///   - missing: The places of those that are not back, or that nothing took,
  ///     because a state could not be read.
  ///   - restored: What is back.
  init?(
    _ elements: [StoredTree.Element], unread: [Int], missing: Set<Int>,
    restored: RestoredObjects
  ) {
    guard !unread.isEmpty || !missing.isEmpty else { return nil }
    for place in unread {
      if let object = restored[elements[place].record] { states[object] = elements[place] }
    }
    var groups: [Unclaimed] = []
    var groupOfPlace: [Int: Int] = [:]
    for (place, element) in elements.enumerated() {
      if let object = restored[element.record] {
        objects[element.record] = Reference(object: object)
      }
      if let group = element.parent.flatMap({ groupOfPlace[$0] }) {
        groups[group].elements.append(element)
        groupOfPlace[place] = group
      } else if missing.contains(place) {
        groupOfPlace[place] = groups.count
        groups.append(
          Unclaimed(
            parent: element.parent.flatMap { restored[elements[$0].record] }, elements: [element]))
      }
    }
    unclaimedRecords = Set(groups.flatMap { $0.elements.map(\.record) })
    for group in groups {
      if let parent = group.parent {
        unclaimed[ObjectIdentifier(parent), default: []].append(group)
      } else {
        unclaimedRoots.append(group)
      }
    }
  }

  func state(of object: any RestorableObject) -> StoredTree.Element? { states[object] }

  func unclaimed(below parent: any RestorableObject) -> [Unclaimed] {
    (unclaimed[ObjectIdentifier(parent)] ?? []).filter { $0.parent === parent }
  }

  /// Whether a record of the restored archive is of what is not back.
  func isUnclaimed(_ record: UInt64) -> Bool { unclaimedRecords.contains(record) }

  func object(_ record: UInt64) -> (any RestorableObject)? { objects[record]?.object }
}
