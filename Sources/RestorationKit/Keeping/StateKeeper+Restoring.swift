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
    if let reason = missingGate { return RestorationReport(.notOptedIn(reason)) }
    let tree: StoredTree?
    do {
      tree = try await file.read()
    } catch {
      throw RestorationError(error)
    }
    guard let tree else { return RestorationReport(.noArchive) }
    let start = ContinuousClock.now
    let run = RestorationRun(tree, into: roots, registry: registry, delegate: delegate)
    if let gate = delegate as? any StateRestoringGate,
      !gate.shouldRestoreSecureApplicationState(with: run.applicationCoder())
    {
      return RestorationReport(.declined)
    }
    var report = run.run()
    report.walkDuration = start.duration(to: .now)
    if isStrict, let problem = report.problems.first {
      throw RestorationError(.strict, "\(problem.path): \(problem.outcome.description)")
    }
    return report
  }
}
