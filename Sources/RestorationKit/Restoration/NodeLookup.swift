/// Finds or makes the node of a record, in four steps and in this order.
///
/// 1. The restoration class that the record names. Its nil is a veto; nobody
///    else is asked. A class that cannot be found is a veto too, never a
///    silent way to the next step.
/// 2. The delegate, if the record names no class. Its nil is no opinion.
/// 3. An existing node with exactly this path.
/// 4. The storyboard that the record names.
struct NodeLookup {
  let registry: NodeRegistry
  let delegate: (any StateDelegate)?

  enum Result {
    case found(any RestorableNode, RestorationReport.Step)
    case missing(RestorationReport.NodeOutcome)
  }

  func find(
    _ stored: StoredTree.Node, coder: StateDecoder, existing: () -> (any RestorableNode)?
  ) -> Result {
    if let name = stored.content.restorationClassName {
      return askRestorationClass(name, coder)
    }
    return askDelegate(coder)
      ?? existing().map { .found($0, .existing) }
      ?? askStoryboard(stored.content.storyboard)
      ?? .missing(.notFound)
  }

  private func askRestorationClass(_ name: String, _ coder: StateDecoder) -> Result {
    switch registry.restorationClass(named: name) {
    case .unknown: .missing(.unknownRestorationClass(name))
    case .notAFactory: .missing(.notARestorationClass(name))
    case .found(let make):
      ask(.restorationClass) { try make(coder.path, coder) } ?? .missing(.vetoed)
    }
  }

  private func askDelegate(_ coder: StateDecoder) -> Result? {
    ask(.delegate) { try delegate?.node(at: coder.path, coder: coder) }
  }

  private func askStoryboard(_ reference: StoryboardReference?) -> Result? {
    guard let reference else { return nil }
    return ask(.storyboard) {
      try registry.storyboard(named: reference.name)?.instantiate(reference.identifier)
    } ?? .missing(.notInStoryboard(reference.name, identifier: reference.identifier))
  }

  private func ask(
    _ step: RestorationReport.Step, _ provide: () throws -> (any RestorableNode)?
  ) -> Result? {
    do {
      return try provide().map { .found($0, step) }
    } catch {
      return .missing(.factoryFailed(step, "\(error)"))
    }
  }
}
