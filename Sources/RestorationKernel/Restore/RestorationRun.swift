internal import ArchiveCodec

/// Brings stored elements back: makes all objects, then decodes them.
///
/// The elements are those of a whole document, or those of one that came late.
final class RestorationRun {
  /// A body that an object may be given.
  struct Choice {
    /// The identifier of the unread body; nil for the element's own.
    let unread: UInt64?
    let body: KeyedDecoder?
    let reading: StateReading
  }

  let document: Document
  /// The elements in the order of the walk that has saved them.
  let order: [Int32]
  let restored: RestoredObjects
  let objects: ObjectTable
  let delegate: (any StateDelegate)?
  /// Says where the restore is, and what it leaves out; nil if the launch could not be marked.
  let launch: LaunchMark?
  /// The elements whose nodes came late.
  private let late: [Int32: any RestorableNode]

  // The run is at one element at a time, so accesses to these variables never overlap.
  @safe @exclusivity(unchecked) var forms: FormReader
  @safe @exclusivity(unchecked) var existing: ExistingObjects
  @safe @exclusivity(unchecked) var coders: ElementCoders
  @safe @exclusivity(unchecked) var outcomes: ElementOutcomes
  /// How bodies are read that are not simply the own ones, in the current version.
  var choices: [Int32: [Choice]] = [:]

  var types: TypeTable { forms.types }

  /// Without a part, all elements are restored; late nodes are given at their elements, and with them the
  /// nodes above.
  init(
    _ document: Document, _ objects: ObjectTable, delegate: (any StateDelegate)?,
    roots: [any RestorableNode], part: [Int32]? = nil, late: [Int32: any RestorableNode] = [:],
    _ launch: LaunchMark?,
    body: @escaping (UInt64) throws(ArchiveError) -> KeyedDecoder?
  ) {
    (self.document, self.objects, self.delegate) = (document, objects, delegate)
    (self.launch, self.late) = (launch, late)
    order = part ?? Array(document.walk(from: Document.tree).dropFirst())
    let restored = RestoredObjects(document, body)
    self.restored = restored
    let facts = document.facts
    coders = ElementCoders(count: document.elements.count) {
      StateDecoder(facts, restored)
    }
    outcomes = ElementOutcomes(document)
    forms = FormReader(document, objects.types)
    existing = ExistingObjects(objects.types, objects, roots: roots)
    for (slot, node) in late { _ = restored.claim(node, node, at: slot) }
  }

  /// Runs from the first question to the last finished callback.
  ///
  /// With `isLate`, the node of the first element came late; with `isBack`, it has been back before, and keeps
  /// what it contains.
  func run(isLate: Bool = false, isBack: Bool = false) -> RestorationReport.Outcome {
    let application = isLate ? nil : delegate
    if let application, !lets(application) { return .declined }
    prepare()
    makeObjects()
    loadViews()
    findViews()
    decode(takingContent: !isBack)
    layOut()
    if let application { decode(application) }
    for slot in order where outcomes.isDecodable(slot) {
      guard let object = restored.object(at: slot) else { continue }
      mark(slot)
      object.applicationFinishedRestoringState()
    }
    mark(nil)
    return .restored
  }

  /// The line of a late node that gets nothing: it is of another class, or is left out.
  func refusal(of slot: Int32) -> RestorationReport.Entry? {
    guard let node = late[slot] else { return nil }
    forms.findNames(delegate)
    let form = document[slot].place.form
    let outcome: RestorationReport.NodeOutcome
    if !forms.isSaved(node, form) {
      outcome = .classMismatch(by: .existing, found: types.className(of: node))
    } else if isLeftOut(slot) {
      outcome = .skipped
    } else {
      return nil
    }
    return RestorationReport.Entry(
      kind: .node, path: restored.path(at: Int(slot)), className: forms[form].className,
      outcome: outcome, notes: [.kept])
  }

