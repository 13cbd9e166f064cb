/// Values for objects, for as long as the objects live.
struct WeakTable<Value> {
  private struct Entry {
    weak var object: AnyObject?
    var value: Value
  }

  private var entries: [ObjectIdentifier: Entry] = .init()
  private var countToSweep = 16

  subscript(object: AnyObject) -> Value? {
    get {
      // Most tables have none (benchmark: restore nodes).
      guard !entries.isEmpty, let entry = entries[ObjectIdentifier(object)],
        entry.object === object
      else { return nil }
      return entry.value
    }
    set {
      entries[ObjectIdentifier(object)] = newValue.map { Entry(object: object, value: $0) }
      guard entries.count >= countToSweep else { return }
      entries = entries.filter { $0.value.object != nil }
      countToSweep = max(16, entries.count * 2)
    }
  }
}
