internal import ArchiveCodec
internal import Observation

// MARK: - Coders

extension PreservationWalk {
  /// Opens the coder for the hooks of one object.
  ///
  /// One that somebody has kept stays his, and closed.
  func openCoder(_ number: RowNumber?) -> StateEncoder {
    if !isKnownUniquelyReferenced(&coder) { letGoOfCoder() }
    let opened = coder ?? StateEncoder(self, encoder)
    coder = opened
    opened.open(number)
    return opened
  }

  /// Whoever has kept it may use it when the rows are those of another save.
  func letGoOfCoder() {
    coder?.keepPath()
    coder = nil
  }

  func path(of number: RowNumber?) -> RestorationPath { rows.path(of: number) }

  func note(_ note: ReportNote, _ number: RowNumber?) { rows.note(note, number) }

  func register(_ object: any RestorableObject, identifier: String) {
    objects.register(object, identifier: identifier)
  }

  /// Says in this report, or in the next one, that a coder did nothing.
  func noteKeptCoder(of number: RowNumber?, _ path: RestorationPath?, key: String) {
    if hasEnded {
      objects.noteKeptCoder(of: path ?? RestorationPath(), key: key)
    } else {
      rows.note(.coderKept(key: key), number)
    }
  }

  /// How an object is made again, which its record says besides its row.
  struct Origin {
    var restorationClassName: String?
    var storyboard: StoryboardReference?
  }

