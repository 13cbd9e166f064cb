internal import ArchiveCodec
internal import RestorationFoundation

/// Asks the objects of an app what there is to store.
///
/// The application is asked first. Then all objects that may have something to say get their places, so that
/// each has its identifier before any hook refers to it; then they are asked, in the order of the walk. What
/// only references reach gets its place when a hook has referred to it. At the end it is clear who is below
/// whom, and what goes. An object that says when it changes, and has not, is passed over, and so is all below
/// it, unless something there must be asked.
struct Survey {
  /// What decides how a survey goes, besides the objects.
  struct Conditions {
    /// When the save began.
    let now: Date
    let policy: StatePolicy
    let facts: [String: String]
    let coming: Coming?
    /// The elements whose objects are asked though they have not said that they have changed.
    let unsaid: Set<Int32>
    /// A stored record, to be copied before another one takes its number.
    let storedRecord: (UInt64) throws(ArchiveError) -> KeyedDecoder?
  }

  /// A node that comes late, and whose element stays as it is stored until its bodies are read.
  typealias Coming = (object: ObjectIdentifier, slot: Int32)

  /// What a survey has found.
  struct Result {
    let change: Change
    let records: RecordBatch
    /// The records that go.
    var removed: [UInt64]
    /// The changes of values that are written.
    var values = ValueChanges()
    let notes: SurveyNotes
    /// What the next save has to ask again if this one is not stored.
    let taken: [AnyObject]
  }

  /// The gate of a save has said no.
  struct Declined: Error {}

  struct Visit {
    let object: any StateRestoring
    let info: TypeInfo
    /// The element; below 0 for a node that is left out, with the number of its line.
    let slot: Int32
    /// Whether the hook is asked, and not only who is below the object.
    let asksBody: Bool
  }

  /// The order of visits.
  struct Agenda {
    /// The objects that the walk has met, the next one at the end.
    var met: [Visit] = []
    /// The lines of nodes that are left out, and the nodes of those that are said.
    var leftOut: (lines: [ReportEntry], said: Set<ObjectIdentifier>) = ([], [])
    /// The elements that stay though nobody has them.
    var kept: Set<Int32> = []
    /// The visits in the order of the walk.
    var visits: [Visit] = []
    /// The place behind the visit whose hook runs.
    var nextToAsk = 0
    /// The objects that were asked because they had changed, or were new.
    var asked: [AnyObject] = []
    /// The objects that have said that they have changed.
    var changed: [(object: AnyObject, slot: Int32)] = []
    /// The elements that were visited for what is below them, before anybody has looked at their names.
    var fromBelow: Set<Int32> = []
  }

  let places: Places
  let conditions: Conditions
  let builder: RecordBuilder
  var agenda = Agenda()
  /// The bodies of stored elements that are others than before.
  var bodies: [(slot: Int32, body: RecordFingerprint)] = []
  var edits: Change.Edits
  /// What may be below elements, where that may be something else than before; some may lie elsewhere by now.
  var contents: [Int32: [Int32]] = .init()
  /// Whether an object that was asked refers to something no more.
  var hasDropped = false
  var taken = Taken()
  /// The records that go, be it from the file or from what this save has written.
  var leaving: Set<UInt64> = []
  private var coder: StateEncoder?
  private let encoder: KeyedEncoder

  // Not copied: this would count the references of all its parts (benchmark: save 10,000 nodes).
  var document: Document { _read { yield places.document } }
  var owner: KnownObjects.Owner { places.owner }
  var types: TypeTable { places.objects.types }

  init(
    _ document: Document, _ objects: ObjectTable, _ owner: KnownObjects.Owner,
    _ builder: RecordBuilder, _ conditions: Conditions
  ) {
    self.builder = builder
    self.conditions = conditions
    places = Places(document, owner, objects, coming: conditions.coming)
    encoder = builder.makeEncoder()
    edits = Change.Edits(
      hasReferred: document.links.hasReferred, isWhole: document.links.isWhole,
      kept: document.kept, nextID: document.nextID)
  }

  /// Asks the application first, if there is one, which writes its own body.
  ///
  /// Without roots, windows alone are asked.
  ///
  /// - Throws: ``Declined`` if its gate has said no.
  mutating func run(_ parts: SavedParts, _ delegate: (any StateDelegate)?) throws -> Result {
    defer { coder = nil }
    places.objects.begin(with: document.head.forms)
    let mentions = parts.roots == nil ? nil : try askApplication(delegate)
    // The higher ones mostly come first: what is below an element was stored after it.
    agenda.changed = KnownObjects.shared.takeChanged(of: owner).sorted { $0.slot < $1.slot }
    if let roots = parts.roots { try placeRoots(roots) } else { leave(allBut: parts.scenes) }
    try placeScenes(of: parts)
    _ = try placeChanged()
    if let mentions { try setReferred(mentions, below: Document.tree) }
    try askAll()
    let isOfBodies = isOfBodies
    if !isOfBodies { try settle() }
    let removed = leaving.filter { $0 < document.nextID * 2 || $0 >= TreeRecord.application }
    return Result(
      change: Change(bodies: bodies, edits: isOfBodies ? nil : edits),
      records: try builder.finish(without: leaving), removed: removed.sorted(),
      notes: places.notes, taken: asked)
  }

