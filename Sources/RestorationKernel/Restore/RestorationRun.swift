internal import ArchiveCodec

/// Brings stored elements back: makes all objects, then decodes them.
///
/// The elements are those of a whole document, or those of one that came late.
final class RestorationRun {
  let document: Document
  /// The elements in the order of the walk that has saved them, parents first.
  let order: [Int32]
  let elements: RestoredElements
  let coders: ElementCoders
  let objects: ObjectTable
  let existing: ExistingObjects
  let delegate: (any StateDelegate)?
  /// Says where the restore is, and what it leaves out; nil if the launch could not be marked.
  let launch: LaunchMark?
  private(set) lazy var forms = FormReader(document, objects.types, delegate)

  var types: TypeTable { objects.types }

  /// Without a part, all elements are restored.
  init(
    _ document: Document, _ objects: ObjectTable, delegate: (any StateDelegate)?,
    roots: [any RestorableNode], part: [Int32]? = nil, _ launch: LaunchMark?,
    body: @escaping (UInt64) throws(ArchiveError) -> KeyedDecoder?
  ) {
    (self.document, self.objects, self.delegate) = (document, objects, delegate)
    self.launch = launch
    order = part ?? Array(document.walk(from: Document.tree).dropFirst())
    let placeCount = part == nil ? document.elements.count : 0
    let elements = RestoredElements(document, placeCount: placeCount, body)
    self.elements = elements
    coders = ElementCoders(placeCount: placeCount) { StateDecoder(elements) }
    existing = ExistingObjects(objects, roots: roots, elements)
  }

  /// Runs from the first question to the last finished callback.
  ///
  /// With `isLate`, the node of the first element came late; with `isBack`, it has been back before, and keeps
  /// what it contains.
  func run(isLate: Bool = false, isBack: Bool = false) -> RestorationReport.Outcome {
    let application = isLate ? nil : delegate
    if let application {
      let isMeant = coders.use(Document.tree) {
        application.shouldRestoreApplicationState(with: $0)
      }
      guard isMeant else { return .declined }
    }
    for slot in order { make(slot, isBack: isBack) }
    forEachBack { slot, _ in elements.node(at: slot)?.loadViewIfNeeded() }
    order.forEach(findView)
    forEachBack { slot, object in decode(object, slot, takingContent: !isBack) }
    delegate?.layOutRestoredInterface()
    forEachBack { slot, object in
      if !isBack || elements.outcomes[slot]?.isRead == true { layOut(object, slot) }
    }
    if let application { decode(application) }
    forEachBack { _, object in object.applicationFinishedRestoringState() }
    return .restored
  }

  private func forEachBack(_ body: (Int32, any StateRestoring) -> Void) {
    for slot in order {
      guard let object = elements.decodable(at: slot) else { continue }
      mark(slot)
      body(slot, object)
    }
    mark(nil)
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
    guard let node = elements.node(at: slot) else { return nil }
    let otherClass = forms.known(node, document[slot].place.form).otherClass
    let outcome: ElementOutcome? =
      otherClass.map { .classMismatch(by: .existing, found: $0) }
      ?? (isLeftOut(slot) ? .skipped : nil)
      ?? error.map { .decodeFailed(by: .existing, $0.reason) }
    return outcome.map {
      ReportEntry(slot, of: document, at: elements.path(at: slot), $0, [.kept])
    }
  }

  /// Decides which bodies an object is offered, and migrates the older ones.
  private func chooseBodies(_ slot: Int32, isBack: Bool) {
    let unread = document.kept.bodies.isEmpty ? nil : document.kept.bodies[slot]
    if unread == nil, forms[document[slot].place.form].isCurrent { return }
    let element = document[slot]
    var bodies = (unread ?? []).map {
      forms.read(elements.body($0.record, of: slot), $0.form, unread: $0)
    }
    // What wrote nothing is migrated as well.
    let own = element.body == .none ? .empty : elements.body(element.bodyRecord, of: slot)
    bodies.append(forms.read(own, element.place.form, unread: nil))
    let untaken = isBack ? document.kept.untaken(slot) : nil
    if let untaken { bodies.removeAll { !untaken.contains($0.unread?.id) } }
    let order = ReadBody.order(bodies.map { ($0.unread?.reason, $0.body != nil) }, isLate: isBack)
    elements.offer(order.isEmpty ? bodies.suffix(1) : order.map { bodies[$0] }[...], at: slot)
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
    let place = document[slot].place
    let (form, known) = (forms[place.form], forms.known(object, place.form))
    let (node, maker) = (known.info.node(object), form.restorationClassName)
    if place.role.kind == .node, node == nil {
      return elements.settle(missing: .unknownRestorationClass(maker ?? form.className), at: slot)
    }
    if let other = elements.claim(object, node, at: slot) {
      return elements.settle(missing: .providedTwice(elements.path(at: other)), at: slot)
    }
    elements.settle(known, by: step, at: slot)
    objects.remember(
      object, known.info, node, identifier: place.name,
      // The closure of the saved class may have made an object of another class.
      restorationClass: maker ?? (step == .restorationClass ? form.className : nil))
    if place.role == .object, let object = object as? any RestorableObject {
      objects.register(object, identifier: place.name)
    }
  }

  private func findView(_ slot: Int32) {
    guard elements.outcomes[slot] == nil else { return }
    let place = document[slot].place
    mark(place.parent)
    guard elements.decodable(at: place.parent) != nil, let view = existing.object(place) else {
      return elements.settle(missing: .viewNotFound, at: slot)
    }
    let known = forms.known(view, place.form)
    // A view may be that of two nodes.
    if known.otherClass == nil { elements.set(view, at: slot) }
    elements.settle(known, by: .existing, at: slot)
  }
}
