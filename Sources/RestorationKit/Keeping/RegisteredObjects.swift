/// The objects that were registered for restoration, by identifier, for as long
/// as they live.
struct RegisteredObjects {
  private struct Entry {
    weak var object: (any RestorableObject)?
  }

  private var identifiers = WeakTable<String>()
  private var entries: [String: [Entry]] = [:]

  /// Registers an object; it keeps the last identifier that it was given.
  mutating func insert(_ object: any RestorableObject, _ identifier: String) {
    guard identifiers[object] != identifier else { return }
    if let old = identifiers[object] {
      entries[old]?.removeAll { $0.object == nil || $0.object === object }
    }
    identifiers[object] = identifier
    var named = entries[identifier, default: []]
    // Those that are gone are dropped when the array would grow.
    if named.count == named.capacity { named.removeAll { $0.object == nil } }
    named.append(Entry(object: object))
    entries[identifier] = named
  }

  func identifier(of object: any RestorableObject) -> String? {
    identifiers[object]
  }

  func objects(named identifier: String) -> [any RestorableObject] {
    entries[identifier]?.compactMap(\.object) ?? []
  }
}