  // MARK: - Order

  mutating func placeRoots(_ roots: [any RestorableNode]) throws {
    if document.hasPlaces(of: roots, owner) {
      return zip(roots, document.roots).forEach { places.visit($0, at: $1) }
    }
    try place(roots, below: Document.tree, of: document[Document.tree].children)
    if document.links.hasReferred { try visitReferred(below: Document.tree) }
    try placeAll()
  }

  /// Puts an object among those that will be asked, and places what is below it.
  mutating func place(belowOf visit: Visit) throws {
    agenda.visits.append(visit)
    if visit.asksBody { places.notes.add(asked: visit.slot) }
    if document.links.hasReferred, !places.isNew(visit.slot) {
      try visitReferred(below: visit.slot)
    }
    guard let node = visit.info.node(visit.object), isConnected(visit) else { return }
    let (below, presented, views) = try KnownObjects.shared.observing(
      .contents, visit.object, visit.info, of: owner
    ) {
      () throws -> ([any RestorableNode], (any RestorableNode)?, [NamedView]) in
      // Code that does not observe the node asks for these properties elsewhere.
      if visit.info.tracking == .observed { _ = (node.restorationName, node.restorationClass) }
      let (below, presented) = (node.restorationChildren, node.restorationPresented)
      let own = node.restorationViews
      guard !own.isEmpty else { return (below, presented, []) }
      let others = below + [presented].compactMap(\.self)
      let most = conditions.policy.nodeLimit
      guard let views = ViewTree.views(own, of: node, besides: others, most: most) else {
        throw RestorationError.tooManyNodes(places.path(of: visit.slot), most)
      }
      return (below, presented, views)
    }
    let stored = places.isNew(visit.slot) ? [] : document[visit.slot].children
    guard !below.isEmpty || presented != nil || !views.isEmpty || !stored.isEmpty else { return }
    try place(
      below, presented, besides: views, below: visit.slot, of: stored,
      maySharing: visit.info.traits.tellEqualChildrenApart)
  }

  mutating func placeAll() throws {
    while let visit = agenda.met.popLast() {
      if visit.slot >= 0 {
        try place(belowOf: visit)
      } else if !places.isVisited(visit.object),
        agenda.leftOut.said.insert(ObjectIdentifier(visit.object)).inserted
      {
        // One line says it, and none if the node has its place elsewhere.
        places.notes.add(agenda.leftOut.lines[-1 - Int(visit.slot)])
      }
    }
  }

  /// Visits the objects that have said that they have changed, and are part of the tree by now; false if there
  /// are none.
  mutating func placeChanged() throws -> Bool {
    let count = agenda.visits.count
    for (object, slot) in agenda.changed
    where !places.isHomeless(slot) && !agenda.kept.contains(slot) {
      guard !places.isVisited(object) || agenda.fromBelow.remove(slot) != nil,
        let object = object as? any StateRestoring
      else { continue }
      let info = types.info(of: object)
      try renew(object, info, at: slot)
      if !places.isVisited(object) { try visit(changed: object, info, at: slot) }
      try placeAll()
    }
    return agenda.visits.count > count
  }

  /// Looks whether an object that says that it has changed has another name or form: the one above says both.
  mutating func renew(_ object: any StateRestoring, _ info: TypeInfo, at slot: Int32) throws {
    let place = places.place(of: slot)
    let name = places.objects.name(of: object)
    let form = places.form(of: object, info, at: slot)
    if form == place.form, let name, name.utf8.elementsEqual(place.name.utf8) { return }
    if name == place.name || place.role.livesByReferences {
      return setPlace(of: slot) { [withheld = edits.kept.withheld[slot]] place in
        place.form = withheld?.form ?? form
        if let name, Element.canBeCalled(name) { place.name = name }
      }
    }
    guard let above = KnownObjects.shared.object(at: places.parent(of: slot), of: owner),
      let node = above as? any StateRestoring
    else { return }
    let (info, parent) = (types.info(of: node), places.parent(of: slot))
    if !places.isVisited(node) { agenda.fromBelow.insert(parent) }
    if places.known(node)?.hasChanged == true {
      try visit(changed: node, info, at: parent)
    } else {
      try visit(node, info, at: parent, asksBody: false)
    }
    try placeAll()
  }

