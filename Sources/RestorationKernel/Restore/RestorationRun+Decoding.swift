/// Gives objects their states.
extension RestorationRun {
  func decode(takingContent takesContent: Bool) {
    for slot in order where outcomes.isDecodable(slot) {
      guard let object = restored.object(at: slot) else { continue }
      mark(slot)
      withCoder(slot) { coder in
        if takesContent { takeContent(object, coder, slot) }
        decode(object, coder, slot)
      }
    }
  }

  /// Offers an object its bodies, until it decodes one.
  private func decode(_ object: any StateRestoring, _ coder: StateDecoder, _ slot: Int32) {
    let choices = choices.isEmpty ? nil : self.choices[slot]
    guard let choices, choices.count > 1 else {
      if attempt(slot, { try decodeOnce(object, coder, slot) }) { return }
      return
    }
    for (number, choice) in choices.enumerated() {
      if number > 0 {
        restored.given[slot] = .some(choice.body)
        restored.forgetMended(at: slot)
        coder.open(Int(slot), ReadKeys())
      }
      guard attempt(slot, { try decodeOnce(object, coder, slot) }) else { continue }
      outcomes.succeed(slot)
      self.choices[slot] = [choice]
      return
    }
  }

  private func decodeOnce(
    _ object: any StateRestoring, _ coder: StateDecoder, _ slot: Int32
  ) throws {
    guard !reading(of: slot).isWithheld, !document[slot].place.lacksState else { return }
    try coder.decodeOwnState(of: object, outcomes.traits[Int(slot)])
    try object.decodeRestorableState(with: coder)
    try coder.builtIn?.restoreAfterDecoding(object)
    if let error = restored.unreadable.isEmpty ? nil : restored.unreadable[slot] { throw error }
  }

  func layOut() {
    mark(nil)
    delegate?.layOutRestoredInterface()
    for slot in order where outcomes.isDecodable(slot) {
      guard let object = restored.object(at: slot), !reading(of: slot).isWithheld,
        !document[slot].place.lacksState
      else { continue }
      mark(slot)
      withCoder(slot) { coder in
        _ = attempt(slot) {
          try coder.builtIn?.restoreAfterLayout(object)
          try object.restoreStateAfterLayout(with: coder)
        }
      }
    }
    mark(nil)
  }

  /// Gives a container the nodes that it contained and that are back.
  private func takeContent(_ object: any StateRestoring, _ coder: StateDecoder, _ slot: Int32) {
    let traits = outcomes.traits[Int(slot)]
    if traits.isDisjoint(with: .takesContent) { return }
    if traits.contains(.stack), let stack = object as? any RestorableStack {
      let nodes = coder.restoredChildren
      if !nodes.isEmpty { stack.restoreStack(nodes) }
    }
    if traits.contains(.split), let split = object as? any RestorableSplit {
      let nodes = coder.restoredChildren
      if !nodes.isEmpty { split.restoreColumns(nodes) }
    }
    if traits.contains(.presenter), let presenter = object as? any RestorablePresenter,
      let node = coder.restoredPresented, presenter.restorationPresented !== node
    {
      presenter.restorePresented(node)
    }
    if traits.contains(.tabs), let tabs = object as? any RestorableTabs {
      _ = attempt(slot) {
        guard let id = try coder.builtIn?.selectedTab() else { return }
        if let tab = restored.node(id) {
          tabs.selectedTab = tab
        } else {
          restored.tabsToCome.append((tabs, id))
        }
      }
    }
  }

  private func attempt(_ slot: Int32, _ body: () throws -> Void) -> Bool {
    do {
      try body()
      return true
    } catch {
      outcomes.fail(slot, error.reason)
      return false
    }
  }
}
