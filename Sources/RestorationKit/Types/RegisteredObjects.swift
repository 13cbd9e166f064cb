/// The objects that were registered under one identifier, in the order of their registration, for
/// as long as they live.
struct RegisteredObjects {
  struct Entry {
    weak var object: (any RestorableObject)?
  }

  private(set) var entries: [Entry] = []
  /// Changes when an entry is taken out.
  private(set) var version = 0

  mutating func remove(_ isOut: (Entry) -> Bool) {
    let count = entries.count
    entries.removeAll(where: isOut)
    if entries.count != count { version += 1 }
  }

  mutating func append(_ object: any RestorableObject) {
    // Entries of objects that are gone are dropped when the array would grow.
    if entries.count == entries.capacity { remove { $0.object == nil } }
    entries.append(Entry(object: object))
  }
}