  /// Asks the objects that have their places; what only they refer to gets its place then.
  mutating func askAll() throws {
    try placeAll()
    while agenda.nextToAsk < agenda.visits.count {
      let visit = agenda.visits[agenda.nextToAsk]
      agenda.nextToAsk += 1
      guard visit.asksBody else { continue }
      if let mentions = try ask(visit.object, visit.info, at: visit.slot) {
        try setReferred(mentions, below: visit.slot)
      }
      if visit.info.tracking != .always, places.notes.asksAgain(visit.slot) {
        KnownObjects.shared.askAgain([visit.object], of: owner)
      }
      try placeAll()
    }
  }

  mutating func visit(
    _ object: any StateRestoring, _ info: TypeInfo, at slot: Int32, asksBody: Bool
  ) throws {
    // The views of a node count with the next node.
    guard
      agenda.visits.count + agenda.met.count < conditions.policy.nodeLimit
        || places.role(of: slot) == .view
    else {
      throw RestorationError.tooManyNodes(places.path(of: slot), conditions.policy.nodeLimit)
    }
    places.visit(object, at: slot)
    agenda.met.append(Visit(object: object, info: info, slot: slot, asksBody: asksBody))
  }

  /// Visits an object that is found by itself.
  mutating func visit(changed object: any StateRestoring, _ info: TypeInfo, at slot: Int32) throws {
    if !places.isNew(slot), !document.kept.elements.isEmpty { claim(slot, by: object) }
    KnownObjects.shared.note(object, at: slot, of: owner)
    agenda.asked.append(object)
    if info.tracking == .always { noteAsking(at: slot) }
    try visit(object, info, at: slot, asksBody: true)
  }

  /// What the next save has to ask again if this one is not stored.
  var asked: [AnyObject] { agenda.asked + agenda.changed.map(\.object) }

  /// Notes whom an object refers to; those that nobody contains are stored below it.
  mutating func setReferred(_ mentions: [Places.Mention], below slot: Int32) throws {
    if !edits.isWhole, !places.isNew(slot), document[slot].isUnheard {
      edits.heard.insert(slot)
      // The stored body may have referred to others.
      if bodies.last?.slot == slot { hasDropped = true }
    }
    let before = edits.references[slot] ?? document.links.all[slot] ?? []
    guard !mentions.isEmpty || !before.isEmpty else { return }
    var ids: [UInt64] = []
    var seen: Set<Int32> = []
    for mention in mentions where seen.insert(mention.slot).inserted {
      ids.append(places.id(of: mention.slot))
      let isKept =
        (document.kept.elements[mention.slot] != nil || agenda.kept.contains(mention.slot))
        && mention.slot != places.coming?.slot
        && !places.isVisited(mention.object)
      // What nobody has takes nothing over before it is taken over itself.
      if isKept || places.isHomeless(mention.slot), !places.isHomeless(slot) {
        for (object, scoped) in places.withScopes(mention) {
          try take(object, at: scoped, below: slot)
        }
      }
    }
    guard ids != before else { return }
    if !Set(before).isSubset(of: ids) { hasDropped = true }
    edits.references[slot] = ids
  }

  /// Whether bodies alone are others than before, of which nothing follows: all objects have the places that
  /// they had, nobody refers to others, and nothing is kept.
  var isOfBodies: Bool {
    places.added.isEmpty && places.moved.isEmpty && places.orphans.isEmpty && contents.isEmpty
      && !places.findsAllByObject && edits.references.isEmpty && edits.heard.isEmpty
      && edits.asksBelow.isEmpty && places.objects.newForms.isEmpty
      && document.isSettled(conditions.facts) && conditions.unsaid.isEmpty
  }

  // MARK: - Asking

  /// Writes what the application says; returns to whom it refers, or nil if what is stored of that stays.
  private mutating func askApplication(
    _ delegate: (any StateDelegate)?
  ) throws -> [Places.Mention]? {
    if delegate == nil, places.body(of: Document.tree) == .none { return nil }
    try writeBody(of: Document.tree) { coder in
      guard let delegate else { return }
      var isSaving = true
      coder.ask { isSaving = delegate.shouldSaveApplicationState(with: coder) }
      guard isSaving else { throw Declined() }
      coder.ask { try delegate.willEncodeRestorableState(with: coder) }
    }
    try copyReplaced(of: Document.tree)
    // As long as the stored body stays, that says to whom the application refers.
    if edits.kept.isWithheld(Document.tree) || keepsApplication { return nil }
    return places.references.mentions
  }

