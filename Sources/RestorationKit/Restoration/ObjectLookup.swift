/// Finds or makes the object of a record.
///
/// A node is looked for in four steps and in this order:
/// 1. The restoration class that the record names. A nil of the class is a veto: nobody else is
///    asked. A class that cannot be found is never a silent way to the next step, either. A root
///    that the app gave to the restore goes before the closure that makes its class.
/// 2. The delegate, if the record names no class. A nil of the delegate is no opinion.
/// 3. An existing node with exactly this path.
/// 4. The storyboard that the record names, or else the factory that makes nodes of the saved class
///    now, though the record names no class.
///
/// A registered object is looked for by its restoration class as in step 1, or else by step 3.
final class ObjectLookup {
  let delegate: (any StateDelegate)?
  private let outline: StoredOutline
  private let restored: RestoredObjects
  // The lookup is at one element at a time, so accesses to these variables never overlap.
  @safe @exclusivity(unchecked) var classes: ElementClasses
  @safe @exclusivity(unchecked) var existing: ExistingElements

  private var types: TypeTable { classes.types }

  init(
    _ outline: StoredOutline, _ restored: RestoredObjects, _ classes: ElementClasses,
    _ existing: ExistingElements, delegate: (any StateDelegate)?
  ) {
    self.delegate = delegate
    self.outline = outline
    self.restored = restored
    self.classes = classes
    self.existing = existing
  }

  enum Result {
    case found(any StateRestoring, RestorationReport.Step)
    case missing(RestorationReport.NodeOutcome)
  }

  func find(_ index: Int, _ lookup: Lookup, _ coder: StateDecoder) -> Result {
    switch lookup {
    case .belowMissing:
      return .missing(
        .parentMissing(
          outline.rows[index].parent.map { outline.path(of: $0) } ?? RestorationPath()))
    case .leftOut: return .missing(.skipped)
    case .onCutStack: return .missing(.stackCut)
    case .inLoadedNode: return .missing(.viewNotFound)
    case .late: return findExisting(index) ?? .missing(.notFound)
    case .amongTabs: return findExisting(index) ?? .missing(.tabNotFound)
    case .registered:
      return existing.object(at: index, in: restored).map { .found($0, .existing) }
        ?? .missing(.notRegistered)
    case .restorationClass: return askRestorationClass(of: index, coder)
    case .laterSteps:
      return askDelegate(index, coder)
        ?? findExisting(index)
        ?? askStoryboard(index)
        ?? askNodeClass(index, coder)
        ?? .missing(.notFound)
    }
  }

  /// The node that was there before, with exactly the path of an element.
  func existingNode(at index: Int) -> (any RestorableNode)? {
    existing.node(at: index, below: outline.rows[index].parent.flatMap { restored.node(at: $0) })
  }

  private func findExisting(_ index: Int) -> Result? {
    existingNode(at: index).map { .found($0, .existing) }
  }

  /// Asks the restoration class of the record, in the first step.
  private func askRestorationClass(of index: Int, _ coder: StateDecoder) -> Result {
    let name = classes.restorationClassName(of: index) ?? ""
    if let root = givenRoot(at: index, madeBy: name) { return .found(root, .existing) }
    return ask(classes.factory(named: name, at: index), name, index, coder)
  }

  /// The root that was given for a place, if the record names its class because that is
  /// registered with a closure, and not because the root names a restoration class.
  private func givenRoot(
    at index: Int, madeBy name: String
  ) -> (any RestorableNode)? {
    guard outline.rows[index].parent == nil, outline.rows[index].kind == .node,
      types.isMadeByClosure(classes.className(of: index), registeredAs: name),
      let given = existingNode(at: index), given.restorationClass == nil,
      classes.isSaved(given, at: index)
    else { return nil }
    return given
  }

  private func ask(
    _ factory: TypeTable.ResolvedClass, _ name: String, _ index: Int, _ coder: StateDecoder
  ) -> Result {
    switch factory {
    case .unknown: return .missing(.unknownRestorationClass(name))
    case .notAFactory: return .missing(.notARestorationClass(name))
    case .found(let make):
      return ask(.restorationClass) { try make(coder.path, coder) } ?? .missing(.vetoed)
    }
  }

  private func askDelegate(_ index: Int, _ coder: StateDecoder) -> Result? {
    guard let delegate else { return nil }
    return ask(.delegate) { try delegate.node(at: coder.path, coder: coder) }
  }

  private func askStoryboard(_ index: Int) -> Result? {
    guard let reference = outline.form(of: index).storyboard else { return nil }
    return ask(.storyboard) {
      try types.storyboard(named: reference.name)?.instantiate(reference.identifier)
    } ?? .missing(.notInStoryboard(reference.name, identifier: reference.identifier))
  }

  private func askNodeClass(_ index: Int, _ coder: StateDecoder) -> Result? {
    let name = classes.className(of: index)
    guard types.makesItsObjects(name) else { return nil }
    return ask(types.restorationClass(named: name), name, index, coder)
  }

  private func ask(
    _ step: RestorationReport.Step, _ provide: () throws -> (any StateRestoring)?
  ) -> Result? {
    do {
      return try provide().map { .found($0, step) }
    } catch {
      return .missing(.factoryFailed(step, error.reason))
    }
  }
}
