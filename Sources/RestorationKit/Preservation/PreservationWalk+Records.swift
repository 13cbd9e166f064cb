internal import ArchiveCodec
internal import Observation

// MARK: - Coders

extension PreservationWalk {
  /// Opens the coder for the hooks of one object.
  ///
  /// A coder that somebody has kept stays closed, and the next object gets another one.
  func openCoder(_ number: RowNumber?) -> StateEncoder {
    if !isKnownUniquelyReferenced(&coder) { coder = nil }
    let opened = coder ?? StateEncoder(self, encoder)
    coder = opened
    opened.open(number)
    return opened
  }

  func path(of number: RowNumber?) -> RestorationPath { rows.path(of: number) }

  func note(_ note: ReportNote, _ number: RowNumber?) {
    rows.note(note, number)
    // The next save may be able to encode the field, so it asks the object again.
    if case .storageEncodingFailed = note, let number, rows[number].hearing.isTracked {
      rows.hearing.unsaid.insert(number)
    }
  }

  func register(_ object: any RestorableObject, identifier: String) {
    objects.register(object, identifier: identifier)
  }

  /// The way to make an object again, which its record says besides the facts of its row.
  struct Origin {
    var restorationClassName: String?
    var storyboard: StoryboardReference?
  }

  /// The origin of an object but for its storyboard; a restoration class that is not registered is
  /// noted.
  func origin(
    of object: any StateRestoring, _ number: RowNumber, _ info: TypeInfo,
    restorationClass: Any.Type?
  ) -> Origin {
    var origin = Origin()
    if let known = objects.restorationClass(of: object, info, naming: restorationClass) {
      origin.restorationClassName = known.name
      if !known.isRegistered { rows.note(.restorationClassNotRegistered(known.name), number) }
    }
    if !types.formerNames.isEmpty {
      let names = [info.name, origin.restorationClassName].compactMap(\.self)
      for name in names { noteFormerNames(of: name) }
      rows[number].met.isRenamed = names.contains { rows.whole.formerNames[$0] != nil }
    }
    return origin
  }

  private func noteFormerNames(of name: String) {
    guard rows.whole.formerNames[name] == nil, name.utf8.count <= NodeRecord.longestIdentifier
    else {
      return
    }
    rows.whole.formerNames[name] = types.formerNames[name]
  }

  /// The records that an element is connected with.
  private struct Connections {
    var views: [UInt64] = []
    var children: [UInt64] = []
    var presented: UInt64?
    var referrer: UInt64?
  }

  private func connections(of number: RowNumber) -> Connections {
    var connections = Connections()
    if !rows[number].below.views.isEmpty {
      connections.views = rows.views(of: number).map(\.record)
    }
    if !rows[number].below.children.isEmpty {
      connections.children = rows.children(of: number).map(\.record)
    }
    connections.presented = rows[number].below.presented?.record
    if rows[number].reach.isReferred { connections.referrer = rows[number].parent?.record }
    let kept = rows.kept.below[number] ?? []
    let placed = kept.compactMap { kept in kept.stackPlace.map { (kept.number.record, $0) } }
    if !placed.isEmpty { connections.children = stack(connections.children, with: placed) }
    for (role, number, stackPlace) in kept where stackPlace == nil {
      switch role {
      case .child, .root: connections.children.append(number.record)
      case .view: connections.views.append(number.record)
      case .presented where connections.presented == nil: connections.presented = number.record
      // The record of a presented or referred element names the row above it by itself.
      case .presented, .referred, .stray: break
      }
    }
    return connections
  }

  /// The nodes of a stack with those in their places that are not back, in the order of their places.
  private func stack(_ nodes: [UInt64], with kept: [(record: UInt64, place: Int)]) -> [UInt64] {
    var stack: [UInt64] = []
    var rest = kept[...]
    for node in nodes {
      while let next = rest.first, next.place <= stack.count {
        stack.append(next.record)
        rest.removeFirst()
      }
      stack.append(node)
    }
    return stack + rest.map(\.record)
  }