  /// Writes what an object says; returns whom it refers to, or nil if the stored body stays.
  private mutating func ask(
    _ object: any StateRestoring, _ info: TypeInfo, at slot: Int32
  ) throws -> [Places.Mention]? {
    let isWithheld = edits.kept.isWithheld(slot)
    if isWithheld, let withheld = edits.kept.withheld[slot], says(withheld, object, info) {
      places.notes.set(.keptAsStored, slot)
      return nil
    }
    places.beginMentions()
    do {
      try KnownObjects.shared.observing(.state, object, info, of: owner) {
        // Code that does not observe the object asks for its scope elsewhere.
        if info.tracking == .observed { _ = (object as? any RestorableObject)?.restorationParent }
        try writeBody(of: slot) { try $0.encodeAll(of: object, info.traits) }
      }
    } catch {
      places.notes.add(.encodeFailed(error.reason), slot)
      loseState(of: slot)
      return nil
    }
    if places.lacksState(slot) { setPlace(of: slot) { $0.lacksState = false } }
    guard isWithheld else { return places.references.mentions }
    try copyReplaced(of: slot)
    // As long as the stored body stays, that says to whom the element refers.
    if edits.kept.isWithheld(slot) { return keepsFields ? places.references.mentions : nil }
    let form = places.form(of: object, info, at: slot)
    setPlace(of: slot) { $0.form = form }
    return places.references.mentions
  }

  /// Whether an object that has not read its stored body says what it said then, so that nothing is
  /// stored of it.
  private func says(
    _ withheld: Kept, _ object: any StateRestoring, _ info: TypeInfo
  ) -> Bool {
    guard !withheld.replacesOwn, let said = withheld.said else { return false }
    // The hook says its error once more, in the save.
    return KnownObjects.shared.observing(.state, object, info, of: owner) {
      (try? StateProbe.fingerprint(of: object, info.traits)) == said
    }
  }

  /// Writes a body if it is another than the stored one.
  private mutating func writeBody(
    of slot: Int32, _ body: (StateEncoder) throws -> Void
  ) throws {
    if !isKnownUniquelyReferenced(&coder) { coder = nil }
    let coder = self.coder ?? StateEncoder(places, encoder)
    self.coder = coder
    try builder.begin(record: places.bodyRecord(of: slot), with: encoder)
    let start = encoder.byteCount
    do {
      coder.open(slot)
      defer { coder.close() }
      try body(coder)
    } catch {
      builder.abandon()
      throw error
    }
    try endBody(of: slot, isEmpty: encoder.byteCount == start)
  }

  /// Whether all fields that do not fit are in the body as they were stored.
  private var keepsFields: Bool {
    coder.map { $0.unfitFields == (areKept: true, areReplaced: false) } ?? false
  }

  /// Whether what the application has stored stays, since its hook has thrown: the gate may have written a part.
  private var keepsApplication: Bool {
    places.body(of: Document.tree) != .none && places.notes.hasLoss(Document.tree)
  }

  private mutating func endBody(of slot: Int32, isEmpty: Bool) throws {
    let stored = places.body(of: slot)
    if slot == Document.tree, keepsApplication { return builder.abandon() }
    let withheld = edits.kept.isWithheld(slot) ? edits.kept.withheld[slot] : nil
    var body = RecordFingerprint.none
    if isEmpty {
      builder.abandon()
      // Who has not read the stored body, and could not say anything, does not remove it.
      if let withheld, withheld.said == nil, !withheld.replacesOwn { return }
      if stored != .none { leaving.insert(places.bodyRecord(of: slot)) }
    } else if places.isNew(slot) {
      // The fingerprints of new records are found when the objects may change again.
      try builder.end()
      return places.change(new: slot) { $0.body = .unknown }
    } else {
      body = try builder.end(ifOtherThan: stored == .none ? nil : stored)
    }
    if let withheld, withheld.reason != .fieldReplaced || !keepsFields {
      edits.kept.withheld[slot] = nil
      if taken.claims[slot] != nil { edits.kept.elements[slot] = nil }
      if body != stored { taken.replaced = withheld }
    }
    if body != stored { bodies.append((slot, body)) }
  }
}

/// What a save takes from what is kept.
struct Taken {
  /// Why elements were kept that objects have just claimed.
  var claims: [Int32: Kept] = .init()
  /// The own body that is replaced, and that nobody has read.
  var replaced: Kept?
  /// To whom the unread bodies refer that this save writes, by the bodies.
  var references: [UInt64: [UInt64]] = .init()
}

extension Document {
  /// Whether roots are where they were and have not changed, and saves need not look for anybody below them.
  func hasPlaces(of roots: [any RestorableNode], _ owner: KnownObjects.Owner) -> Bool {
    let (tree, known) = (self[Self.tree], KnownObjects.shared)
    return !findsAllByObject && !tree.asksBelow
      && roots.map { known.known($0, to: owner).flatMap { $0.hasChanged ? nil : $0.slot } }
        == self.roots
  }
}
