extension StateKeeper {
  /// Preserves the nodes and stores their state.
  ///
  /// The caller is held up by the walk alone; when the call returns, the state
  /// is on stable storage. On an error the state that was stored is unchanged;
  /// only with the archive error `notDurable` the new one is in its place, and a
  /// power cut may bring the old one back.
  /// Saves may overlap: the one that walked last is the one that stays.
  ///
  /// Restore first: a save replaces what was restored. One that is called while
  /// a restore runs waits for its end. Anything else that is stored is set aside
  /// and not replaced: an archive that cannot be read whole, one that nobody has
  /// read in this launch because the restore failed or was not called, and one
  /// that somebody has put there since. While the key is locked, and until a
  /// restore has succeeded after that, nothing is called or written. If another
  /// instance has the state, ``instancePolicy`` says what happens.
  ///
  /// - Parameter roots: The roots of the trees, as the windows of the app.
  /// - Returns: What happened to every node.
  /// - Throws: ``RestorationError`` with `archive` if the state cannot be
  ///   stored, `tooManyNodes`, or `strict`. A node that cannot be encoded is not
  ///   an error.
  /// - Complexity: O(*n*) in the nodes, references and bytes.
  public func save(_ roots: [any RestorableNode]) async throws(RestorationError)
    -> PreservationReport
  {
    engine.claim.beginUse()
    defer { engine.claim.endUse() }
    await engine.otherRestoreEnded()
    if isDelegateGone {
      try engine.throwIfStrictWithoutDelegate()
      return PreservationReport(.delegateGone)
    }
    return try await engine.save(roots, for: delegate)
  }
}