  /// Asks the delegate whether anything is restored.
  private func lets(_ delegate: any StateDelegate) -> Bool {
    withCoder(Document.tree) { delegate.shouldRestoreApplicationState(with: $0) }
  }

  /// Lets the delegate decode the application's own values.
  private func decode(_ delegate: any StateDelegate) {
    withCoder(Document.tree) { coder in
      do {
        try delegate.didDecodeRestorableState(with: coder)
      } catch {
        outcomes.note(.didDecodeFailed(error.reason), Document.tree)
      }
    }
    if let note = coders.unreadNote(0) { outcomes.note(note, Document.tree) }
  }

  @inline(__always)
  func mark(_ slot: Int32?) {
    launch?.reach(slot.map { LaunchSubject(element: document[$0].id) })
  }

  /// Whether this launch leaves an element out, since restoring it crashed.
  func isLeftOut(_ slot: Int32) -> Bool {
    launch?.isLeftOut(LaunchSubject(element: document[slot].id)) ?? false
  }

  /// Gives the coder of an element to a call.
  @inline(__always)
  func withCoder<Value>(_ slot: Int32, _ body: (StateDecoder) -> Value) -> Value {
    let coder = coders.take(Int(slot))
    let value = body(coder)
    coders.putBack(consume coder, Int(slot))
    return value
  }

  // MARK: Bodies

  /// Decides which body each object is given, and migrates the older ones.
  private func prepare() {
    forms.findNames(delegate)
    for slot in order {
      let (element, unread) = (
        document[slot], document.unread.isEmpty ? nil : document.unread[slot]
      )
      if unread == nil, forms.reading(element.place.form) == .current { continue }
      var all = (unread ?? []).map { body in
        choice(body.id, restored.body(body.record, of: slot), body.form)
      }
      // What wrote nothing is migrated as well.
      let own = element.body == .none ? .empty : restored.body(element.bodyRecord, of: slot)
      all.append(choice(nil, own, element.place.form))
      let reasons: [UnreadBody.Reason?] = (unread ?? []).map(\.reason) + [nil]
      let order = BodyChoice.order(
        all.indices.map {
          BodyChoice.Candidate(unread: reasons[$0], isReadable: all[$0].body != nil)
        })
      choices[slot] = order.isEmpty ? Array(all.suffix(1)) : order.map { all[$0] }
      restored.given[slot] = .some(order.first.flatMap { all[$0].body })
    }
  }

  private func choice(_ unread: UInt64?, _ body: KeyedDecoder?, _ form: Int32) -> Choice {
    guard let body else { return Choice(unread: unread, body: nil, reading: .current) }
    let (migrated, reading) = forms.migrate(body, form)
    return Choice(unread: unread, body: migrated, reading: reading)
  }

  func reading(of slot: Int32) -> StateReading {
    choices.isEmpty ? .current : choices[slot]?.first?.reading ?? .current
  }

  // MARK: Making

  private func makeObjects() {
    for slot in order {
      mark(slot)
      if late[slot] != nil {
        take(late: slot)
      } else {
        switch withCoder(slot, { find(slot, $0) }) {
        case .found(let object, let step): take(object, by: step, as: slot)
        case .missing(let reason): outcomes.set(verdict(on: .missing(reason), at: slot), slot)
        }
        noteGivenRoot(slot)
      }
    }
  }

  private func take(late slot: Int32) {
    guard let node = restored.node(at: slot) else { return }
    let known = forms.known(node, document[slot].place.form)
    let otherClass = known.isSaved ? nil : known.info.name
    outcomes.set(
      verdict(on: .found(by: .existing, otherClass: otherClass), at: slot), slot,
      known.info.traits)
  }

  private func verdict(
    on object: ElementVerdict.Object, at slot: Int32, areViewsLoaded: Bool = false
  ) -> ElementVerdict {
    ElementVerdict(
      object, reading(of: slot), hasState: !document[slot].place.lacksState,
      isOnKeptNode: outcomes.keepsNode(below: slot) ?? false,
      isAwaited: !areViewsLoaded && document[slot].place.role == .view)
  }

