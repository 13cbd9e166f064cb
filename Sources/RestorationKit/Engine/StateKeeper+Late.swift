internal import ArchiveCodec

extension StateKeeper {
  /// Restores a node that came after the restore, from the state that is kept for it.
  ///
  /// Use the method for a tab or a window that is built when the user first looks at
  /// it. Its stored state is kept meanwhile. Call the method when the node has its
  /// identifier, before the user sees the node. If the node was saved before that, the
  /// state that was kept for it lies beside the saved one; this call restores it all the
  /// same, and what the node had until then lies beside it. The node's parent must be
  /// back, so begin with the uppermost node.
  ///
  ///     let editor = EditorTab()
  ///     tabs.restorationChildren.append(editor)
  ///     try await keeper.restore(late: editor, below: tabs)
  ///
  /// Use it also for a node that is back and whose decoding threw, or of whose state a field did not fit, in
  /// this launch or an earlier one, when the state can be applied: the newest such state is decoded again, and
  /// is kept no more unless its decoding throws again or a field of it does not fit. What the node had until
  /// then, saved or not, stays stored beside it, within the ``StatePolicy/keptAge``. A node that cannot say
  /// what it has gets no other state. The nodes below are left as they are.
  ///
  /// The calls are those of ``restore(into:)`` on the node and on the nodes that are
  /// kept below it, in the same order, from `loadViewIfNeeded` to
  /// `applicationFinishedRestoringState`. Nodes below the node are looked for as
  /// always; the node itself exists, so no factory is asked for it. The gates and
  /// `didDecodeRestorableState` are about the whole state and are not called. The
  /// parent is not told, so select a tab yourself. Nodes that are still not back stay kept.
  ///
  /// The call waits for the calls before it, as for a save that is written. An element in which the
  /// call crashes is counted, and left out as in a restore; see ``StatePolicy/crashThreshold``.
  ///
  /// - Parameters:
  ///   - node: The node, with its identifier. Among equal identifiers in a
  ///     ``RestorableStack`` or ``RestorableSplit`` its position counts; a node
  ///     that is not in there yet counts as the next one.
  ///   - parent: The node that contains or presents the node; nil for a root.
  /// - Returns: What happened to the node and all below it. The outcome is
  ///   `nothingKept` if nothing was stored for the node, or if it was restored
  ///   already. A node of another class gets nothing, and the state stays kept.
  /// - Throws: ``RestorationError`` if what is stored for the node cannot be read; it stays.
  /// - Complexity: O(*n*) in the restored elements, and for a stack or split in its
  ///   children.
  @discardableResult
  public func restore(
    late node: any RestorableNode, below parent: (any RestorableNode)? = nil
  ) async throws(RestorationError) -> RestorationReport {
    try await call { () async throws in
      defer { asking.coming = nil }
      while let late = late(node, below: parent) {
        asking.coming = late.isBack ? nil : (ObjectIdentifier(node), late.slot)
        guard let bodies = try await bodies(of: late) else { continue }
        defer { autosave?.turns.change() }
        return restore(late, bodies)
      }
      return RestorationReport(.nothingKept)
    }
  }

  /// What is stored for a node that came late.
  struct Late {
    let node: any RestorableNode
    let slot: Int32
    /// The node above, which is back; nil for a root.
    let parent: (any RestorableNode)?
    /// Whether the node itself is back, and gets a body that it has not read.
    let isBack: Bool
    /// What is restored.
    let part: [Int32]
  }

  private func late(_ node: any RestorableNode, below parent: (any RestorableNode)?) -> Late? {
    guard let document else { return nil }
    let parts = document.kept
    if let slot = KnownObjects.shared.known(node, to: owner)?.slot {
      guard !parts.untaken(slot).isEmpty else { return nil }
      return Late(node: node, slot: slot, parent: nil, isBack: true, part: [slot])
    }
    let above =
      parent.map { KnownObjects.shared.known($0, to: owner)?.slot } ?? .some(Document.tree)
    // A node that a save under way has met has no element yet.
    guard let above, document.elements.indices ~= Int(above),
      let name = objects.identifier(of: node)
    else { return nil }
    let index = parent.flatMap { position(of: node, named: name, in: $0) }
    let kept = document[above].children.first { child in
      let place = document[child].place
      return parts.elements[child] != nil && place.name == name && place.role.kind == .node
        && place.siblingIndex == index ?? place.siblingIndex
    }
    guard let slot = kept else { return nil }
    return Late(
      node: node, slot: slot, parent: parent, isBack: false, part: document.walk(from: slot))
  }

  /// Where a node stands among those of its name, if the one above tells them apart; one that is not in
  /// there yet is the next.
  private func position(
    of node: any RestorableNode, named name: String, in parent: any RestorableNode
  ) -> Int32? {
    guard types.info(of: parent).traits.tellEqualChildrenApart else { return nil }
    let equal = parent.restorationChildren.filter { objects.identifier(of: $0) == name }
    return Int32(clamping: equal.firstIndex { $0 === node } ?? equal.count)
  }