  /// The library's part of an object's record, as a value for a record that is written later.
  func nodeRecord(
    _ number: RowNumber, _ info: TypeInfo, _ origin: Origin
  ) -> NodeRecord {
    let row = rows[number]
    var record = NodeRecord(
      row.kind, row.identifier, siblingIndex: Int(row.siblingIndex), className: info.name)
    record.storyboard = origin.storyboard
    let connections = connections(of: number)
    record.views = connections.views
    record.children = connections.children
    record.presented = connections.presented
    record.referrer = connections.referrer
    return record
  }

  private func version(_ info: TypeInfo, _ origin: Origin) -> Int {
    info.registered?.version
      ?? origin.restorationClassName.flatMap { types.registration(named: $0) }?.version.number
      ?? StateVersion.first.number
  }

  /// Writes the record of an object that has its place, or lets the record wait where something may
  /// be kept in or below the object.
  func write(
    _ object: any StateRestoring, _ number: RowNumber, _ info: TypeInfo, _ origin: Origin,
    isAbove mayKeepBelow: Bool = false
  ) throws {
    if info.tracking == .always {
      said?.noteShape(of: object, rows[number].kind, info, number, objects)
    }
    if keeping != nil {
      let states = keeping?.state(of: object)
      if mayKeepBelow || states != nil {
        return try deferRecord(of: object, number, info, origin, keeping: states)
      }
    }
    try builder.begin(record: number.record, with: encoder)
    do {
      try read(.state, of: object, number) {
        readPlace(of: object, number, info)
        encodeOwnPart(of: number, info, origin, with: encoder)
        encodeBuiltInState(of: object, number, info, with: encoder)
        try encodeState(of: object, number, info)
      }
    } catch {
      builder.abandon()
      if info.tracking == .always { said?.noteFailure(number) }
      return try lose(object, number, info, origin, error)
    }
    do {
      try end(number)
    } catch {
      try lose(object, number, info, origin, error)
    }
  }

  /// Reads a part of what an object says; an object that is observed marks its row when something
  /// changes that the body has read.
  func read<Value, Failure: Error>(
    _ part: ObservedPart, of object: any StateRestoring, _ number: RowNumber,
    _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    guard rows[number].type?.tracking == .observed else { return try body() }
    let observation = rows.hearing.observe(part, of: number)
    let changes = rows.hearing.changes
    return try withObservationTracking {
      observation.access()
      return Result { () throws(Failure) in try body() }
    } onChange: {
      if !observation.isEnded { changes.insert(number) }
    }.get()
  }

  /// Reads where an observed view or object lies, which its record does not say.
  private func readPlace(of object: any StateRestoring, _ number: RowNumber, _ info: TypeInfo) {
    guard info.tracking == .observed else { return }
    switch (rows[number].kind, object) {
    case (.view, let view as any RestorableView):
      _ = (view.restorationName, view.restorationSubviews)
    case (.object, let object as any RestorableObject):
      _ = (object.restorationParent, object.objectRestorationClass)
    default: break
    }
  }

  /// Ends the record of a row, which is written if another one is stored.
  private func end(_ number: RowNumber, isSaid: Bool = true) throws {
    if try records.end(number, isSaid: isSaid), asksEverything { noteUnannounced(number) }
  }

  /// An object that changes and does not say so is stored only by chance, so the developer is told.
  private func noteUnannounced(_ number: RowNumber) {
    guard !rows[number].reach.isReferred, !rows.hearing.changed.contains(number),
      !rows.kept.changesRecord(of: number), !rows.kept.besides.contains(number),
      rows.outcome(of: number) != .keptAsStored
    else { return }
    rows.note(.notInvalidated, number)
  }