  private func take(
    _ object: any StateRestoring, by step: RestorationReport.Step, as slot: Int32
  ) {
    let place = document[slot].place
    let known = forms.known(object, place.form)
    let node = known.info.node(object)
    let restorationClass = forms.restorationClassName(place.form)
    func leaveOut(_ reason: RestorationReport.NodeOutcome) {
      outcomes.set(verdict(on: .missing(reason), at: slot), slot)
    }
    if place.role.kind == .node, node == nil {
      return leaveOut(.notARestorationClass(restorationClass ?? forms.className(place.form)))
    }
    if let other = restored.claim(object, node, at: slot) {
      return leaveOut(.providedTwice(restored.path(at: Int(other))))
    }
    let otherClass = known.isSaved ? nil : known.info.name
    outcomes.set(
      verdict(on: .found(by: step, otherClass: otherClass), at: slot), slot, known.info.traits)
    objects.remember(
      object, known.info, node, identifier: place.name,
      // The closure of the saved class may have made an object of another class.
      restorationClass: restorationClass
        ?? (step == .restorationClass ? forms.className(place.form) : nil))
    if place.role == .object, let object = object as? any RestorableObject {
      objects.register(object, identifier: place.name)
    }
  }

  /// Notes a given root that is not used, since another root is back at its place, or none by a veto.
  private func noteGivenRoot(_ slot: Int32) {
    let place = document[slot].place
    guard place.parent == Document.tree, place.role.kind == .node, late.isEmpty,
      outcomes[slot]?.isBack == true || outcomes[slot] == .vetoed,
      let given = existing.node(place, below: nil), given !== restored.node(at: slot)
    else { return }
    outcomes.note(.givenRootNotUsed, slot)
  }

  private func loadViews() {
    for slot in order where outcomes.isDecodable(slot) {
      guard let node = restored.node(at: slot) else { continue }
      mark(slot)
      node.loadViewIfNeeded()
    }
  }

  private func findViews() {
    for slot in order where outcomes[slot] == .viewNotFound {
      let place = document[slot].place
      let view = view(place)
      let isSaved = view.map { forms.isSaved($0, place.form) } ?? false
      let found = view.map {
        ElementVerdict.Object.found(
          by: .existing, otherClass: isSaved ? nil : types.className(of: $0))
      }
      if let view, isSaved { restored.set(view, at: slot) }
      outcomes.set(
        verdict(on: found ?? .missing(.viewNotFound), at: slot, areViewsLoaded: true), slot,
        view.map { isSaved ? types.traits(of: $0) : [] } ?? [])
    }
  }

  private func view(_ place: Place) -> (any RestorableView)? {
    guard outcomes.isDecodable(place.parent), let node = restored.node(at: place.parent) else {
      return nil
    }
    mark(place.parent)
    return existing.view(place, of: node)
  }
}

extension Document {
  /// An element and all below it in the order of the walk: after a node its views, then the nodes that
  /// it contains and presents, each with all below it; then what only references reach.
  ///
  /// - Complexity: O(*n*) in the elements below.
  func walk(from first: Int32) -> [Int32] {
    var (order, stack, referred): ([Int32], [Int32], [Int32]) = ([], [first], [])
    order.reserveCapacity(first == Self.tree ? elements.count : 0)
    var next = 0
    while true {
      guard let slot = stack.popLast() else {
        guard next < referred.count else { return order }
        stack.append(referred[next])
        next += 1
        continue
      }
      order.append(slot)
      let children = self[slot].children
      guard !children.isEmpty else { continue }
      referred += children.filter { self[$0].place.role.livesByReferences }
      for role in [Role.presented, .child, .view] {
        for child in children.reversed() where self[child].place.role == role {
          stack.append(child)
        }
      }
    }
  }
}
