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
    case missing(RestorationReport.NodeOutcome)
  }

  func find(_ slot: Int32, _ coder: StateDecoder) -> Found {
    let place = document[slot].place
    let lookup = Lookup(
      place.role.kind, isBelowMissing: !restored.isBack(place.parent),
      isLeftOut: isLeftOut(slot), isLate: false,
      isOnCutStack: outcomes.keepsNode(below: slot) != nil, isTab: outcomes.isTab(slot),
      namesClass: forms.restorationClassName(place.form) != nil)
    switch lookup {
    case .belowMissing: return .missing(.parentMissing(restored.path(at: Int(place.parent))))
    case .leftOut: return .missing(.skipped)
    case .onCutStack: return .missing(.stackCut)
    case .inLoadedNode: return .missing(.viewNotFound)
    case .late, .amongTabs: return findExisting(place) ?? .missing(.tabNotFound)
    case .registered:
      let scope = place.parent == Document.tree ? nil : restored.object(at: place.parent)
      return existing.object(place, scope: scope, isScope: restored.contains).map {
        .found($0, .existing)
      } ?? .missing(.notRegistered)
    case .restorationClass: return askRestorationClass(place, coder)
    case .laterSteps:
      return askDelegate(coder) ?? findExisting(place) ?? askStoryboard(place)
        ?? askNodeClass(place, coder) ?? .missing(.notFound)
    }
  }

  private func existingNode(_ place: Place) -> (any RestorableNode)? {
    existing.node(place, below: restored.isBack(place.parent) ? above(place) : nil)
  }

  private func above(_ place: Place) -> (any RestorableNode)? {
    place.parent == Document.tree ? nil : restored.node(at: place.parent)
  }

  private func findExisting(_ place: Place) -> Found? {
    existingNode(place).map { .found($0, .existing) }
  }

  /// Asks the restoration class of the element, in the first step.
  private func askRestorationClass(_ place: Place, _ coder: StateDecoder) -> Found {
    let name = forms.restorationClassName(place.form) ?? ""
    if let root = givenRoot(place, madeBy: name) { return .found(root, .existing) }
    if let make = forms.factory(named: name, place.form) { return ask(make, coder) }
    return .missing(
      types.isRegistered(name) ? .notARestorationClass(name) : .unknownRestorationClass(name))
  }

  /// The root that was given for a place, if the element names its class because that is registered
  /// with a closure, and not because the root names a restoration class.
  private func givenRoot(_ place: Place, madeBy name: String) -> (any RestorableNode)? {
    guard place.parent == Document.tree, place.role.kind == .node,
      types.isMadeByClosure(forms.className(place.form), registeredAs: name),
      let given = existingNode(place), given.restorationClass == nil,
      forms.isSaved(given, place.form)
    else { return nil }
    return given
  }

  private func ask(_ make: TypeTable.Factory, _ coder: StateDecoder) -> Found {
    ask(.restorationClass) { try make(coder.path, coder) } ?? .missing(.vetoed)
  }

  private func askDelegate(_ coder: StateDecoder) -> Found? {
    guard let delegate else { return nil }
    return ask(.delegate) { try delegate.node(at: coder.path, coder: coder) }
  }

  private func askStoryboard(_ place: Place) -> Found? {
    guard let reference = forms[place.form].storyboard else { return nil }
    return ask(.storyboard) {
      try types.storyboard(named: reference.name)?.instantiate(reference.identifier)
    } ?? .missing(.notInStoryboard(reference.name, identifier: reference.identifier))
  }

  private func askNodeClass(_ place: Place, _ coder: StateDecoder) -> Found? {
    types.factory(ofClass: forms.className(place.form)).map { ask($0, coder) }
  }

  private func ask(
    _ step: RestorationReport.Step, _ provide: () throws -> (any StateRestoring)?
  ) -> Found? {
    do {
      return try provide().map { .found($0, step) }
    } catch {
      return .missing(.factoryFailed(step, error.reason))
    }
  }
}
