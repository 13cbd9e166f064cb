internal import ArchiveCodec

/// Gives objects their states.
extension RestorationRun {
  /// Gives a container what it contained, and offers an object its bodies until it decodes one.
  func decode(_ object: any StateRestoring, _ slot: Int32, takingContent takesContent: Bool) {
    use(slot) { coder in
      if takesContent, !elements[slot].traits.isEmpty { takeContent(object, coder, slot) }
      while !attempt(slot, { try decode(object, coder, slot) }), elements[slot].offerNext() {
        coder.begin(slot)
      }
    }
  }

  private func decode(_ object: any StateRestoring, _ coder: StateDecoder, _ slot: Int32) throws {
    guard elements.hasReadableState(slot) else { return }
    try coder.open()
    let traits = elements[slot].traits
    if traits.contains(.stateful), let object = object as? any StatefulRestoring {
      try coder.decodeState(of: object)
    }
    try object.decodeRestorableState(with: coder)
    if traits.contains(.hasBuiltInState) { try coder.builtIn?.restoreAfterDecoding(object) }
  }

  func layOut(_ object: any StateRestoring, _ slot: Int32) {
    guard elements.hasReadableState(slot) else { return }
    use(slot) { coder in
      attempt(slot) {
        if elements[slot].traits.contains(.hasBuiltInState) {
          try coder.builtIn?.restoreAfterLayout(object)
        }
        try object.restoreStateAfterLayout(with: coder)
      }
    }
  }

  /// Lets the delegate decode the application's own values.
  func decode(_ delegate: any StateDelegate) {
    use(Document.tree) { coder in
      attempt(Document.tree) {
        try coder.open()
        try delegate.didDecodeRestorableState(with: coder)
      }
    }
    if let note = unreadNote(Document.tree) { elements[Document.tree].note(note) }
  }

  /// Gives a container the nodes that it contained and that are back.
  private func takeContent(_ object: any StateRestoring, _ coder: StateDecoder, _ slot: Int32) {
    let traits = elements[slot].traits
    let nodes = traits.tellEqualChildrenApart ? coder.restoredChildren : []
    if !nodes.isEmpty {
      (object as? any RestorableStack)?.restoreStack(nodes)
      (object as? any RestorableSplit)?.restoreColumns(nodes)
    }
    if traits.contains(.presenter), let presenter = object as? any RestorablePresenter,
      let node = coder.restoredPresented, presenter.restorationPresented !== node
    {
      presenter.restorePresented(node)
    }
    if traits.contains(.tabs), let tabs = object as? any RestorableTabs {
      attempt(slot) {
        guard let id = try coder.builtIn?.reference(forKey: BuiltInKey.selectedTab),
          let tab = elements.object(ofRecord: id) as? any RestorableNode
        else { return }
        tabs.selectedTab = tab
      }
    }
  }

  @discardableResult
  private func attempt(_ slot: Int32, _ body: () throws -> Void) -> Bool {
    do {
      try body()
      return true
    } catch {
      if let step = elements[slot].outcome?.step {
        elements[slot].outcome = .decodeFailed(by: step, error.reason)
      }
      return false
    }
  }
}
