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

  /// The root that was given for a place, if the element names its class because that is registered
  /// with a closure, and not because the root names a restoration class.
  private func givenRoot(_ place: Place, _ form: Reading) -> (any RestorableNode)? {
    guard place.parent == Document.tree, place.role.kind == .node,
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
