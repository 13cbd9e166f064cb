extension StateKeeper {
  /// Lists the states that were set aside and are still there, oldest first.
  ///
  /// A state is set aside when restoring it crashed too often, and when a save
  /// would replace one that nobody has read, or that cannot be read whole. The
  /// reports of that launch say so, too.
  ///
  /// Before its first restore or save these are those of the name that the keeper
  /// was made with; afterwards those of ``stateName``.
  ///
  /// - Returns: Those of this state; none if the directory cannot tell.
  /// - Throws: ``RestorationError`` with `archive` if they cannot be listed.
  /// - Complexity: O(*n*) in what is stored beside the state.
  public func setAsideStates() async throws(RestorationError) -> [SetAsideState] {
    try await engine.setAsideStates()
  }

  /// Lists the older generations of the state, newest first.
  ///
  /// They are what saves have replaced, as far as ``generationBound`` says. A restore
  /// takes the first that can be read if the state cannot be. One that is put back with
  /// ``putBack(_:)`` is restored instead of the state.
  ///
  /// - Returns: Those of the state that ``setAsideStates()`` is about; none if the
  ///   directory keeps none.
  /// - Throws: ``RestorationError`` with `archive` if they cannot be listed.
  /// - Complexity: O(*n*) in what is stored beside the state.
  public func generations() async throws(RestorationError) -> [SetAsideState] {
    try await engine.generations()
  }

  /// Puts a state that was set aside back in its place, to be restored.
  ///
  /// The next ``restore(into:)`` brings it back. Call that at once, or at the
  /// next launch and save nothing before: a save sets it aside again, as one that
  /// nobody has read. What is stored now is set aside. If the process ends in the
  /// midst of this, both stay.
  ///
  ///     if let last = try await keeper.setAsideStates().last(where: { $0.reason != .unreadable }) {
  ///       try await keeper.putBack(last)
  ///       print(try await keeper.restore(into: [window]))
  ///     }
  ///
  /// - Parameter state: One of ``setAsideStates()`` or ``generations()``.
  /// - Throws: ``RestorationError`` with `setAsideStateMissing` if it is gone, and
  ///   with `archive` if it cannot be read, or its key is locked; nothing is
  ///   changed then. Also with `archive` if it cannot be put back; whatever is
  ///   not stored then is set aside. `inUse` if another instance has the state.
  /// - Complexity: O(*n*) in its bytes.
  public func putBack(_ state: SetAsideState) async throws(RestorationError) {
    try await engine.putBack(state)
  }

  /// Removes a state that was set aside; if it is gone, that is not an error.
  ///
  /// - Parameter state: One of ``setAsideStates()``.
  /// - Throws: ``RestorationError`` with `archive` if it cannot be removed, or
  ///   `inUse`.
  public func removeSetAside(_ state: SetAsideState) async throws(RestorationError) {
    try await engine.removeSetAside(state)
  }
}
