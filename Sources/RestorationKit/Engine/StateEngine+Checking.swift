internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension StateEngine {
  func checkStoredState(
    for delegate: (any StateDelegate)?
  ) async throws(RestorationError) -> StoredStateReport {
    let stored: (tree: StoredTree, source: RestorationReport.Source)?
    do {
      stored = try await file.read(at: settings.now())
    } catch {
      throw RestorationError(error)
    }
    return check(stored, sceneCount: await countScenes(), for: delegate)
  }

  /// Says which nodes a restore of a session would bring back.
  func checkStoredState(
    of session: SavedSession, for delegate: (any StateDelegate)?
  ) async throws(RestorationError) -> StoredStateReport {
    let stored: (tree: StoredTree, source: RestorationReport.Source)?
    do {
      stored = try await file.read(session, at: settings.now())
    } catch {
      throw RestorationError(error)
    }
    return check(stored, sceneCount: session.windows.count, for: delegate)
  }

  private func check(
    _ stored: (tree: StoredTree, source: RestorationReport.Source)?, sceneCount: Int?,
    for delegate: (any StateDelegate)?
  ) -> StoredStateReport {
    guard let (tree, source) = stored else {
      return StoredStateReport(source: nil, sceneCount: sceneCount, entries: [])
    }
    var preparation = ElementPreparation(
      types: types, delegate: delegate, formerNames: tree.formerNames, clock: clock(of: tree),
      secrets: tree.secrets)
    let prepared = preparation.prepare(tree)
    var missing: Set<Int> = []
    let entries = tree.elements.enumerated().map { place, stored in
      let names = prepared.names[Int(tree.outline.rows[place].form)]
      let reading = prepared.reading(of: place)
      var outcome = outcome(of: reading, restoredBy: names?.restorationClassName)
      if let above = stored.parent, missing.contains(above) {
        outcome = .parentMissing(tree.elements[above].path)
      }
      if outcome.isMissing { missing.insert(place) }
      return StoredStateReport.Entry(
        kind: stored.content.kind, path: stored.path, className: stored.content.className,
        outcome: outcome,
        notes: notes(on: stored.content, nowNamed: names?.className, reading, outcome)
          + (prepared.opened[place]?.notes ?? [])
          + stored.kept.map { .keptBeside(version: $0.version, since: $0.since) })
    }
    return StoredStateReport(
      source: source, sceneCount: sceneCount, entries: entries + tree.unreadable.map(entry))
  }

  private func entry(of lost: StoredTree.Unreadable) -> StoredStateReport.Entry {
    StoredStateReport.Entry(
      kind: .node, path: RestorationPath(), className: "record \(lost.record)",
      outcome: .unreadable(lost.error.description))
  }

  /// The time by which values end.
  private func clock(of tree: StoredTree) -> Date {
    let now = settings.now()
    return objects.ages.clock(at: max(now, tree.newestTime ?? now))
  }

  /// Nil if the directory cannot say, which keeps nobody from checking this state.
  private func countScenes() async -> Int? {
    do throws(ArchiveError) {
      return session == nil ? try await file.storedScenes().count : 0
    } catch {
      return nil
    }
  }

  private func outcome(
    of reading: StateReading, restoredBy restorationClassName: String?
  ) -> StoredStateReport.NodeOutcome {
    switch reading {
    case .newer(let stored, let known): return .newerVersion(stored: stored, known: known)
    case .failed(let version, let error): return .migrationFailed(from: version, error)
    case .current, .migrated: break
    }
    if let name = restorationClassName {
      switch types.restorationClass(named: name) {
      case .found: break
      case .notAFactory: return .notARestorationClass(name)
      case .unknown: return .unknownRestorationClass(name)
      }
    }
    return .restorable
  }

  private func notes(
    on stored: NodeRecord, nowNamed className: String?, _ reading: StateReading,
    _ outcome: StoredStateReport.NodeOutcome
  ) -> [ReportNote] {
    var notes: [ReportNote] = []
    if let className, className != stored.className { notes.append(.renamed(to: className)) }
    switch outcome {
    // The outcome says the version.
    case .newerVersion: break
    case .restorable where reading.migratedFrom != nil:
      notes.append(.migrated(from: stored.version))
    default:
      if stored.version != 1 { notes.append(.version(stored.version)) }
    }
    if let date = stored.keptSince { notes.append(.keptSince(date)) }
    return notes
  }
}
