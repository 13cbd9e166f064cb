internal import ArchiveCodec

// MARK: - Sizes

extension KeptRecords {
  /// The size in bytes of a state that is kept alone.
  func byteCount(of state: KeptState) -> Int { sizes[state.id] }

  /// The size in bytes of a kept element with all below it.
  func byteCount(below top: Int) -> Int {
    subtree(of: top).reduce(0) { sum, index in
      sum + (unclaimed[index].flatMap { sizes.ofRecords[$0.element.record] } ?? 0)
    }
  }

  /// The elements and states that are kept of a restore that has just run.
  ///
  /// - Complexity: O(*n*) in the kept elements and states.
  func list(_ result: RestoreResult) -> [KeptElement] {
    let below = Set(unclaimed.compactMap(\.self).flatMap(\.children))
    let elements = result.tree.elements
    let ofObjects = result.unread.union(result.tree.kept.keys).sorted()
      .flatMap { index -> [KeptElement] in
        guard let state = result.restored[elements[index].record].flatMap({ states[$0] }) else {
          return []
        }
        return state.all.map { one in
          KeptElement(
            kind: state.kind, path: state.path, className: one.state.className, reason: one.reason,
            isStateAlone: true, since: firstSave(keeping: one.state),
            byteCount: byteCount(of: one.state))
        }
      }
    return ofObjects
      + unclaimed.indices.compactMap { index in
        guard !below.contains(index), let kept = unclaimed[index] else { return nil }
        return KeptElement(
          kind: kept.element.content.kind, path: kept.element.path,
          className: kept.element.content.className, reason: kept.outcome, isStateAlone: false,
          since: firstSave(keeping: kept.element), byteCount: byteCount(below: index))
      }
  }
}

extension KeptRecords.State {
  /// All kept states, newest first, each with the reason why no object got it.
  var all: [KeptRecords.Beside] {
    (withheld.map { [KeptRecords.Beside(state: KeptState(of: $0), reason: outcome)] } ?? [])
      + beside
  }

  var isEmpty: Bool { withheld == nil && beside.isEmpty }

  /// Ends keeping some states.
  mutating func drop(_ gone: Set<KeptState.ID>) {
    if let withheld, gone.contains(KeptState(of: withheld).id) { self.withheld = nil }
    beside.removeAll { gone.contains($0.state.id) }
  }

  /// Keeps the state that the record has beside the state that it will have.
  ///
  /// A state that was saved while the element was left out is not kept, since no restore has
  /// decoded it: otherwise each launch would add one. The state that crashed stays.
  ///
  /// - Returns: The state that is not kept; nil if all states are.
  mutating func putBeside() -> KeptState.ID? {
    guard let withheld else { return nil }
    self.withheld = nil
    var own = KeptState(of: withheld)
    own.reason = outcome.keptReason
    if let leftOut, beside.first?.state.leftOut == leftOut { return own.id }
    beside.insert(KeptRecords.Beside(state: own, reason: outcome), at: 0)
    return nil
  }
}

// MARK: - Coming late

extension KeptRecords {
  /// A kept element and all below it, as a tree of its own.
  ///
  /// - Parameters:
  ///   - top: The index of the element.
  ///   - parent: The present path of the element that contains `top`; nil if the path is not known,
  ///     so that the tree keeps its stored paths.
  /// - Returns: The tree.
  /// - Complexity: O(*n*) in its elements.
  func tree(below top: Int, in parent: RestorationPath?) -> StoredTree {
    var elements: [StoredTree.Element] = []
    var parents: [Int: Int] = [:]
    let since = unclaimed[top].flatMap { firstSave(keeping: $0.element) }
    for index in subtree(of: top) {
      guard let kept = unclaimed[index] else { continue }
      for child in kept.children { parents[child] = elements.count }
      var content = kept.element.content
      let above = parents[index].map { elements[$0].path } ?? parent
      let path = above?.appending(content.identifier, siblingIndex: content.siblingIndex)
      // An element that does not come back this time either keeps the time since when it is kept.
      content.keptSince = firstSave(keeping: kept.element) ?? since
      elements.append(
        StoredTree.Element(
          record: kept.element.record, path: path ?? kept.element.path, parent: parents[index],
          role: kept.element.role, content: content, values: kept.element.values,
          kept: kept.element.kept))
    }
    return StoredTree(
      elements, version: source.version, facts: source.facts, formerNames: source.formerNames)
  }

  /// Ends keeping a subtree that was restored late, but keeps the elements of it that are not back.
  ///
  /// - Returns: The objects that are back, with the places at which their elements were kept.
  func settleLate(
    _ top: Int, _ result: RestoreResult
  ) -> [(index: Int, object: any StateRestoring)] {
    let kept = subtree(of: top)
    remove(top)
    keep(result)
    return zip(kept, result.tree.elements).compactMap { index, element in
      guard self.index(ofRecord: element.record) == nil else { return nil }
      return result.restored[element.record].map { (index, $0) }
    }
  }
}

// MARK: - States that their nodes keep

extension KeptRecords {
  /// The newest state that a node has kept for later, as a tree of its own; nil if there is none.
  ///
  /// - Parameters:
  ///   - node: The node, which is back.
  ///   - path: The present path of the node; nil if it is not known.
  /// - Returns: The tree, and what tells the state apart.
  func tree(
    keptBy node: any RestorableNode, at path: RestorationPath?
  ) -> (tree: StoredTree, id: KeptState.ID)? {
    guard let states = states[node], let state = states.all.first(where: \.isKeptByNode)?.state
    else { return nil }
    let path = path ?? states.path
    var content = NodeRecord(
      states.kind, path.identifier ?? "", siblingIndex: 0, className: state.className)
    (content.version, content.restorationClassName) = (state.version, state.restorationClassName)
    content.keptSince = firstSave(keeping: state)
    let element = StoredTree.Element(
      record: state.id.record, path: path, parent: nil, role: .root, content: content,
      values: state.values)
    let tree = StoredTree(
      [element], version: source.version, facts: source.facts, formerNames: source.formerNames)
    return (tree, state.id)
  }