  /// Gives the bodies of what comes late; nil if a save that blocked the actor has changed the document meanwhile.
  func bodies(of late: Late) async throws(ArchiveError) -> RestoredElements.Bodies? {
    guard let document, findings.records == nil else { return try await bodies(of: []) }
    let (number, isSettled) = (findings.lastWrite, findings.underWay == nil)
    let numbers = late.part.flatMap { slot in
      [document[slot].bodyRecord] + (document.kept.bodies[slot] ?? []).map(\.record)
    }
    let bodies = try await bodies(of: numbers)
    for number in numbers { _ = try bodies(number) }
    return isSettled && number == findings.lastWrite ? bodies : nil
  }

  /// Gives the stored bodies of records.
  func bodies(of numbers: [UInt64]) async throws(ArchiveError) -> RestoredElements.Bodies {
    // What the launch has read need not be asked of the file.
    if let records = findings.records { return records.decoder(of:) }
    let bodies = try await inFileNow { (queue) throws(ArchiveError) in
      let archive = try queue.file.archiveToRead()
      return numbers.map { number in
        (number, Result { () throws(ArchiveError) in try archive?.record(number) })
      }
    }
    let table = Dictionary(bodies, uniquingKeysWith: { $1 })
    return { (number) throws(ArchiveError) in try table[number]?.get() ?? nil }
  }

  func restore(
    _ late: Late, _ bodies: @escaping RestoredElements.Bodies,
    for delegate: (any StateDelegate)? = nil
  ) -> RestorationReport {
    guard let document else { return RestorationReport(.nothingKept) }
    asking.isUnderWay = true
    defer { asking.isUnderWay = false }
    let start = ContinuousClock.now
    let (slot, above) = (late.slot, document[late.slot].place.parent)
    let delegate = delegate ?? self.delegate
    let run = RestorationRun(
      document, objects, delegate: delegate, roots: [], nodeLimit: settings.policy.nodeLimit,
      part: late.part, owner: owner, forms: delegate == nil ? findings.forms : .init(),
      findings.launch, body: bodies)
    run.elements.claim(late.node, late.node, at: slot)
    if let parent = late.parent { run.elements.claim(parent, parent, at: above) }
    var report = RestorationReport(.restored)
    var (before, failure): (Said?, (any Error)?) = (nil, nil)
    do { if late.isBack { before = try said(by: late, document) } } catch { failure = error }
    if let refusal = run.refusal(of: slot, failure) {
      report.lines = ReportEntries { [refusal] }
      return report
    }
    _ = run.run(isLate: true, isBack: late.isBack)
    var after = run.settled()
    if late.isBack { settle(late, run, before, &after) }
    if let parent = late.parent { KnownObjects.shared.askAgain([parent], of: owner) }
    end(run, with: after, since: start, mayMove: document[slot].place.role != .scene, in: &report)
    return report
  }

  /// Ends the restore of a body that a node which is back has read now.
  private func settle(
    _ late: Late, _ run: RestorationRun, _ before: Said?, _ after: inout Document
  ) {
    let (slot, own) = (late.slot, document?.kept.withheld[late.slot])
    if case .restored? = run.elements[slot].outcome {
      after.kept.withheld[slot]?.replacesOwn = own?.replacesOwn ?? true
    } else {
      // The object goes on with what it had.
      after.kept.withheld[slot] = own
    }
    let now = try? StateProbe.fingerprint(of: late.node, types.info(of: late.node).traits)
    guard let before, now != before.fingerprint else { return }
    after.kept.pending[slot, default: []].append(before.body)
  }

  /// What a node says.
  private typealias Said = (fingerprint: RecordFingerprint, body: KeyedDecoder)

  /// What a node that is back says now, if that is not stored.
  ///
  /// - Throws: Why the node cannot say it.
  private func said(by late: Late, _ document: Document) throws -> Said? {
    let traits = types.info(of: late.node).traits
    let said = try StateProbe.fingerprint(of: late.node, traits)
    if document.kept.withheld[late.slot]?.said == said { return nil }
    return (said, try StateProbe.body(of: late.node, traits, document, owner))
  }

  /// Gives up the states that are kept beside, or in place of, the state of a node that is back.
  ///
  /// The next save does not store them: use it when the user discards a draft that the node
  /// could not decode. Nothing kept is not an error.
  ///
  /// - Parameter node: The node.
  public func discardKeptState(of node: any RestorableNode) async {
    await turns.run {
      // What is written now would bring back what it knows of.
      try? await inFileNow { _ in }
      guard let slot = KnownObjects.shared.known(node, to: owner)?.slot, var document else {
        return
      }
      document.leftovers =
        (document.leftovers ?? []) + (document.kept.bodies[slot] ?? []).map(\.record)
      if var kept = document.kept.elements[slot] {
        // What lies below goes on being kept; how large each part is, the next restore finds.
        kept.byteCount = 0
        for child in document[slot].children
        where KnownObjects.shared.object(at: child, of: owner) == nil {
          document.kept.elements[child] = kept
        }
      }
      document.kept.remove(slot)
      document.hasUnstoredKept = true
      self.document = document
      KnownObjects.shared.askAgain([node], of: owner)
    }
    autosave?.turns.change()
  }
}
