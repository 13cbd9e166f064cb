internal import ArchiveCodec

/// Gives objects their states.
extension RestorationRun {
  /// Gives a container what it contained, and offers an object its bodies until it decodes one.
  func decode(_ object: any StateRestoring, _ slot: Int32, takingContent isNew: Bool) {
    use(slot) { coder in
      let mayContain =
        !elements[slot].traits.isEmpty || !document.elements[Int(slot)].children.isEmpty
      if isNew, mayContain { takeContent(object, coder, slot) }
      while !attempt(slot, { try decode(object, coder, slot, isNew) }), elements[slot].offerNext() {
        coder.begin(slot)
      }
    }
  }

  /// An object that is back, and not new, goes on with what it has if its hook throws.
  private func decode(
    _ object: any StateRestoring, _ coder: StateDecoder, _ slot: Int32, _ isNew: Bool
  ) throws {
    guard elements.hasReadableState(slot) else { return }
    try coder.open()
    let traits = elements[slot].traits
    if traits.contains(.stateful), isNew { try coder.decodeOwnState(of: object, traits) }
    try object.decodeRestorableState(with: coder)
    if !isNew, traits.contains(.stateful) { try coder.decodeOwnState(of: object, traits) }
    if traits.contains(.hasBuiltInState) { try coder.builtIn?.restoreAfterDecoding(object) }
  }

  func layOut(_ object: any StateRestoring, _ slot: Int32) {
    guard elements.hasReadableState(slot) else { return }
    use(slot) { coder in
      attempt(slot) {
        if elements[slot].traits.contains(.hasBuiltInState) {
          try coder.builtIn?.restoreAfterLayout(object)
        }
        try object.restoreStateAfterLayout(with: coder)
      }
    }
  }

  /// Lets the delegate decode the application's own values.
  func decode(_ delegate: any StateDelegate) {
    use(Document.tree) { coder in
      attempt(Document.tree) {
        try coder.open()
        try delegate.didDecodeRestorableState(with: coder)
      }
    }
    if let note = unreadNote(Document.tree) { elements[Document.tree].note(note) }
  }

  /// Gives a container the nodes that it contained and that are back.
  private func takeContent(_ object: any StateRestoring, _ coder: StateDecoder, _ slot: Int32) {
    let traits = elements[slot].traits
    let nodes = traits.tellEqualChildrenApart ? coder.restoredChildren : []
    if !nodes.isEmpty {
      (object as? any RestorableStack)?.restoreStack(nodes)
      (object as? any RestorableSplit)?.restoreColumns(nodes)
    }
    if let node = coder.restoredPresented, let presenter = types.info(of: object).node(object),
      presenter.restorationPresented !== node
    {
      presenter.restorePresented(node)
    }
    if traits.contains(.tabs), let tabs = object as? any RestorableTabs {
      attempt(slot) {
        guard let id = try coder.builtIn?.reference(forKey: BuiltInKey.selectedTab),
          let tab = elements.object(ofRecord: id) as? any RestorableNode
        else { return }
        tabs.selectedTab = tab
      }
    }
  }

  @discardableResult
  private func attempt(_ slot: Int32, _ body: () throws -> Void) -> Bool {
    do {
      try body()
      return true
    } catch {
      if let step = elements[slot].outcome?.step {
        elements[slot].outcome = .decodeFailed(by: step, error.reason)
      }
      return false
    }
  }
}

/// How this version of the app reads what is stored: which class a form names now, what makes its objects, and
/// which bodies an object is offered.
extension RestorationRun {
  /// The forms of the document.
  final class Forms {
    /// The names that the delegate says.
    fileprivate var names: [String: String?] = .init()
    fileprivate var readings: [Reading] = []
    /// The registrations that the readings are of.
    fileprivate var changeCount = -1
  }

  /// A form is asked for each element, so it is not copied (benchmark: restore nodes).
  final class Reading {
    let stored: Form
    let className: String
    let restorationClassName: String?
    /// Makes the objects of the restoration class, or else of the class; nil if nothing that does is registered.
    let factory: TypeTable.Factory?
    fileprivate let version: StateVersion?
    /// Whether the form is of the version that is known.
    fileprivate let isCurrent: Bool

