/// The objects that were registered for restoration, by identifier, for as long
/// as they live.
struct RegisteredObjects {
  struct Entry {
    weak var object: (any RestorableObject)?
  }

  /// Those of one identifier, in the order in which they were registered.
  struct Named {
    fileprivate(set) var entries: [Entry] = []
    /// Changes when an entry is taken out.
    fileprivate(set) var version = 0

    fileprivate mutating func remove(_ isOut: (Entry) -> Bool) {
      let count = entries.count
      entries.removeAll(where: isOut)
      if entries.count != count { version += 1 }
    }

    fileprivate mutating func append(_ object: any RestorableObject) {
      // Those that are gone are dropped when the array would grow.
      if entries.count == entries.capacity { remove { $0.object == nil } }
      entries.append(Entry(object: object))
    }
  }

  private var identifiers = WeakTable<String>()
  private var named: [String: Named] = [:]

  /// Registers an object; it keeps the last identifier that it was given.
  mutating func insert(_ object: any RestorableObject, _ identifier: String) {
    guard identifiers[object] != identifier else { return }
    if let old = identifiers[object] { named[old]?.remove { $0.object === object } }
    identifiers[object] = identifier
    named[identifier, default: Named()].append(object)
  }

  func identifier(of object: any StateRestoring) -> String? {
    identifiers[object]
  }

  subscript(identifier: String) -> Named { named[identifier] ?? Named() }
}