  /// The origin of an object but for its storyboard; a restoration class that nobody
  /// knows is noted.
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
    for (role, number) in rows.kept.below[number] ?? [] {
      switch role {
      case .child, .root: connections.children.append(number.record)
      case .view: connections.views.append(number.record)
      case .presented where connections.presented == nil: connections.presented = number.record
      // It names the one above itself.
      case .presented, .referred: break
      }
    }
    return connections
  }

  /// What the library has to say of an object, as a value for what is written later.
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

  /// Writes the record of an object that has its place, or lets it wait where something may be
  /// kept in it or below it.
  func write(
    _ object: any StateRestoring, _ number: RowNumber, _ info: TypeInfo, _ origin: Origin,
    isAbove mayKeepBelow: Bool = false
  ) throws {
    rows[number].met.save = rows.run.save
    if info.tracking == .always {
      rows.hearing.said?.noteShape(of: object, rows[number].kind, info, number, objects)
    }
    if keeping != nil {
      let states = keeping?.state(of: object)
      if mayKeepBelow || states != nil {
        return try deferRecord(of: object, number, info, origin, keeping: states)
      }
    }
    if hasLastState(object) { return try leaveUnasked(object, number, info, origin) }
    try builder.begin(record: number.record, with: encoder)
    do {
      try read(object, number) {
        encodeOwnPart(of: number, info, origin, with: encoder)
        encodeBuiltInState(of: object, number, info, with: encoder)
        try encodeState(of: object, number, info)
      }
    } catch {
      builder.abandon()
      if info.tracking == .always { rows.hearing.said?.noteFailure(number) }
      return try lose(object, number, info, origin, error)
    }
    if info.tracking == .observed { rows[number].hearing.isObserved = true }
    do {
      try end(number)
    } catch {
      try lose(object, number, info, origin, error)
    }
  }

  /// Reads what an object says; one that is observed marks its row when that changes.
  func read<Value, Failure: Error>(
    _ object: any StateRestoring, _ number: RowNumber, _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    guard rows[number].type?.tracking == .observed, !rows[number].hearing.isObserved else {
      return try body()
    }
    let changes = rows.hearing.changes
    let result = withObservationTracking {
      Result { () throws(Failure) in try body() }
    } onChange: {
      changes.insert(number)
    }
    return try result.get()
  }

  /// Ends the record of a row, which is written if it is stored otherwise.
  private func end(_ number: RowNumber) throws {
    if try records.end(number), asksEverything { noteUnannounced(number) }
  }

  /// What changes and does not say so is stored by chance.
  private func noteUnannounced(_ number: RowNumber) {
    guard !rows[number].reach.isReferred, !rows.hearing.changed.contains(number),
      !rows.kept.changesRecord(of: number), !rows.kept.besides.contains(number),
      rows.outcome(of: number) != .keptAsStored
    else { return }
    rows.note(.notInvalidated, number)
  }

  /// Writes a record of an element that nobody is asked for.
  func append(_ number: RowNumber, _ body: (KeyedEncoder) throws -> Void) throws {
    try builder.begin(record: number.record, with: encoder)
    do {
      try body(encoder)
    } catch {
      builder.abandon()
      throw error
    }
    try end(number)
  }

  /// Writes what an object says into the open record.
  func encodeState(of object: any StateRestoring, _ number: RowNumber, _ info: TypeInfo) throws {
    let container = encoder.beginContainer(forKey: NodeRecord.stateKey)
    if let trace {
      trace(RestorationTrace(call: .encodeRestorableState, path: rows.path(of: number)))
    }
    // The keys in an error are those of the object, without ours around them.
    let attempt = encoder.beginAttempt()
    let coder = openCoder(number)
    defer { coder.close() }
    try coder.encodeAll(of: object, info)
    try encoder.endAttempt(attempt)
    encoder.endContainer(container)
    if info.tracking == .always {
      rows.hearing.said?.noteState(encoder.fingerprint(of: container), coder.sensitive, number)
    }
    if coder.sensitive != nil || !rows.sensitive.uses.isEmpty {
      try sensitive?.encode(coder.sensitive, of: object, number, with: encoder)
    }
    if !coder.isUsed, info.traits.contains(.inheritsConformance) {
      rows.note(.unusedInheritedHooks, number)
    }
    if info.traits.contains(.shadowsIdentifier) { rows.note(.identifierShadowed, number) }
  }

  /// It threw, or a value was too large for any archive: the node is kept, and what
  /// is stored of it.
  func lose(
    _ object: any StateRestoring, _ number: RowNumber, _ info: TypeInfo, _ origin: Origin,
    _ error: any Error
  ) throws {
    loseState(of: number, error)
    try goOnWithoutState(object, number, info, origin)
  }

  /// Keeps an object without asking it, and what is stored of its state.
  func leaveUnasked(
    _ object: any StateRestoring, _ number: RowNumber, _ info: TypeInfo, _ origin: Origin
  ) throws {
    rows.findings.setOutcome(.savedWithoutState, number)
    // That this is stored otherwise is no change of its own.
    rows[number].stored.isAsked = false
    try goOnWithoutState(object, number, info, origin)
  }

  /// Keeps an object without its state, and what is stored of that.
  private func goOnWithoutState(
    _ object: any StateRestoring, _ number: RowNumber, _ info: TypeInfo, _ origin: Origin
  ) throws {
    sensitive?.keepAges(of: object, number)
    records.lost.append(
      LostState(
        object: object, record: nodeRecord(number, info, origin), number: number,
        ownPart: try KeyedDecoder.encoding(limits: builder.limits) {
          encodeOwnPart(of: number, info, origin, with: $0)
          encodeBuiltInState(of: object, number, info, with: $0)
        }))
  }

  /// Writes what an object is and what its record names.
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

  /// Writes what the library stores of an object besides what its hook says.
  func encodeBuiltInState(
    of object: any StateRestoring, _ number: RowNumber, _ info: TypeInfo,
    with encoder: KeyedEncoder
  ) {
    guard !info.traits.isDisjoint(with: .hasBuiltInState) else { return }
    encoder.encodeContainer(forKey: NodeRecord.builtInKey) { encoder in
      // What is shown is one of the tabs; any other may have its place only later.
      BuiltInState.encode(object, with: encoder) { tab in
        rows.placed(tab).flatMap { rows[$0].parent == number ? $0.record : nil }
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
    finishContainer()
  }
}