    fileprivate init(_ form: Form, in run: RestorationRun) {
      stored = form
      className = run.currentName(of: form.className)
      restorationClassName = form.restorationClassName.map(run.currentName)
      let maker = run.types.registrations[restorationClassName ?? className]
      // A class of another kind that has the name makes objects of other classes.
      let makes = restorationClassName != nil || maker?.type is any StateRestoring.Type
      factory = makes ? maker?.factory : nil
      version = run.types.version(ofClass: className, restoredBy: restorationClassName)
      isCurrent = form.version == version?.number ?? 1
    }
  }

  func form(_ number: Int32) -> Reading {
    // A hook may register a class, so that another one is found from then on; a save may have stored another form.
    if types.changeCount != forms.changeCount || forms.readings.count != document.head.forms.count {
      forms.changeCount = types.changeCount
      forms.readings = document.head.forms.map { Reading($0, in: self) }
    }
    return forms.readings[Int(number)]
  }

  /// The name that a class has now; of the app, nothing but the delegate's hook is called, once for each name.
  private func currentName(of stored: String) -> String {
    guard let delegate, types.registrations[stored] == nil else { return stored }
    let other = forms.names[stored] ?? delegate.currentClassName(forStored: stored)
    forms.names.updateValue(other, forKey: stored)
    return other.flatMap { types.registrations[$0] == nil ? nil : $0 } ?? stored
  }

  /// Decides which bodies an object is offered, and migrates the older ones.
  func chooseBodies(_ slot: Int32, isBack: Bool) {
    let unread = document.kept.bodies.isEmpty ? nil : document.kept.bodies[slot]
    if unread == nil, form(document[slot].place.form).isCurrent { return }
    let element = document[slot]
    var bodies = (unread ?? []).map { read($0.record, $0.form, unread: ($0.id, $0.reason)) }
    // What wrote nothing is migrated as well.
    let own = element.body == .none ? nil : element.bodyRecord
    bodies.append(read(own, element.place.form, unread: nil))
    let untaken = isBack ? document.kept.untaken(slot) : nil
    if let untaken { bodies.removeAll { !untaken.contains($0.unread?.id) } }
    let order = ReadBody.order(bodies.map { ($0.unread?.reason, $0.isReadable) }, isLate: isBack)
    elements[slot].offer(order.isEmpty ? bodies.suffix(1) : order.map { bodies[$0] })
  }

  /// Reads a body of a form, an older one by its migrations.
  private func read(_ record: UInt64?, _ number: Int32, unread: ReadBody.Unread?) -> ReadBody {
    let body = Result { () throws(ArchiveError) in try record.map(elements.body) ?? .empty }
    var (version, known) = (form(number).stored.version, form(number).version ?? .first)
    guard case .success(let stored) = body, version != known.number else {
      return ReadBody(unread: unread, body: body)
    }
    guard let steps = known.steps(from: version) else {
      return ReadBody(unread: unread, withheld: known.refusal(of: version))
    }
    let (copy, first) = (MigratingState(stored), version)
    do {
      for (from, change) in steps {
        version = from
        try change(copy)
      }
      let changed = try KeyedDecoder.encoding(copy.write)
      return ReadBody(unread: unread, body: .success(changed), migratedFrom: first)
    } catch {
      return ReadBody(unread: unread) { [version] in
        .migrationFailed(by: $0, from: version, error.reason)
      }
    }
  }
}

/// A body that an object may be given, as this version of the app reads it.
package struct ReadBody {
  typealias Unread = (id: UInt64, reason: Kept.Reason)

  /// Nil for the element's own body; small, since each element is asked for it (benchmark: restore 10,000 nodes).
  let unread: Unread?
  /// The values, or why the record does not open; nil if nobody gets to see the body.
  var body: Result<KeyedDecoder, ArchiveError>?
  var migratedFrom: Int?
  /// Why nobody gets to see the body.
  var withheld: ElementOutcome.Refusal?

  var isReadable: Bool { (try? body?.get()) != nil }

  /// Decides in which order the bodies of an element are offered: the first that its object decodes
  /// counts.
  ///
  /// A body of which the decoding threw comes before all others, so that an object that cannot take its
  /// state now throws; of those the newest. Then comes the own body, which is the newest of all, and of the
  /// others the newest.
  ///
  /// - Parameters:
  ///   - bodies: The unread bodies, oldest first, and the own body last, if there is one.
  ///   - isLate: Whether the object asks for what it has not taken: then the newest comes first.
  /// - Returns: Places in the array; none if nobody can read any of them.
  package static func order(
    _ bodies: [(unread: Kept.Reason?, isReadable: Bool)], isLate: Bool = false
  ) -> [Int] {
    let readable = bodies.indices.reversed().filter { bodies[$0].isReadable }
    if isLate { return readable }
    let rest = readable.first { bodies[$0].unread != .decodeThrew }
    return readable.filter { bodies[$0].unread == .decodeThrew } + [rest].compactMap(\.self)
  }
}

