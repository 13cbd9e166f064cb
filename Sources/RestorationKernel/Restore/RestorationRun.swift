internal import ArchiveCodec

/// Brings stored elements back: makes all objects, then decodes them.
///
/// The elements are those of a whole document, or those of one that came late.
final class RestorationRun {
  let document: Document
  /// The elements in the order of the walk that has saved them, parents first.
  let order: [Int32]
  let elements: RestoredElements
  let objects: ObjectTable
  let types: TypeTable
  let roots: [any RestorableNode]
  /// A node with more views has none for a restore: a view may make another one whenever it is asked.
  let viewLimit: Int
  let delegate: (any StateDelegate)?
  /// Says where the restore is, and what it leaves out; nil if the launch could not be marked.
  let launch: LaunchMark?
  let forms = Forms()
  var existing = Existing()
  /// Serves one element after the other; nil while an element uses it, so that a second reference shows that a hook
  /// has kept it.
  @safe @exclusivity(unchecked) private var coder: StateDecoder?

  /// Without a part, all elements are restored; the owner knows the objects of the others.
  init(
    _ document: Document, _ objects: ObjectTable, delegate: (any StateDelegate)?,
    roots: [any RestorableNode], nodeLimit: Int, part: [Int32]? = nil,
    owner: KnownObjects.Owner? = nil, _ launch: LaunchMark?,
    body: @escaping (UInt64) throws(ArchiveError) -> KeyedDecoder?
  ) {
    (self.document, self.objects, types) = (document, objects, objects.types)
    self.delegate = delegate
    (self.roots, viewLimit, self.launch) = (roots, nodeLimit, launch)
    order = part ?? Array(document.walk(from: Document.tree).dropFirst())
    elements = RestoredElements(document, part: part, owner, body)
  }

  /// Runs from the first question to the last finished callback.
  ///
  /// With `isLate`, the node of the first element came late; with `isBack`, it has been back before, and keeps
  /// what it contains.
  func run(isLate: Bool = false, isBack: Bool = false) -> RestorationReport.Outcome {
    let application = isLate ? nil : delegate
    if let application {
      let isMeant = use(Document.tree) {
        application.shouldRestoreApplicationState(with: $0)
      }
      guard isMeant else { return .declined }
    }
    for slot in order { make(slot, isBack: isBack) }
    forEachBack { slot, _ in elements[slot].node?.loadViewIfNeeded() }
    for slot in order where elements[slot].outcome == nil { findView(slot) }
    forEachBack { slot, object in decode(object, slot, takingContent: !isBack) }
    delegate?.layOutRestoredInterface()
    forEachBack { slot, object in
      if !isBack || elements[slot].outcome?.isRead == true { layOut(object, slot) }
    }
    if let application { decode(application) }
    forEachBack { _, object in object.applicationFinishedRestoringState() }
    return .restored
  }

  /// Calls a hook of each object that is back, and of the class that was saved.
  private func forEachBack(_ body: (Int32, any StateRestoring) -> Void) {
    for slot in order where elements[slot].isDecodable {
      guard let object = elements[slot].object else { continue }
      mark(slot)
      body(slot, object)
    }
    mark(nil)
  }

  /// Gives the coder of an element to a call.
  @inline(__always) @discardableResult
  func use<Value>(_ slot: Int32, _ body: (StateDecoder) -> Value) -> Value {
    let coder = coder.take() ?? StateDecoder(elements)
    coder.begin(slot)
    let value = body(coder)
    coder.end()
    self.coder = consume coder
    if !isKnownUniquelyReferenced(&self.coder) { self.coder = nil }
    return value
  }

  @inline(__always)
  func mark(_ slot: Int32?) {
    launch?.reach(slot.map { LaunchSubject(element: document[$0].id) })
  }

  /// Whether this launch leaves an element out, since restoring it crashed.
  func isLeftOut(_ slot: Int32) -> Bool {
    launch?.isLeftOut(LaunchSubject(element: document[slot].id)) ?? false
  }

  /// The line of a late node that gets nothing: it is of another class, is left out, or cannot say what it has.
  func refusal(of slot: Int32, _ error: (any Error)?) -> ReportEntry? {
    guard let node = elements[slot].node else { return nil }
    settle(node, types.info(of: node), form(document[slot].place.form), by: .existing, at: slot)
    let outcome =
      !elements[slot].isDecodable
      ? elements[slot].outcome
      : isLeftOut(slot) ? .skipped : error.map { .decodeFailed(by: .existing, $0.reason) }
    return outcome.map {
      ReportEntry(slot, of: document, at: elements.paths[slot], $0, [.kept])
    }
  }

  // MARK: Making

  private func make(_ slot: Int32, isBack: Bool) {
    mark(slot)
    if !isLeftOut(slot) { chooseBodies(slot, isBack: isBack) }
    switch find(slot) {
    case .found(let object, let step)?: take(object, by: step, as: slot)
    case .missing(let reason)?: elements.settle(missing: reason, at: slot)
    case nil: break
    }
  }

  private func take(
    _ object: any StateRestoring, by step: RestorationReport.Step, as slot: Int32
  ) {
    let role = document[slot].place.role
    let (form, info) = (form(document[slot].place.form), types.info(of: object))
    let (node, maker) = (info.node(object), form.restorationClassName)
    if role.kind == .node, node == nil {
      return elements.settle(missing: .unknownRestorationClass(maker ?? form.className), at: slot)
    }
    if let other = elements.claim(object, node, at: slot) {
      return elements.settle(missing: .providedTwice(elements.paths[other]), at: slot)
    }
    settle(object, info, form, by: step, at: slot)
    // An object that was there says itself by which name it was found.
    if step != .existing || maker != nil || objects.hasRestoredNames {
      objects.remember(
        object, info, node, identifier: document[slot].place.name,
        // The closure of the saved class may have made an object of another class.
        restorationClass: maker ?? (step == .restorationClass ? form.className : nil))
      if role == .object, let object = object as? any RestorableObject {
        objects.register(object, identifier: document[slot].place.name)
      }
    }
  }

  private func findView(_ slot: Int32) {
    let place = document[slot].place
    mark(place.parent)
    guard elements[place.parent].isDecodable, let view = existingObject(place) else {
      return elements.settle(missing: .viewNotFound, at: slot)
    }
    settle(view, types.info(of: view), form(place.form), by: .existing, at: slot)
    // A view may be that of two nodes.
    if elements[slot].isDecodable { elements[slot].object = view }
  }

  /// Decides what becomes of an element whose object a step has provided.
  private func settle(
    _ object: any StateRestoring, _ info: TypeInfo, _ form: Reading,
    by step: RestorationReport.Step, at slot: Int32
  ) {
    let otherClass = types.otherClass(of: object, info, than: form.className)
    elements[slot].outcome = ElementOutcome(
      by: step, otherClass: otherClass, withheld: elements[slot].choice?.withheld,
      hasState: !document[slot].place.lacksState)
    (elements[slot].isDecodable, elements[slot].traits) = (otherClass == nil, info.traits)
  }
}
