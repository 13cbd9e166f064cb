extension StateKeeper {
  /// Preserves the nodes and stores the changes of their state.
  ///
  /// The caller waits for the walk on its actor. When the call returns, the state is
  /// on stable storage. On an error the stored state is unchanged; only with the
  /// archive error `notDurable` the new state is in its place, and a power cut may
  /// bring the old one back. Calls may overlap: a save begins when all saves, restores and
  /// other calls that were made before it have ended.
  ///
  /// A save asks the gate, the delegate's `willEncodeRestorableState` and the nodes.
  /// A node that says when it changes is asked only if it has changed; see
  /// ``StateTracking``. Records that differ from the stored ones are written. The
  /// first save of a launch, and the first one after a restore, ask all nodes. A
  /// restore is told the time of the last save that wrote something.
  ///
  /// Restore first: a save replaces the state that was restored. Any other stored archive is
  /// set aside and not replaced: one that cannot be read whole, one that was not read
  /// in this launch because the restore failed or was not called, and one that another
  /// program has put there since. While the key is locked, and until a later restore
  /// has succeeded, nothing is called or written. If another instance has the state,
  /// ``StatePolicy/instances`` says what happens.
  ///
  /// - Parameter roots: The roots of the trees, as the windows of the app.
  /// - Returns: What happened to every node that was asked.
  /// - Throws: ``RestorationError`` with `archive` if the state cannot be
  ///   stored, or `tooManyNodes`. A node that cannot be encoded is not
  ///   an error.
  /// - Complexity: O(*n*) in the nodes that are asked, their references and bytes.
  public func save(_ roots: [any RestorableNode]) async throws(RestorationError)
    -> PreservationReport
  {
    try await save(roots, byItself: false)
  }

  /// Saves like ``save(_:)``, and asks all nodes, also those that say when they change.
  ///
  /// A node that has changed without saying so is stored, too, and its entry has
  /// the note ``ReportNote/notInvalidated``.
  ///
  /// - Parameter roots: The roots of the trees, as the windows of the app.
  /// - Returns: What happened to every node.
  /// - Throws: As ``save(_:)``.
  /// - Complexity: O(*n*) in the nodes, references and bytes.
  public func saveEverything(_ roots: [any RestorableNode]) async throws(RestorationError)
    -> PreservationReport
  {
    try await save(roots, everything: true, byItself: false)
  }

  /// Saves for the app or for its autosave; the engine is told which.
  func save(
    _ roots: [any RestorableNode], everything: Bool = false, byItself: Bool
  ) async throws(RestorationError) -> PreservationReport {
    try await engine.telling(byItself: byItself) { () async throws(RestorationError) in
      // From the save's turn on the delegate is there, although the keeper does not keep it alive.
      var delegate: (any StateDelegate)?
      return try await engine.save(everything: everything) {
        delegate = self.delegate
        return isDelegateGone ? PreservationReport(.delegateGone) : nil
      } with: {
        SaveParticipants(roots: roots, delegate: delegate)
      }
    }
  }
}
