extension RestorationRun {
  func decode() {
    eachRestored { object, place in
      progress.reach(place)
      withCoder(place) { coder in
        restoreContent(object, coder, place)
        attempt(place) {
          if prepared.hasState(place) {
            progress.note(.decodeRestorableState, place)
            try coder.decodeOwnState(of: object, outcomes.traits[place])
            try object.decodeRestorableState(with: coder)
          }
          try coder.builtIn?.restoreAfterDecoding(object)
        }
      }
    }
  }

  func restoreAfterLayout() {
    eachRestored { object, place in
      progress.reach(place)
      withCoder(place) { coder in
        attempt(place) {
          try coder.builtIn?.restoreAfterLayout(object)
          guard prepared.hasState(place) else { return }
          progress.note(.restoreStateAfterLayout, place)
          try object.restoreStateAfterLayout(with: coder)
        }
      }
    }
  }

  /// Gives a container the nodes that it contained and that are back.
  private func restoreContent(_ object: any StateRestoring, _ coder: StateDecoder, _ place: Int) {
    let traits = outcomes.traits[place]
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
      attempt(place) {
        if let record = try coder.builtIn?.selectedTab(),
          let tab = restored.node(record)
        {
          tabs.selectedTab = tab
        }
      }
    }
  }

  private func attempt(_ place: Int, _ body: () throws -> Void) {
    do {
      try body()
    } catch {
      outcomes.fail(place, error.reason)
    }
  }
}
