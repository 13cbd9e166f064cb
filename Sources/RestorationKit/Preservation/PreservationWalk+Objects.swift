extension PreservationWalk {
  /// Preserves a registered object, and before it the objects that scope it.
  func preserveObject(_ object: any RestorableObject) throws {
    var chain = [object]
    var inChain: Set = [ObjectIdentifier(object)]
    while let parent = chain[chain.count - 1].restorationParent,
      rows.placed(parent) == nil,
      objects.identifier(ofRegistered: parent) != nil,
      inChain.insert(ObjectIdentifier(parent)).inserted,
      let parent = parent as? any RestorableObject
    {
      chain.append(parent)
    }
    while let next = chain.popLast() { try writeObject(next) }
  }

  /// The row that scopes the objects of a parent; nil for a view, which is not back when a restore
  /// looks for the objects.
  func scopingRow(_ parent: any StateRestoring) -> RowNumber? {
    rows.placed(parent).flatMap { rows[$0].kind == .view ? nil : $0 }
  }

  private func writeObject(_ object: any RestorableObject) throws {
    guard let identifier = objects.identifier(ofRegistered: object) else { return }
    // A parent that is not preserved itself scopes nothing.
    let parent = object.restorationParent
    let scope = parent.flatMap { scopingRow($0) }
    if let parent, scope == nil { rows.references.missingScopes.insert(ObjectIdentifier(parent)) }
    try checkCount(rows.path(of: scope).appending(identifier))
    agenda.keepAlive(object)
    let number = row(of: object, .object)
    guard names.take(Sibling(.object, below: scope, identifier), rows) else {
      rows[number].met.isDuplicate = true
      addEntry(.object, object, below: scope, identifier, .duplicate)
      return
    }
    place(number, .object, below: scope, identifier)
    rows[number].refer()
    if let scope { rows[scope].reach.isReferredTo = true }
    rows.hold(object, number)
    report.add(number)
    let info = types.info(of: object)
    let origin = origin(
      of: object, number, info, restorationClass: object.objectRestorationClass)
    if scope == nil { rows.whole.storedRoots.append(number) }
    // A kept element that is not back may have the name.
    if !asksEverything, kept != nil { throw NeedsEverything() }
    try write(object, number, info, origin, isAbove: try meetKept(below: object, number))
  }
}
