internal import ArchiveCodec

extension StateKeeper {
  /// Tells what a restore would make of the stored state, and restores nothing.
  ///
  /// All migrations run, on copies, and the delegate's
  /// ``StateDelegate/currentClassName(forStored:)`` is asked. No gate, factory
  /// or node is called, and nothing is written. For tests that keep old states,
  /// and at launch before ``restore(into:)``. The windows of a ``SceneHost`` have
  /// states of their own; see ``SceneHost/checkStoredStates()``.
  ///
  /// - Returns: A line for every node; nothing stored is not an error.
  /// - Throws: ``RestorationError`` with `archive` if the state cannot be read.
  /// - Complexity: O(*n*) in the nodes and bytes.
  public func checkStoredState() async throws(RestorationError) -> StoredStateReport {
    try await checkStoredState(for: delegate)
  }

  func checkStoredState(
    for delegate: (any StateDelegate)?
  ) async throws(RestorationError) -> StoredStateReport {
    let tree: StoredTree?
    do {
      tree = try await file.read()
    } catch {
      throw RestorationError(error)
    }
    let sceneCount = countedScenes
    guard let tree else {
      return StoredStateReport(isStored: false, sceneCount: sceneCount, entries: [])
    }
    var preparation = ElementPreparation(
      types: types, delegate: delegate, formerNames: tree.formerNames, trace: trace)
    var missing: Set<Int> = []
    let entries = tree.elements.enumerated().map { place, stored in
      let prepared = preparation.prepare(stored)
      var outcome = outcome(of: prepared)
      if let above = stored.parent, missing.contains(above) {
        outcome = .parentMissing(tree.elements[above].path)
      }
      if outcome.isMissing { missing.insert(place) }
      return StoredStateReport.Entry(
        kind: stored.content.kind, path: stored.path, className: stored.content.className,
        outcome: outcome, notes: notes(on: stored.content, prepared, outcome))
    }
    let unreadable = tree.unreadable.map { lost in
      StoredStateReport.Entry(
        kind: .node, path: RestorationPath(), className: "record \(lost.record)",
        outcome: .unreadable(lost.error.description))
    }
    return StoredStateReport(
      isStored: true, sceneCount: sceneCount, entries: entries + unreadable)
  }

  /// Nil if the directory cannot say, which keeps nobody from checking this state.
  private var countedScenes: Int? {
    do throws(ArchiveError) {
      return suffix.isEmpty ? try storedScenes().count : 0
    } catch {
      return nil
    }
  }

  /// The identifiers of the scenes that have files beside this state, in order.
  func storedScenes() throws(ArchiveError) -> [String] {
    let prefix = claim.lookedAt + StateClaim.sceneSuffix(of: "")
    return try directory.names().sorted()
      .filter { $0.hasPrefix(prefix) && !$0.hasSuffix(StateClaim.launchSuffix) }
      .map { String($0.dropFirst(prefix.count)) }
  }

  private func outcome(of prepared: PreparedElement) -> StoredStateReport.NodeOutcome {
    switch prepared.version {
    case .newer(let stored, let known): return .newerVersion(stored: stored, known: known)
    case .failed(let version, let error): return .migrationFailed(from: version, error)
    case .current, .migrated: break
    }
    if let name = prepared.element.content.restorationClassName {
      switch types.restorationClass(named: name) {
      case .found: break
      case .notAFactory: return .notARestorationClass(name)
      case .unknown: return .unknownRestorationClass(name)
      }
    }
    return .restorable
  }

  private func notes(
    on stored: NodeRecord, _ prepared: PreparedElement, _ outcome: StoredStateReport.NodeOutcome
  ) -> [ReportNote] {
    var notes: [ReportNote] = []
    let className = prepared.element.content.className
    if className != stored.className { notes.append(.renamed(to: className)) }
    switch outcome {
    // The outcome says the version.
    case .newerVersion: break
    case .restorable where prepared.migratedFrom != nil:
      notes.append(.migrated(from: stored.version))
    default:
      if stored.version != 1 { notes.append(.version(stored.version)) }
    }
    if let date = stored.keptSince { notes.append(.keptSince(date)) }
    return notes
  }
}
