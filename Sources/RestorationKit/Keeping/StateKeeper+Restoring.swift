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
  /// - Parameter roots: The nodes that exist already, in which nodes are found.
  /// - Returns: What happened to every node; nothing stored is not an error.
  /// - Throws: ``RestorationError`` with `archive` if the state cannot be read;
  ///   then nothing was called and the file is unchanged. With `strict` the
  ///   restore is complete.
  /// - Complexity: O(*n*) in the nodes, references and bytes.
  public func restore(into roots: [any RestorableNode] = []) async throws(RestorationError)
    -> RestorationReport
  {
    await restoreUnderWay?.end()
    let underWay = RestoreUnderWay()
    restoreUnderWay = underWay
    defer {
      restoreUnderWay = nil
      underWay.finish()
    }
    if let reason = missingGate { return RestorationReport(.notOptedIn(reason)) }
    let tree: StoredTree?
    do {
      tree = try await file.read()
    } catch {
      throw RestorationError(error)
    }
    guard let tree else { return RestorationReport(.noArchive) }
    let start = ContinuousClock.now
    let run = RestorationRun(
      tree, into: roots, registry: registry, delegate: delegate, trace: trace)
    if let gate = delegate as? any StateRestoringGate {
      run.note(.shouldRestoreApplicationState)
      guard gate.shouldRestoreSecureApplicationState(with: run.applicationCoder()) else {
        return RestorationReport(.declined)
      }
    }
    var report = run.run()
    report.walkDuration = start.duration(to: .now)
    if isStrict, let problem = report.firstProblem {
      throw RestorationError(
        .strict, "The keeper is strict, and the restore was not clean. \(problem)")
    }
    return report
  }
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
