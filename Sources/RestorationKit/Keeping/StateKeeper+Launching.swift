extension StateKeeper {
  /// Lets the next restore try again the elements that restores leave out after crashes.
  ///
  /// Restores try one element at a time: the next restore the first one, and a later
  /// launch the one after it. Without this call an element is tried again after 1, 2,
  /// 4, 8 and more launches, and by another version of the app. If nothing is left out,
  /// nothing changes.
  ///
  ///     try await keeper.retrySkippedNodes()
  ///     print(try await keeper.restore(into: [window]))
  ///
  /// - Throws: ``RestorationError`` with `archive` if the request cannot be noted, or
  ///   its key is locked, and `inUse` if another instance has the state.
  public func retrySkippedNodes() async throws(RestorationError) {
    try await engine.retrySkipped()
  }

  /// Lets the next launch show its usual first picture, and not the snapshot.
  ///
  /// The call counts only during a save: make it in an encoding method or in
  /// `willEncodeRestorableState`. It counts for one launch, whether that launch saves or not.
  public func ignoreSnapshotOnNextApplicationLaunch() {
    engine.wishes.ignoresSnapshot = true
  }

  /// Whether a snapshot that the app took at the last save shows what a restore
  /// will bring back, so that it may be on screen until then.
  ///
  /// Ask before the restore. Asking changes nothing.
  ///
  /// - Returns: False if nothing is stored, if the save called
  ///   ``ignoreSnapshotOnNextApplicationLaunch()``, or if the topmost screen was not
  ///   saved. Topmost is the presented node, else the selected tab, else the last
  ///   child.
  /// - Throws: ``RestorationError`` with `archive` if the state cannot be read.
  public func isSnapshotUsable() async throws(RestorationError) -> Bool {
    do {
      return try await engine.file.isSnapshotUsable()
    } catch {
      throw RestorationError(error)
    }
  }
}