  /// Writes a record for which no object is asked; with `isSaid` one was asked before.
  func append(
    _ number: RowNumber, isSaid: Bool = true, _ body: (KeyedEncoder) throws -> Void
  ) throws {
    try builder.begin(record: number.record, with: encoder)
    do {
      try body(encoder)
    } catch {
      builder.abandon()
      throw error
    }
    try end(number, isSaid: isSaid)
  }

  /// Writes what an object says into the open record.
  func encodeState(of object: any StateRestoring, _ number: RowNumber, _ info: TypeInfo) throws {
    let container = encoder.beginContainer(forKey: NodeRecord.stateKey)
    // An error has the keys of the object, without the library's keys around them.
    let attempt = encoder.beginAttempt()
    let coder = openCoder(number)
    defer { coder.close() }
    try coder.encodeAll(of: object, info)
    try encoder.endAttempt(attempt)
    encoder.endContainer(container)
    if info.tracking == .always {
      said?.noteState(encoder.fingerprint(of: container), number)
    }
    if !coder.isUsed, info.traits.contains(.inheritsConformance) {
      rows.note(.unusedInheritedHooks, number)
    }
    if info.traits.contains(.shadowsIdentifier) { rows.note(.identifierShadowed, number) }
  }

  /// Goes on after an object threw, or after a value was too large for any archive: the object is
  /// kept, with its stored state, which is added when the save is written.
  func lose(
    _ object: any StateRestoring, _ number: RowNumber, _ info: TypeInfo, _ origin: Origin,
    _ error: any Error
  ) throws {
    loseState(of: number, error)
    records.lost.append(
      LostState(
        object: object, record: nodeRecord(number, info, origin), number: number,
        ownPart: try KeyedDecoder.encoding(limits: builder.limits) {
          encodeOwnPart(of: number, info, origin, with: $0)
          encodeBuiltInState(of: object, number, info, with: $0)
        }))
  }

  /// Writes the library's part of a record: what the object is, and which records it names.
  func encodeOwnPart(
    of number: RowNumber, _ info: TypeInfo, _ origin: Origin, with encoder: KeyedEncoder
  ) {
    let container = encoder.beginContainer(forKey: NodeRecord.nodeKey)
    NodeRecord.encode(
      rows[number].kind, rows[number].identifier,
      siblingIndex: Int(rows[number].siblingIndex), className: info.name,
      version: version(info, origin), restorationClassName: origin.restorationClassName,
      storyboard: origin.storyboard, with: encoder)
    if rows[number].isConnected || !rows.kept.below.isEmpty {
      let connections = connections(of: number)
      NodeRecord.encode(
        views: connections.views, children: connections.children, presented: connections.presented,
        referrer: connections.referrer, with: encoder)
    }
    encoder.endContainer(container)
  }

  /// Writes the values that the library stores of an object besides those of its hook.
  func encodeBuiltInState(
    of object: any StateRestoring, _ number: RowNumber, _ info: TypeInfo,
    with encoder: KeyedEncoder
  ) {
    guard !info.traits.isDisjoint(with: .hasBuiltInState) else { return }
    encoder.encodeContainer(forKey: NodeRecord.builtInKey) { encoder in
      // The selected tab is one of the children; any other node may get its place only later, or
      // have it already because a reference reaches the node.
      BuiltInState.encode(object, with: encoder) { tab in
        rows.placed(tab).flatMap { tab in
          rows[tab].parent == number && !rows[tab].reach.isReferred ? tab.record : nil
        }
      }
    }
  }

  func loseState(of number: RowNumber, _ error: any Error) {
    rows.findings.setOutcome(.savedWithoutState, number)
    rows.note(.encodeFailed(error.reason), number)
  }
}

extension StateEncoder {
  /// Lets an object write its one value, if it has one, and what its hook writes.
  func encodeAll(of object: any StateRestoring, _ info: TypeInfo) throws {
    try encodeOwnState(of: object, info.traits)
    try object.encodeRestorableState(with: self)
  }
}