extension StateVersion {
  /// Why nobody gets to see a body of a version that no migration begins with.
  func refusal(of stored: Int) -> ElementOutcome.Refusal {
    stored > number
      ? { [number] in .newerVersion(by: $0, stored: stored, known: number) }
      : { .migrationFailed(by: $0, from: stored, "there is no migration from this version") }
  }
}

/// What the saves that follow have to know of a restore.
extension RestorationRun {
  /// The document as it is after the run: what nobody has claimed is kept, and the bodies that objects
  /// have not read are withheld.
  ///
  /// `byteCount` gives the bytes of a stored record.
  func settled(byteCount: (UInt64) -> Int) -> Document {
    keepUntaken()
    if !roots.allSatisfy({ elements.contains($0) }) {
      for slot in order where document[slot].place.parent == Document.tree { noteGivenRoot(slot) }
    }
    if isPlain { return document }
    var after = document
    keep(in: &after, byteCount)
    findLeftOut()
    for (slot, bodies) in after.kept.bodies {
      guard case .restored? = elements[slot].outcome, elements[slot].choice?.unread == nil
      else { continue }
      // The own body has been decoded, so that it is kept when the element is left out again.
      for index in bodies.indices where bodies[index].reason == .leftOut {
        after.kept.bodies[slot]?[index].reason = .replaced
        after.hasUnstoredKept = true
      }
    }
    for slot in order where !after.kept.withheld.isEmpty { after.kept.withheld[slot] = nil }
    for slot in [Document.tree] + order {
      guard let reason = withheldReason(slot) else { continue }
      after.kept.withheld[slot] = Kept(
        reason: reason, form: document[slot].place.form,
        byteCount: byteCount(document[slot].bodyRecord),
        given: reason == .replaced && !elements[slot].isReplaced
          ? elements[slot].choice?.unread?.id : nil,
        // One that has read nothing of it is asked what it says without it.
        said: [.otherClass, .fieldReplaced].contains(reason) ? nil : said(slot))
    }
    return after
  }

  /// Whether all is back and read whole, and nothing was kept, as is usual: then there is nothing to know.
  private var isPlain: Bool {
    document.kept.isEmpty && elements[Document.tree].isPlain
      && order.allSatisfy { elements[$0].isPlain && elements[$0].read.isWhole }
  }

  /// Notes the nodes that are back, but that the node above does not contain any more; if the decoding of that
  /// one could not be called, or threw, they are kept.
  private func keepUntaken() {
    for slot in order where !document[slot].children.isEmpty {
      guard let parent = elements[slot].node else { continue }
      let stored = document[slot].children.filter {
        document[$0].place.role == .child || document[$0].place.role == .presented
      }
      guard !stored.isEmpty else { continue }
      let contained = parent.contained
      // Usually a node contains the nodes that it contained in the save, and no set has to be built.
      if contained.elementsEqual(stored, by: { $0 === elements[$1].node }) { continue }
      let all = Set(contained.map { ObjectIdentifier($0) })
      for child in stored {
        guard let node = elements[child].node, !all.contains(ObjectIdentifier(node)) else {
          continue
        }
        elements[child].note(.notContained)
        if elements[slot].outcome?.isRead != true { elements[child].isKept = true }
      }
    }
  }

  /// Notes a given root that is not used, since another root is back at its place, or none by a veto.
  private func noteGivenRoot(_ slot: Int32) {
    let (place, outcome) = (document[slot].place, elements[slot].outcome)
    guard place.role.kind == .node, outcome?.step != nil || outcome == .vetoed,
      let given = existingObject(place), given !== elements[slot].object
    else { return }
    elements[slot].note(.givenRootNotUsed)
  }

