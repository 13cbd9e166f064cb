internal import ArchiveCodec
internal import RestorationFoundation

/// What a save asks; all other windows stay as they are stored.
struct SavedParts {
  /// The roots of the tree; nil if it stays as it is.
  var roots: [any RestorableNode]?
  /// The windows that have something to say, or below which somebody may have.
  var scenes: [SceneNode] = []
  /// The windows that go, with all below them.
  var leaving: [SceneNode] = []
  /// Whether the names of those that go are stored again, by another save that follows at once.
  var leaveNames = false
}

extension Document {
  /// The elements below the tree that are no windows.
  var roots: [Int32] { self[Self.tree].children.filter { self[$0].place.role != .scene } }

  /// The windows, connected or not.
  package var scenes: [Int32] { self[Self.tree].children.filter { self[$0].place.role == .scene } }

  func scene(_ identifier: String) -> Int32? {
    scenes.first { self[$0].place.name == identifier }
  }
}

extension Survey {
  /// Places windows, and lets others go.
  mutating func placeScenes(of parts: SavedParts) throws {
    if !parts.leaving.isEmpty { try builder.append(record: TreeRecord.compactionDue) { _ in } }
    for scene in parts.leaving {
      guard let slot = slot(of: scene), !places.isNew(slot) else { continue }
      places.orphans.insert(slot)
      touchContents(of: Document.tree)
    }
    for scene in parts.scenes { try place(scene, scene.asNode) }
    if !parts.scenes.isEmpty { try placeAll() }
  }

  private mutating func place(_ scene: SceneNode, _ node: any RestorableNode) throws {
    let info = types.info(of: node)
    let known = places.known(node)
    let stored = slot(of: scene)
    let (slot, isOther) = put(
      node, info, at: stored,
      Place(parent: Document.tree, role: .scene, name: scene.identifier))
    if stored == nil { addContent(slot, to: Document.tree) }
    if places.isVisited(node) { return }
    if scene.roots != nil, let known, !known.hasChanged, !isOther, taken.claims[slot] == nil {
      // Nobody says that a window has other roots.
      return try visit(node, info, at: slot, asksBody: false)
    }
    try visit(node, info, at: slot, isOther ? nil : known)
  }

  private func slot(of scene: SceneNode) -> Int32? {
    places.known(scene)?.slot ?? document.scene(scene.identifier)
  }

  /// The elements in windows that are not connected.
  var inStoredWindows: Set<Int32> {
    let stored = document.scenes.filter {
      (KnownObjects.shared.object(at: $0, of: owner) as? SceneNode)?.roots == nil
    }
    return Set(stored.flatMap { document.walk(from: $0) })
  }

  /// Whether an object says what is below it: a window that is not connected does not.
  func isConnected(_ visit: Visit) -> Bool {
    places.role(of: visit.slot) != .scene || (visit.object as? SceneNode)?.roots != nil
  }

  /// Leaves what has changed outside of some windows to the next save.
  mutating func leave(allBut scenes: [SceneNode]) {
    let asked = Set(scenes.compactMap(slot))
    let isAsked = { [places] (slot: Int32) in
      var slot = slot
      while slot > Document.tree, places.parent(of: slot) != Document.tree {
        slot = places.parent(of: slot)
      }
      return asked.contains(slot)
    }
    let left = agenda.changed.filter { !isAsked($0.slot) }
    agenda.changed.removeAll { !isAsked($0.slot) }
    KnownObjects.shared.askAgain(left.map(\.object), of: owner)
  }
}

extension StateKeeper {
  /// The roots of the tree, and the windows of the app.
  func parts(_ roots: [any RestorableNode]?) -> SavedParts {
    var parts = settings.host?.prepareAll() ?? SavedParts()
    parts.roots = roots
    return parts
  }

  /// The windows that are stored besides known ones, each with why it cannot be read, if it cannot.
  ///
  /// - Throws: The errors of the file.
  func storedScenes(besides known: Set<String>) async throws(RestorationError) -> [(
    identifier: String, node: Result<SceneNode, RestorationError>
  )] {
    try await Result { () async throws(ArchiveError) in
      try await turns.run { () async throws(ArchiveError) in
        guard let document else { return [] }
        let slots = document.scenes.filter { !known.contains(document[$0].place.name) }
        let bodies = try await bodies(of: slots.map { document[$0].bodyRecord })
        return slots.map { slot in
          let name = document[slot].place.name
          let read = Result { try node(name, bodies(document[slot].bodyRecord), at: slot) }
          return (name, read.mapError { RestorationError(.content($0)) })
        }
      }
    }.mapError { RestorationError($0) }.get()
  }

  private func node(_ name: String, _ body: KeyedDecoder?, at slot: Int32) throws -> SceneNode {
    var content = try SceneContent(body?.container(forKey: SceneContent.key) ?? .empty)
    content.dropActivity(expiredAt: settings.now())
    content.closedAt = content.closedAt.map { $0.ifNumber ?? settings.now() }
    let node = SceneNode(name, content)
    KnownObjects.shared.note(node, at: slot, of: owner)
    return node
  }

