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
  private let progress: RestorationProgress
  // The lookup is at one element at a time, so accesses to these variables never overlap.
  @safe @exclusivity(unchecked) var classes: ElementClasses
  @safe @exclusivity(unchecked) var existing: ExistingElements

  private var types: TypeTable { classes.types }

  init(
    _ outline: StoredOutline, _ restored: RestoredObjects, _ classes: ElementClasses,
    _ existing: ExistingElements, delegate: (any StateDelegate)?, _ progress: RestorationProgress
  ) {
    self.delegate = delegate
    self.outline = outline
    self.restored = restored
    self.progress = progress
    self.classes = classes
    self.existing = existing
  }

  enum Result {
    case found(any StateRestoring, RestorationReport.Step)
    case missing(RestorationReport.NodeOutcome)
  }

  func find(_ place: Int, _ lookup: Lookup, _ coder: StateDecoder) -> Result {
    switch lookup {
    case .belowMissing:
      return .missing(
        .parentMissing(
          outline.rows[place].parent.map { outline.path(of: $0) } ?? RestorationPath()))
    case .leftOut: return .missing(.skipped)
    case .onCutStack: return .missing(.stackCut)
    case .inLoadedNode: return .missing(.viewNotFound)
    case .late: return findExisting(place) ?? .missing(.notFound)
    case .amongTabs: return findExisting(place) ?? .missing(.tabNotFound)
    case .registered:
      return existing.object(at: place, in: restored).map { .found($0, .existing) }
        ?? .missing(.notRegistered)
    case .restorationClass: return askRestorationClass(of: place, coder)
    case .laterSteps:
      return askDelegate(place, coder)
        ?? findExisting(place)
        ?? askStoryboard(place)
        ?? askNodeClass(place, coder)
        ?? .missing(.notFound)
    }
  }

  /// The node that was there before, with exactly the path of an element.
  func existingNode(at place: Int) -> (any RestorableNode)? {
    existing.node(at: place, below: outline.rows[place].parent.flatMap { restored.node(at: $0) })
  }

  private func findExisting(_ place: Int) -> Result? {
    existingNode(at: place).map { .found($0, .existing) }
  }

  /// Asks the restoration class of the record, in the first step.
  private func askRestorationClass(of place: Int, _ coder: StateDecoder) -> Result {
    let name = classes.restorationClassName(of: place) ?? ""
    if let root = givenRoot(at: place, madeBy: name) { return .found(root, .existing) }
    return ask(classes.factory(named: name, at: place), name, place, coder)
  }

  /// The root that was given for a place, if the record names its class because that is
  /// registered with a closure, and not because the root names a restoration class.
  private func givenRoot(
    at place: Int, madeBy name: String
  ) -> (any RestorableNode)? {
    guard outline.rows[place].parent == nil, outline.rows[place].kind == .node,
      types.isMadeByClosure(classes.className(of: place), registeredAs: name),
      let given = existingNode(at: place), given.restorationClass == nil,
      classes.isSaved(given, at: place)
    else { return nil }
    return given
  }

  private func ask(
    _ factory: TypeTable.ResolvedClass, _ name: String, _ place: Int, _ coder: StateDecoder
  ) -> Result {
    switch factory {
    case .unknown: return .missing(.unknownRestorationClass(name))
    case .notAFactory: return .missing(.notARestorationClass(name))
    case .found(let make):
      progress.note(.restorationClass, place)
      return ask(.restorationClass) { try make(coder.path, coder) } ?? .missing(.vetoed)
    }
  }

  private func askDelegate(_ place: Int, _ coder: StateDecoder) -> Result? {
    guard let delegate else { return nil }
    progress.note(.delegate, place)
    return ask(.delegate) { try delegate.node(at: coder.path, coder: coder) }
  }

  private func askStoryboard(_ place: Int) -> Result? {
    guard let reference = outline.form(of: place).storyboard else { return nil }
    progress.note(.storyboard, place)
    return ask(.storyboard) {
      try types.storyboard(named: reference.name)?.instantiate(reference.identifier)
    } ?? .missing(.notInStoryboard(reference.name, identifier: reference.identifier))
  }

  private func askNodeClass(_ place: Int, _ coder: StateDecoder) -> Result? {
    let name = classes.className(of: place)
    guard types.makesItsObjects(name) else { return nil }
    return ask(types.restorationClass(named: name), name, place, coder)
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
