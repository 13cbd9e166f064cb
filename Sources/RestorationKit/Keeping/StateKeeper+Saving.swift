extension StateKeeper {
  /// Preserves the nodes and stores what has changed of their state.
  ///
  /// The caller is held up by the walk alone; when the call returns, the state
  /// is on stable storage. On an error the state that was stored is unchanged;
  /// only with the archive error `notDurable` the new one is in its place, and a
  /// power cut may bring the old one back.
  /// Saves may overlap: each begins when the one before it is stored.
  ///
  /// The gate, the delegate's `willEncodeRestorableState` and every node are asked,
  /// but for those that say when they change and have not done so; see
  /// ``StateTracking``. Only what is stored otherwise is written, and if nothing is,
  /// nothing. The time of the save, which a restore is told, is that of the last one
  /// that wrote something. The first save of a launch, and one after a restore,
  /// asks everything.
  ///
  /// Restore first: a save replaces what was restored. One that is called while
  /// a restore runs waits for its end. Anything else that is stored is set aside
  /// and not replaced: an archive that cannot be read whole, one that nobody has
  /// read in this launch because the restore failed or was not called, and one
  /// that somebody has put there since. While the key is locked, and until a
  /// restore has succeeded after that, nothing is called or written. If another
  /// instance has the state, ``instancePolicy`` says what happens.
  ///
  /// A strict keeper asks everything, and reports what has changed and has not said
  /// so.
  ///
  /// - Parameter roots: The roots of the trees, as the windows of the app.
  /// - Returns: What happened to every node that was asked.
  /// - Throws: ``RestorationError`` with `archive` if the state cannot be
  ///   stored, `tooManyNodes`, or `strict`. A node that cannot be encoded is not
  ///   an error.
  /// - Complexity: O(*n*) in the nodes that are asked, their references and bytes.
  public func save(_ roots: [any RestorableNode]) async throws(RestorationError)
    -> PreservationReport
  {
    try await save(roots, everything: false)
  }

  /// The same, asking also all nodes that say when they change.
  ///
  /// What is stored then is what ``save(_:)`` would store if each of them had said
  /// it; a note in the report names those that had to.
  ///
  /// - Parameter roots: The roots of the trees, as the windows of the app.
  /// - Returns: What happened to every node.
  /// - Throws: As ``save(_:)``.
  /// - Complexity: O(*n*) in the nodes, references and bytes.
  public func saveEverything(_ roots: [any RestorableNode]) async throws(RestorationError)
    -> PreservationReport
  {
    try await save(roots, everything: true)
  }

  private func save(
    _ roots: [any RestorableNode], everything: Bool
  ) async throws(RestorationError) -> PreservationReport {
    engine.claim.beginUse()
    defer { engine.claim.endUse() }
    await engine.otherRestoreEnded()
    if isDelegateGone {
      try engine.throwIfStrictWithoutDelegate()
      return PreservationReport(.delegateGone)
    }
    return try await engine.save(roots, for: delegate, everything: everything)
  }
}
