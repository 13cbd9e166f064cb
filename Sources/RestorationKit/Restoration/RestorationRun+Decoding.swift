extension RestorationRun {
  func decode() {
    // A node that is back has its nodes, and keeps what it has unless it takes the state now.
    let isBack = late?.isBack == true
    eachRestored { object, index in
      mark?(index)
      withCoder(index) { coder in
        if !isBack { restoreContent(object, coder, index) }
        attempt(index) {
          if prepared.hasState(index) {
            if !isBack { try coder.decodeOwnState(of: object, outcomes.traits[index]) }
            try object.decodeRestorableState(with: coder)
            if isBack {
              guard restored.keptReasons[index] == nil else { return }
              // The kept state stays if a field does not fit, and the own one is what the node says.
              try coder.decodeOwnState(of: object, outcomes.traits[index], keepsUnfit: false)
            }
          }
          try coder.builtIn?.restoreAfterDecoding(object)
        }
      }
    }
  }

  func restoreAfterLayout() {
    let isBack = late?.isBack == true
    eachRestored { object, index in
      if isBack, restored.keptReasons[index] != nil { return }
      mark?(index)
      withCoder(index) { coder in
        attempt(index) {
          try coder.builtIn?.restoreAfterLayout(object)
          guard prepared.hasState(index) else { return }
          try object.restoreStateAfterLayout(with: coder)
        }
      }
    }
  }

  /// Gives a container the nodes that it contained and that are back.
  private func restoreContent(_ object: any StateRestoring, _ coder: StateDecoder, _ index: Int) {
    let traits = outcomes.traits[index]
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
      attempt(index) {
        guard let record = try coder.builtIn?.selectedTab() else { return }
        if let tab = restored.node(record) {
          tabs.selectedTab = tab
        } else {
          restored.selectedTabsToCome.append((tabs, record))
        }
      }
    }
  }

  private func attempt(_ index: Int, _ body: () throws -> Void) {
    do {
      try body()
    } catch {
      outcomes.fail(index, error.reason)
    }
  }
}
