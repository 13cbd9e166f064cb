/// Finds registered objects by identifier and parent during a restore.
///
/// Each object is looked at once, so that many objects of one identifier cost linear time. Objects
/// that are registered meanwhile are added.
struct ScopedObjects {
  private struct Index {
    var version: Int
    var consumed = 0
    var byParent: [ObjectIdentifier: any StateRestoring] = [:]
    var withoutParent: (any StateRestoring)?
  }

  private var indices: [String: Index] = [:]

  /// The object with a parent; the first one that was registered counts.
  ///
  /// Without a scope, an object without a parent counts, or else one whose parent scopes nothing.
  mutating func object(
    _ identifier: String, scope: (any StateRestoring)?, in table: ObjectTable,
    isScope: (any StateRestoring) -> Bool
  ) -> (any StateRestoring)? {
    let named = table.registeredObjects(named: identifier)
    var index = indices.removeValue(forKey: identifier) ?? Index(version: named.version)
    if index.version != named.version { index = Index(version: named.version) }
    for entry in named.entries[index.consumed...] {
      guard let object = entry.object else { continue }
      if let parent = object.restorationParent.map({ ObjectIdentifier($0) }) {
        if index.byParent[parent] == nil { index.byParent[parent] = object }
      } else if index.withoutParent == nil {
        index.withoutParent = object
      }
    }
    index.consumed = named.entries.count
    defer { indices[identifier] = index }
    if let scope { return index.byParent[ObjectIdentifier(scope)] }
    return index.withoutParent
      ?? named.entries.lazy.compactMap(\.object).first { object in
        object.restorationParent.map { !isScope($0) } ?? true
      }
  }
}