  /// Keeps elements in a document, each with all below it.
  private func keep(in after: inout Document, _ byteCount: (UInt64) -> Int) {
    guard !document.kept.elements.isEmpty || order.contains(where: { elements[$0].isKept })
    else { return }
    var byteCounts: [Int32: Int] = .init()
    for slot in order.reversed() {
      let element = document[slot]
      let own = byteCount(element.bodyRecord) + byteCount(element.contentsRecord)
      byteCounts[slot, default: 0] += own
      byteCounts[element.place.parent, default: 0] += byteCounts[slot] ?? 0
    }
    /// The stored elements that are kept, be it below others.
    var before: [Int32: Kept] = .init()
    for slot in order {
      let (outcome, stored) = (elements[slot].outcome, document.kept.elements[slot])
      // The object of one that was left out may have been there until now.
      before[slot] =
        stored?.reason == .leftOut ? nil : stored ?? before[document[slot].place.parent]
      let kept = Kept(
        reason: Kept.Reason(outcome), since: before[slot]?.since,
        byteCount: byteCounts[slot] ?? 0, outcome: outcome)
      after.kept.elements[slot] = elements[slot].isKept ? kept : nil
      if after.kept.elements[slot]?.reason != stored?.reason { after.hasUnstoredKept = true }
    }
  }

  /// Finds the objects that the app itself has made for elements that are left out, and those below.
  private func findLeftOut() {
    // Hooks may have changed what contains them.
    existing.named = .init()
    for slot in order {
      switch elements[slot].outcome {
      case .skipped: break
      case .parentMissing where elements.isBack(document[slot].place.parent): break
      default: continue
      }
      guard let object = existingObject(document[slot].place) else { continue }
      (elements[slot].object, elements[slot].node) = (object, object as? any RestorableNode)
      elements[slot].traits = types.info(of: object).traits
    }
  }

  /// Why the object of an element has not read its own body, or not whole; nil if it has, or is not there.
  private func withheldReason(_ slot: Int32) -> Kept.Reason? {
    switch elements[slot].outcome {
    case .restored:
      elements[slot].choice?.unread != nil
        ? .replaced : elements[slot].isReplaced ? .fieldReplaced : nil
    case .restoredWithoutState, nil: nil
    case _ where !elements.isBack(slot): nil
    case .parentMissing: .leftOut
    case let outcome: Kept.Reason(outcome)
    }
  }

  /// What an object says that has read nothing; nil if it cannot say anything, so that the first state that
  /// it can encode counts as changed.
  private func said(_ slot: Int32) -> RecordFingerprint? {
    guard let object = elements[slot].object else { return nil }
    mark(slot)
    defer { mark(nil) }
    return try? StateProbe.fingerprint(of: object, types.info(of: object).traits)
  }

  // MARK: Report

  /// The lines of the report, after the run has left a document; the elements that are kept have a note.
  ///
  /// All are compared with the usual outcome, which is that of one that is back: others may name long paths.
  func lines(_ after: Document) -> SurveyNotes {
    let last = order.last { elements[$0].isPlain }.flatMap { elements[$0].outcome }
    var lines = SurveyNotes(usual: last ?? .restored(by: .delegate))
    for slot in order { lines.add(slot, elements[slot].outcome ?? .notFound) }
    if !isPlain { addNotes(&lines, after.keptAndBelow) }
    return lines
  }

  private func addNotes(_ lines: inout SurveyNotes, _ kept: Set<Int32>) {
    lines.set(elements[Document.tree].outcome ?? .restored(by: .delegate), Document.tree)
    for note in elements[Document.tree].notes { lines.add(note, Document.tree) }
    for slot in order {
      for note in elements[slot].notes { lines.add(note, slot) }
      if kept.contains(slot) { lines.add(.kept, slot) }
      if elements[slot].isDecodable, let note = unreadNote(slot) { lines.add(note, slot) }
    }
  }

  /// The keys of an element that nobody asked for; nil if there are none.
  func unreadNote(_ slot: Int32) -> ReportNote? {
    // An element that is read whole needs no coder again.
    elements[slot].read.isWhole ? nil : use(slot, \.unreadNote)
  }
}