  /// Brings a window back, or shows one of which nothing is stored.
  ///
  /// The window is shown before anything below it is looked for; a crash in that counts as one of the window.
  ///
  /// - Throws: As a restore; also if the last launches crashed in the window, which is not shown then.
  func restore(
    _ scene: SceneNode, showing show: () -> Void, restored: (RestorationReport) -> Void
  ) async throws(RestorationError) -> RestorationReport {
    try await call { () async throws in
      // An autosave knows a new window from then on.
      defer {
        asking.coming = nil
        autosave?.turns.change()
      }
      while let slot = slot(of: scene), let part = document?.walk(from: slot) {
        let subject = document.map { LaunchSubject(element: $0[slot].id) }
        if let subject, findings.launch?.isLeftOut(subject) == true {
          throw RestorationError(
            .notConnected,
            "The last launches crashed while this window was made, so it is left out, and stays stored."
              + " The keeper's retrySkippedNodes() lets the next launch try it.")
        }
        let late = Late(node: scene, slot: slot, parent: nil, isBack: false, part: part)
        asking.coming = (ObjectIdentifier(scene), slot)
        guard let bodies = try await bodies(of: late) else { continue }
        findings.launch?.reach(subject)
        asking.isUnderWay = true
        show()
        scene.restoredRoots = scene.restorationChildren
        asking.isUnderWay = false
        defer {
          scene.restoredRoots = nil
          findings.launch?.reach(nil)
        }
        var report = restore(late, bodies, for: scene.delegate)
        settings.values?.describe(in: &report, of: scene.identifier)
        restored(report)
        return report
      }
      show()
      let report = RestorationReport(.nothingKept)
      restored(report)
      return report
    }
  }

  /// Lets windows go, with all that any file has of them.
  ///
  /// - Throws: As a save; also if what is stored of them cannot leave every file yet, as the next launch does.
  func discard(_ scenes: [SceneNode]) async throws(RestorationError) {
    repeat {
      let report = try await save { SavedParts(leaving: scenes) }
      guard report.outcome == .saved else { throw .notSaved(report.outcome) }
      // A save that blocked the actor may have come in the place of this one.
    } while scenes.contains { slot(of: $0) != nil }
    try await inFile { (queue) throws(ArchiveError) in try queue.file.compactWithoutTrace() }
  }

  /// Lets nobody ask what is below a window that is not connected any more.
  func leave(_ scene: SceneNode) {
    guard let document, let slot = slot(of: scene) else { return }
    // What references reach may be in other windows, too.
    var (left, stack): ([Int32], [Int32]) = ([], [slot])
    while let above = stack.popLast() {
      let below = document[above].children.filter { !document[$0].place.role.livesByReferences }
      left += below
      stack += below
    }
    KnownObjects.shared.leave(left, of: owner)
  }

  /// Whether nothing is stored of a window, as far as the keeper knows.
  func hasLost(_ scene: SceneNode) -> Bool {
    document != nil && slot(of: scene) == nil
  }

  func slot(of scene: SceneNode) -> Int32? {
    if let slot = KnownObjects.shared.known(scene, to: owner)?.slot,
      document?.elements.indices.contains(Int(slot)) == true
    {
      return slot
    }
    return document?.scene(scene.identifier)
  }

  /// Whether a window has said that it has changed, or is new.
  func hasChanged(_ scene: SceneNode) -> Bool {
    KnownObjects.shared.known(scene, to: owner)?.hasChanged ?? true
      || settings.values?.hasChanged(in: scene.identifier) == true
  }

  /// The windows below which somebody has said that he has changed, by their elements.
  var changedWindows: Set<Int32> {
    guard let document, hasChanges else { return [] }
    var (windows, seen): (Set<Int32>, Set<Int32>) = ([], [])
    for var slot in KnownObjects.shared.changedSlots(of: owner)
    where document.elements.indices.contains(Int(slot)) && document[slot].place.role != .scene {
      while slot > Document.tree, seen.insert(slot).inserted {
        slot = document[slot].place.parent
        if slot > Document.tree, document[slot].place.role == .scene { windows.insert(slot) }
      }
    }
    return windows
  }

  /// Whether somebody has changed whom no save has asked.
  var hasChanges: Bool { !KnownObjects.shared.changedSlots(of: owner).isEmpty }

  /// - Throws: That nothing is known of what is stored: a save of windows alone would begin a new state.
  func checkIsKnown() throws(RestorationError) {
    // What could not be read becomes a moment before the first change.
    if document != nil || findings.hasTriedToRestore { return }
    throw RestorationError(
      .notConnected, "Nothing is known of the stored windows. Launch the host first.")
  }

  /// - Throws: That windows are connected, which would go on with what another state has of them.
  func checkNoneIsConnected() throws(RestorationError) {
    guard document != nil, settings.host?.connectedScenes.isEmpty == false else { return }
    throw RestorationError(
      .inUse, "Windows are connected. Disconnect them first, and connect them again.")
  }
}
