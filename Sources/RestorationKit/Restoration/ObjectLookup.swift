/// Finds or makes the object of a record.
///
/// A node in four steps and in this order:
/// 1. The restoration class that the record names. Its nil is a veto; nobody
///    else is asked. A class that cannot be found is never a silent way to the
///    next step, either. A root that the app gave to the restore goes before the
///    closure that makes its class.
/// 2. The delegate, if the record names no class. Its nil is no opinion.
/// 3. An existing node with exactly this path.
/// 4. The storyboard that the record names, or else what makes nodes of the saved
///    class now, though the record names no class.
///
/// A registered object by its restoration class as in step 1, or else by step 3.
struct ObjectLookup {
  let types: TypeTable
  let delegate: (any StateDelegate)?
  let trace: ((RestorationTrace) -> Void)?

  enum Result {
    case found(any StateRestoring, RestorationReport.Step)
    case missing(RestorationReport.NodeOutcome)
  }

  /// The steps after the first, for a node that names no restoration class.
  func findNode(
    className: String, _ storyboard: StoryboardReference?, coder: StateDecoder,
    existing: () -> (any RestorableNode)?
  ) -> Result {
    askDelegate(coder)
      ?? existing().map { .found($0, .existing) }
      ?? askStoryboard(storyboard, coder)
      ?? askNodeClass(className, coder)
      ?? .missing(.notFound)
  }

  func findObject(
    restorationClass: String?, coder: StateDecoder, registered: () -> (any StateRestoring)?
  ) -> Result {
    if let restorationClass { return askRestorationClass(restorationClass, coder) }
    return registered().map { .found($0, .existing) } ?? .missing(.notRegistered)
  }

  /// The first step.
  func askRestorationClass(_ name: String, _ coder: StateDecoder) -> Result {
    ask(types.restorationClass(named: name), name, coder)
  }

  /// The same for what was found under the name before.
  func ask(_ factory: TypeTable.ResolvedClass, _ name: String, _ coder: StateDecoder) -> Result {
    switch factory {
    case .unknown: return .missing(.unknownRestorationClass(name))
    case .notAFactory: return .missing(.notARestorationClass(name))
    case .found(let make):
      note(.restorationClass, coder)
      return ask(.restorationClass) { try make(coder.path, coder) } ?? .missing(.vetoed)
    }
  }

  private func askNodeClass(_ name: String, _ coder: StateDecoder) -> Result? {
    types.makesItsObjects(name)
      ? askRestorationClass(name, coder) : nil
  }

  private func askDelegate(_ coder: StateDecoder) -> Result? {
    guard let delegate else { return nil }
    note(.delegate, coder)
    return ask(.delegate) { try delegate.node(at: coder.path, coder: coder) }
  }

  private func askStoryboard(_ reference: StoryboardReference?, _ coder: StateDecoder) -> Result? {
    guard let reference else { return nil }
    note(.storyboard, coder)
    return ask(.storyboard) {
      try types.storyboard(named: reference.name)?.instantiate(reference.identifier)
    } ?? .missing(.notInStoryboard(reference.name, identifier: reference.identifier))
  }

  private func note(_ call: RestorationTrace.Call, _ coder: StateDecoder) {
    trace?(RestorationTrace(call: call, path: coder.path))
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
