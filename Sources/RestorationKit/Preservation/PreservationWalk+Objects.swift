extension PreservationWalk {
  /// Preserves a registered object, and before it those that scope it.
  func preserveObject(_ object: any RestorableObject) throws {
    var chain = [object]
    var inChain: Set = [ObjectIdentifier(object)]
    while let parent = chain[chain.count - 1].restorationParent,
      placed[ObjectIdentifier(parent)] == nil,
      registry.identifier(ofRegistered: parent) != nil,
      inChain.insert(ObjectIdentifier(parent)).inserted
    {
      chain.append(parent)
    }
    while let next = chain.popLast() { try writeObject(next) }
  }

  private func writeObject(_ object: any RestorableObject) throws {
    guard let identifier = registry.identifier(ofRegistered: object) else { return }
    // A parent that is not preserved itself scopes nothing.
    let scope = object.restorationParent.flatMap { parent in
      placed[ObjectIdentifier(parent)].map { (record: self.record(of: parent), line: $0) }
    }
    let path = (scope.map { lines[$0.line].path } ?? RestorationPath()).appending(identifier)
    let sibling = Sibling(
      kind: .object, parent: scope?.record ?? 0, identifier: identifier, index: 0)
    guard siblings.insert(sibling).inserted else {
      duplicates.insert(ObjectIdentifier(object))
      add(.object, object, path, .duplicate)
      return
    }
    let line = addPlaced(.object, object, path)
    var record = makeRecord(
      .object, of: object, path, restorationClass: object.objectRestorationClass, line: line)
    record.referrer = scope?.record
    if scope == nil { roots.append(self.record(of: object)) }
    keepUnclaimed(below: object, self.record(of: object), at: sibling, in: &record)
    try write(record, of: object, line: line)
  }
}