  /// Ends keeping a state that its node has got, or notes why the node keeps it still.
  func settle(
    _ id: KeptState.ID, of node: any RestorableNode, _ outcome: RestorationReport.NodeOutcome
  ) {
    guard var states = states[node] else { return }
    switch outcome {
    case .restored, .restoredWithoutState: states.drop([id])
    case .kept(_, let reason): states.keep(id, because: reason, outcome)
    default: return
    }
    self.states[node] = states.isEmpty ? nil : states
  }

  /// The state that a node has, to be kept beside the one that is given to it.
  ///
  /// - Parameters:
  ///   - answer: What the node says.
  ///   - form: Makes the state of its values under an identifier.
  /// - Returns: The state, which is not kept yet.
  /// - Throws: ``ArchiveError`` for a state that is too large.
  func present(
    _ answer: StateProbe.Answer, _ form: (KeptState.ID, StoredTree.Values) -> KeptState
  ) throws -> KeptState {
    // No record has these numbers: they stand for the objects until a save writes the state.
    let numbers = answer.objects.map { object in
      let number = freeNumber()
      named.objects[number] = KeptReferences.Object(object)
      return number
    }
    let record = try KeyedDecoder.encoding { encoder in
      if let state = try answer.record.container(forKey: NodeRecord.stateKey) {
        try encoder.encodeContainer(forKey: NodeRecord.stateKey) {
          try $0.copyAll(from: state) { number in
            // A stored field may hold a reference of its own, which names a record of another save.
            Int(exactly: number).flatMap {
              numbers.indices.contains($0 - 1) ? numbers[$0 - 1] : nil
            }
          }
        }
      }
    }
    return form(
      KeptState.ID(record: freeNumber(), index: 1),
      StoredTree.Values(
        builtIn: nil, state: try record.container(forKey: NodeRecord.stateKey)))
  }

  /// A number that no stored record has, and no other state of this restore.
  private func freeNumber() -> UInt64 {
    repeat {
      lastFreeNumber -= 1
    } while places[lastFreeNumber] != nil
      || named.records.contains(lastFreeNumber)
    return lastFreeNumber
  }

  /// Whether a node says nothing of its own yet: its stored state is withheld, and it says what it said when
  /// it had come back without that.
  func saysNothingNew(_ node: any StateRestoring, _ probe: StateProbe) -> Bool {
    states[node]?.withheld != nil && probes[node]?.isSame(as: probe) == true
  }

  /// Keeps a state that a node had until it was given another one.
  func keep(_ replaced: KeptState, of node: any StateRestoring, before: State) {
    noteReferences(of: replaced)
    var states =
      self.states[node]
      ?? State(kind: before.kind, path: before.path, outcome: before.outcome)
    states.beside.insert(Beside(state: replaced, reason: .laterStateRestored), at: 0)
    self.states[node] = states
  }

  /// Ends keeping all states of an object.
  func discardStates(of object: any StateRestoring) -> Bool {
    defer { states[object] = nil }
    return states[object] != nil
  }
}

extension KeptRecords.State {
  fileprivate mutating func keep(
    _ id: KeptState.ID, because reason: String, _ outcome: RestorationReport.NodeOutcome
  ) {
    if withheld?.record == id.record, id.index == 0 { self.outcome = outcome }
    for index in beside.indices where beside[index].state.id == id {
      beside[index].state.reason = reason
      beside[index].reason = outcome
    }
  }
}

// MARK: - Changing

extension KeptRecords {
  /// The changes of a save to the kept elements and states; they count once the save is stored.
  struct Settlement {
    var replaced: [(index: Int, object: any StateRestoring)] = []
    var dropped: [Int] = []
    /// The states that are kept no more, by their objects.
    var droppedStates: [(object: any StateRestoring, ids: Set<KeptState.ID>)] = []
    /// The states that each object keeps from now on.
    var states: [(object: any StateRestoring, state: State)] = []
  }

  func settle(_ settlement: Settlement) {
    // First, so that no element that goes takes the name of one that stays.
    for index in settlement.dropped { remove(index) }
    for (index, object) in settlement.replaced { replace(index, by: object) }
    for (object, ids) in settlement.droppedStates {
      guard var state = states[object] else { continue }
      state.drop(ids)
      states[object] = state.isEmpty ? nil : state
    }
    for (object, state) in settlement.states { states[object] = state.isEmpty ? nil : state }
  }

  /// Remembers what an object says of its state, before somebody changes it.
  func remember(_ probe: StateProbe?, of object: any StateRestoring) { probes[object] = probe }

  /// Ends keeping an element that an object has replaced; the elements that were kept below it are
  /// kept below the object from now on.
  private func replace(_ index: Int, by object: any StateRestoring) {
    guard let kept = unclaimed[index] else { return }
    unclaimed[index] = nil
    if named.records.contains(kept.element.record) {
      named.objects[kept.element.record] = KeptReferences.Object(object)
    }
    var tops = topsBelow[object] ?? Tops()
    let since = firstSave(keeping: kept.element)
    for child in kept.children {
      guard let element = unclaimed[child]?.element else { continue }
      if firstSave(keeping: element) == nil {
        firstSaves[KeptState(of: element).id] = since
      }
      tops.append(child, element.content)
    }
    topsBelow[object] = tops
  }

  private func remove(_ top: Int) {
    for index in subtree(of: top) { unclaimed[index] = nil }
  }
}
