internal import ArchiveCodec

extension StateKeeper {
  /// Brings back the state that was saved last.
  ///
  /// Call it once at launch, when the interface that is always there exists
  /// and before the user sees it. The archive is read and verified whole
  /// before anything is restored from it, and stays until the next save.
  ///
  /// The order of calls: the restore gate; every node is made or found,
  /// parents first; views are loaded; every node is decoded, parents first;
  /// the delegate's `didDecodeRestorableState`; and
  /// `applicationFinishedRestoringState` on every restored node.
  ///
  /// If the key is locked, nothing is called, and nothing is saved until a
  /// restore succeeds. If restoring crashed too often, the state is set aside;
  /// see ``crashThreshold``. If another instance of the app has the state,
  /// ``instancePolicy`` says what happens. Where nothing can be written, so that
  /// nobody can say that the state is theirs, it is restored all the same.
  ///
  /// - Parameter roots: The nodes that exist already, in which nodes are found.
  /// - Returns: What happened to every node; nothing stored is not an error.
  /// - Throws: ``RestorationError`` with `archive` if the state cannot be read;
  ///   then nothing was called and the file is unchanged. With `strict` the
  ///   restore is complete.
  /// - Complexity: O(*n*) in the nodes, references and bytes.
  public func restore(into roots: [any RestorableNode] = []) async throws(RestorationError)
    -> RestorationReport
  {
    claim.beginUse()
    defer { claim.endUse() }
    await otherRestoreEnded()
    if isDelegateGone {
      try throwIfStrictWithoutDelegate()
      return RestorationReport(.delegateGone)
    }
    return try await restore { _ in RestorationParticipants(roots: roots, delegate: delegate) }
  }

  /// Brings back the state with those who are named when it has been read.
  ///
  /// They are given what is stored. Nil restores nothing. What a host calls then
  /// is a part of the restore: a crash in it is counted.
  func restore(
    then: (RestorationReport) -> Void = { _ in },
    with participants: (StoredTree) -> RestorationParticipants?
  ) async throws(RestorationError) -> RestorationReport {
    claim.beginUse()
    await otherRestoreEnded()
    hasTriedToRestore = true
    let underWay = RestoreUnderWay()
    restoreUnderWay = underWay
    defer {
      claim.endUse()
      restoreUnderWay = nil
      underWay.finish()
    }
    restorationExtension.beginRestore()
    var window: UInt64?
    let result: Result<RestorationReport, RestorationError>
    do throws(RestorationError) {
      result = .success(try await restore(with: participants, &window))
    } catch {
      result = .failure(error)
    }
    if window != nil, case .success(let report) = result { then(report) }
    await endRestore(window)
    switch result {
    case .success(var report):
      report.launchProblem = await file.launchProblem
      report.stateName = stateName
      report.otherInstances = otherInstances
      lastStatus = Status(after: report.outcome)
      return report
    case .failure(let error):
      lastStatus = error.code == .strict ? .active : .failed(error.description)
      throw error
    }
  }

  /// Waits until no restore is under way.
  func otherRestoreEnded() async {
    while let underWay = restoreUnderWay { await underWay.end() }
  }

  private func restore(
    with participants: (StoredTree) -> RestorationParticipants?, _ window: inout UInt64?
  ) async throws(RestorationError) -> RestorationReport {
    let found: StateFile.Found
    do {
      found = try await file.beginRestore(crashThreshold: crashThreshold, settingAside)
    } catch {
      if error.code == .keyLocked {
        isLocked = true
        return RestorationReport(.locked)
      }
      // The key was there, so a save can set aside what is in its way.
      if error.isAboutContent { isLocked = false }
      throw .notRestored(error)
    }
    isLocked = false
    switch found {
    case .inUse(let process): return RestorationReport(.inUse(by: process))
    case .nothing: return RestorationReport(.noArchive)
    case .crashed(let location): return RestorationReport(.crashed(setAsideAt: location))
    case .state(let tree, let usesSnapshot, let begun):
      window = begun
      var report = try restore(tree, with: participants)
      report.usesSnapshot = usesSnapshot && report.outcome == .restored
      return report
    }
  }

  /// All that is called in the app, in one go.
  private func restore(
    _ tree: StoredTree, with participants: (StoredTree) -> RestorationParticipants?
  ) throws(RestorationError) -> RestorationReport {
    let start = ContinuousClock.now
    guard let participants = participants(tree) else { return RestorationReport(.declined) }
    let run = RestorationRun(
      tree, types: types, objects: objects, delegate: participants.delegate, now: now(),
      trace: trace)
    run.roots = participants.roots
    if let delegate = participants.delegate {
      run.note(.shouldRestoreApplicationState)
      guard delegate.shouldRestoreApplicationState(with: run.applicationCoder) else {
        return RestorationReport(.declined)
      }
    }
    var report = run.run()
    report.walkDuration = start.duration(to: .now)
    try throwIfStrict(run)
    return report
  }

  func throwIfStrict(_ run: RestorationRun) throws(RestorationError) {
    guard isStrict, let problem = run.firstProblem else { return }
    throw RestorationError(
      .strict, "The keeper is strict: the restore is complete, but not clean. \(problem)")
  }

  func throwIfStrictWithoutDelegate() throws(RestorationError) {
    guard isStrict else { return }
    throw RestorationError(.strict, "The keeper is strict. \(Status.delegateGone)")
  }

  /// Takes the mark of the restore away, now or when what it announced is done.
  private func endRestore(_ window: UInt64?) async {
    guard let window else { return await restorationExtension.endRestore(nil) }
    // What is kept stays stored until a save has written it back.
    let consuming = consumesStateOnLaunch && objects.kept == nil
    await restorationExtension.endRestore { [file] in
      await file.endRestore(window: window, consuming: consuming)
    }
  }
}

/// Who takes part in a restore.
struct RestorationParticipants {
  let roots: [any RestorableNode]
  let delegate: (any StateDelegate)?
}

/// A restore that has begun, for those who wait for its end.
///
/// It belongs to the keeper's actor, as all that uses it does.
final class RestoreUnderWay {
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private var isFinished = false

  func end() async {
    guard !isFinished else { return }
    await withCheckedContinuation { waiting.append($0) }
  }

  func finish() {
    isFinished = true
    for continuation in waiting { continuation.resume() }
    waiting = []
  }
}
