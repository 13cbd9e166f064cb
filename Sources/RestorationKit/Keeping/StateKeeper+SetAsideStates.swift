extension StateKeeper {
  /// Lists the states that were set aside and are still there, oldest first.
  ///
  /// A state is set aside when restoring it crashed too often. A save sets aside a
  /// stored state that was not read in this launch, or cannot be read whole, or of
  /// which the app could not decode all. The reports of that launch say so, too.
  ///
  /// Before the first restore or save of the keeper, the list is about the name
  /// that the keeper was made with; afterwards it is about ``stateName``.
  ///
  /// - Returns: The states that were set aside; none if the directory cannot tell.
  /// - Throws: ``RestorationError`` with `archive` if they cannot be listed.
  /// - Complexity: O(*n*) in what is stored beside the state.
  public func setAsideStates() async throws(RestorationError) -> [SetAsideState] {
    try await engine.setAsideStates()
  }

  /// Lists the older generations of the state, newest first.
  ///
  /// Saves have replaced the generations, and keep as many as ``StatePolicy/generationBound`` says.
  /// If the state cannot be read, a restore takes the newest generation that can be.
  /// After ``putBack(_:)-(SetAsideState)`` a generation is restored instead of the state.
  ///
  /// - Returns: The generations of the state that ``setAsideStates()`` is about; none if
  ///   the directory keeps none.
  /// - Throws: ``RestorationError`` with `archive` if they cannot be listed.
  /// - Complexity: O(*n*) in what is stored beside the state.
  public func generations() async throws(RestorationError) -> [SetAsideState] {
    try await engine.generations()
  }

  /// Puts a state that was set aside back in its place, to be restored.
  ///
  /// The next ``restore(into:)`` brings the state back. Restore at once, or at the next
  /// launch and save nothing before: a save would set the state aside again, since this
  /// launch has not read it. The state that is stored now is set aside. If the process
  /// ends meanwhile, both stay, and one of them is the one to be restored: in files, if the
  /// file system has hard links.
  ///
  ///     if let last = try await keeper.setAsideStates().last(where: { $0.reason != .unreadable }) {
  ///       try await keeper.putBack(last)
  ///       print(try await keeper.restore(into: [window]))
  ///     }
  ///
  /// - Parameter state: One of ``setAsideStates()`` or ``generations()``.
  /// - Throws: ``RestorationError`` with `setAsideStateMissing` if the state is gone,
  ///   and with `archive` if it cannot be read, or its key is locked; nothing is
  ///   changed then. Also with `archive` if it cannot be put back, as on a full disk, since
  ///   it is copied; each of the two states is then either stored or set aside. `inUse` if
  ///   another instance has the state.
  /// - Complexity: O(*n*) in the bytes of the state.
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
