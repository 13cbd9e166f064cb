/// Objects by keys, for as long as somebody else has the objects.
struct WeakObjects<Key: Hashable, Object: AnyObject> {
  private struct Entry {
    weak var object: Object?
  }

  private var entries: [Key: Entry] = [:]
  private var largestCount = 64

  var objects: [Object] { entries.values.compactMap(\.object) }

  subscript(key: Key) -> Object? {
    get { entries[key]?.object }
    set {
      entries[key] = newValue.map { Entry(object: $0) }
      guard entries.count > largestCount else { return }
      entries = entries.filter { $0.value.object != nil }
      largestCount = max(64, entries.count * 2)
    }
  }
}
