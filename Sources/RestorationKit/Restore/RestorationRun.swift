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
  let roots: [any RestorableNode]
  /// A node with more views has none for a restore: a view may make another one whenever it is asked.
  let viewLimit: Int
  let delegate: (any StateDelegate)?
  /// Says what the restore leaves out; nil if the launch could not be marked.
  private let launch: LaunchMark?
  /// Hears where the restore is; nil in a window, which the note of the launch names as a whole, since each is a write.
  private let noted: LaunchMark?
  let forms: Forms
  var existing = Existing()
  /// Serves one element after the other; nil while an element uses it, so that a second reference shows that a hook
  /// has kept it.
  @safe @exclusivity(unchecked) private var coder: StateDecoder?

  /// Without a part, all elements are restored; the owner knows the objects of the others.
  init(
    _ document: Document, _ objects: ObjectTable, delegate: (any StateDelegate)?,
    roots: [any RestorableNode], nodeLimit: Int, part: [Int32]? = nil,
    owner: KnownObjects.Owner? = nil, forms: Forms = Forms(), _ launch: LaunchMark?,
    body: @escaping RestoredElements.Bodies
  ) {
    (self.document, self.objects, self.forms) = (document, objects, forms)
    (self.delegate, self.roots, viewLimit) = (delegate, roots, nodeLimit)
    let isWindow = part.map { document[$0[0]].place.role } == .scene
    (self.launch, noted) = (launch, isWindow && launch?.isNear != true ? nil : launch)
    // Windows are restored one by one.
    order = part ?? Array(document.walk(from: Document.tree, intoWindows: false).dropFirst())
    elements = RestoredElements(document, part: order.isEmpty ? order : part, owner, body)
  }

  var types: TypeTable { objects.types }

  /// Runs from the first question to the last finished callback.
  ///
  /// With `isLate`, the node of the first element came late; with `isBack`, it has been back before, and keeps
  /// what it contains.
  func run(isLate: Bool = false, isBack: Bool = false) -> ReportOutcome {
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
  func mark(_ slot: Int32?) { noted?.reach(slot.map { LaunchSubject(element: document[$0].id) }) }

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

  private func take(_ object: any StateRestoring, by step: RestorationReport.Step, as slot: Int32) {
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

/// Finds or makes the object of an element.
///
/// A node is looked for in four steps and in this order:
/// 1. The restoration class that the element names. A nil of the class is a veto: nobody else is
///    asked. A class that cannot be found is never a silent way to the next step, either. A root
///    that the app gave to the restore goes before the closure that makes its class.
/// 2. The delegate, if the element names no class. A nil of the delegate is no opinion.
/// 3. An existing node with exactly this path.
/// 4. The storyboard that the element names, or else the factory that makes nodes of the saved class
///    now, though the element names no class.
///
/// A registered object is looked for by its restoration class as in step 1, or else by step 3.
extension RestorationRun {
  enum Found {
    case found(any StateRestoring, RestorationReport.Step)
    case missing(ElementOutcome)
  }

  /// Nil for a view, which is there when its node has loaded it.
  func find(_ slot: Int32) -> Found? {
    let place = document[slot].place
    // The node came late.
    if let node = elements[slot].object { return .found(node, .existing) }
    if !elements.isBack(place.parent) {
      return .missing(.parentMissing(elements.paths[place.parent]))
    }
    if isLeftOut(slot) { return .missing(.skipped) }
    let form = form(place.form)
    let container = place.role == .child ? elements[place.parent].traits : []
    switch place.role.kind {
    case .view: return nil
    case .object where form.restorationClassName == nil:
      return existing(place) ?? .missing(.notRegistered)
    case .node where container.contains(.stack) && elements[place.parent].cut != nil:
      return .missing(.stackCut)
    // Nobody makes a tab.
    case .node where container.contains(.tabs):
      return existing(place) ?? .missing(.tabNotFound)
    case _ where form.restorationClassName != nil:
      if let root = givenRoot(place, form) { return .found(root, .existing) }
      return form.factory.map { ask($0, slot) }
        ?? .missing(.unknownRestorationClass(form.restorationClassName ?? ""))
    default:
      return delegate.flatMap { ask($0, slot) } ?? existing(place) ?? askStoryboard(slot)
        ?? self.form(place.form).factory.map { ask($0, slot) } ?? .missing(.notFound)
    }
  }

  private func existing(_ place: Place) -> Found? {
    existingObject(place).map { .found($0, .existing) }
  }

  /// The root that was given for a place, or that a window has there, if the element names its class because that is registered
  /// with a closure, and not because the root names a restoration class.
  private func givenRoot(_ place: Place, _ form: Reading) -> (any RestorableNode)? {
    let isRoot = place.parent == Document.tree || document[place.parent].place.role == .scene
    guard isRoot, place.role.kind == .node,
      let name = form.restorationClassName, form.className == name,
      types.registrations[name]?.isNamedBySaves == true,
      let given = existingObject(place) as? any RestorableNode, given.restorationClass == nil,
      types.otherClass(of: given, types.info(of: given), than: name) == nil
    else { return nil }
    return given
  }

  private func ask(_ factory: TypeTable.Factory, _ slot: Int32) -> Found {
    ask(.restorationClass, slot) { coder in
      if let object = try factory.make(coder.path, coder) { return object }
      // Who could not see the state cannot veto it.
      _ = try elements.state(at: slot)
      return nil
    } ?? .missing(.vetoed)
  }

  private func ask(_ delegate: any StateDelegate, _ slot: Int32) -> Found? {
    ask(.delegate, slot) { try delegate.node(at: $0.path, coder: $0) }
  }

  private func askStoryboard(_ slot: Int32) -> Found? {
    form(document[slot].place.form).stored.storyboard.map { reference in
      ask(.storyboard, slot) { _ in
        try types.storyboards[reference.name]?.instantiate(reference.identifier)
      } ?? .missing(.notInStoryboard(reference.name, identifier: reference.identifier))
    }
  }

  @inline(__always)
  private func ask(
    _ step: RestorationReport.Step, _ slot: Int32,
    _ provide: (StateDecoder) throws -> (any StateRestoring)?
  ) -> Found? {
    use(slot) { coder in
      do {
        return try provide(coder).map { .found($0, step) }
      } catch {
        return .missing(.factoryFailed(step, error.reason))
      }
    }
  }
}

/// The objects that are there before anybody makes one.
extension RestorationRun {
  /// What was found so far.
  struct Existing {
    typealias Named = (name: String, object: any StateRestoring)

    /// What nodes contain and present, and their views, by twice the slot, and one more for views.
    var named: [Int: [String: [Named]]] = .init()
    /// Registered objects by identifier and scope, and the number of the last one that was looked at.
    var registered: [String: (last: Int, byScope: [ObjectIdentifier?: any RestorableObject])] =
      .init()
  }

  /// The object that a node above contains, presents or has as a view under the name of an element, or that is
  /// registered under it; nil if there is none.
  ///
  /// Each node is asked once for what it contains.
  func existingObject(_ place: Place) -> (any StateRestoring)? {
    let (parent, isView) = (place.parent, place.role == .view)
    if place.role == .object { return registered(place.name, below: elements[parent].object) }
    let key = Int(parent) * 2 + (isView ? 1 : 0)
    // Hooks are called before something is noted, and may ask in turn for nothing that is noted here.
    if existing.named[key] == nil {
      let named = named(below: parent, isView: isView)
      existing.named[key] = Dictionary(grouping: named, by: \.name)
    }
    let (equal, index) = (existing.named[key]?[place.name] ?? [], Int(place.siblingIndex))
    guard index == 0 || elements[parent].traits.tellEqualChildrenApart else { return nil }
    return equal.indices ~= index ? equal[index].object : nil
  }

  /// The views of a node, or the nodes that it contains or presents; the given roots for the tree.
  private func named(below parent: Int32, isView: Bool) -> [Existing.Named] {
    let node = elements[parent].node
    guard isView else {
      let nodes = parent == Document.tree ? roots : node?.contained ?? []
      return nodes.compactMap { node in objects.identifier(of: node).map { ($0, node) } }
    }
    let views = node.flatMap {
      ViewTree.views($0.restorationViews, of: $0, besides: $0.contained, most: viewLimit)
    }
    return (views ?? []).map { ($0.identifier, $0.view) }
  }

  /// The object of an identifier that an object scopes; the first one that was registered counts.
  ///
  /// Without a scope, an object without a parent counts, or else one whose parent scopes nothing. Each object is
  /// looked at once, so that many of one identifier take linear time.
  private func registered(
    _ identifier: String, below scope: (any StateRestoring)?
  ) -> (any StateRestoring)? {
    let scope = scope.map { ObjectIdentifier($0) }
    var known = existing.registered.removeValue(forKey: identifier) ?? (0, .init())
    // One that has another identifier by now may stand before others.
    if let found = known.byScope[scope], objects.registeredName(of: found) != identifier {
      known = (0, .init())
    }
    for (number, object) in objects.registeredObjects(named: identifier, after: known.last) {
      let parent = object.restorationParent.map { ObjectIdentifier($0) }
      if known.byScope[parent] == nil { known.byScope[parent] = object }
      known.last = number
    }
    existing.registered[identifier] = known
    if let object = known.byScope[scope] { return object }
    if scope != nil { return nil }
    return objects.registeredObjects(named: identifier).first { _, object in
      object.restorationParent.map { !elements.contains($0) } ?? true
    }?.object
  }
}

extension RestorableNode {
  /// The nodes that the node contains or presents.
  var contained: [any RestorableNode] {
    let children = restorationChildren
    return restorationPresented.map { children + [$0] } ?? children
  }
}
