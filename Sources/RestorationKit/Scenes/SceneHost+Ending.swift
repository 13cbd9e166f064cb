extension SceneHost {
  /// Saves the scenes that have changed and the list of them, and blocks the thread until they
  /// are stored, for toolkits that call `exit`.
  ///
  ///     host.endNow()
  ///     exit(0)
  ///
  /// Call it on the host's actor where nothing can be awaited; elsewhere call
  /// ``terminate(closingScenes:)``. As that does, it also saves what the next poll of an autosave
  /// would have found, and the next launch knows that this one did not crash. It stops the
  /// autosave. See ``StateKeeper/endNow(saving:within:isolation:)`` for how it waits.
  ///
  /// - Parameters:
  ///   - limit: How long it waits for all files and the store at most. Delegates and nodes may
  ///     take longer than that.
  ///   - isolation: The actor of the host.
  /// - Returns: Whether everything is stored. If a scene is being restored, the others are
  ///   stored, and the value is false; before ``launch(asSession:)`` nothing is.
  @discardableResult
  public func endNow(
    within limit: Duration = .seconds(2), isolation: isolated (any Actor)? = #isolation
  ) -> Bool {
    if autosave != nil { _ = findsChange() }
    autosave = nil
    guard isListRead else { return false }
    let save = BlockingSave(within: limit)
    Task.immediate {
      _ = isolation
      if !save.isOver { save.isStored = await isStored(save.calls) }
    }
    return save.end()
  }

  private func isStored(_ calls: FileCalls) async -> Bool {
    let areStored = await areScenesStored(calls)
    endsCleanly = true
    await writeList(calls)
    return areStored && listFailure == nil
  }

  private func areScenesStored(_ calls: FileCalls) async -> Bool {
    do throws(RestorationError) {
      return try await saveChangedScenes(byItself: true, calls).allSatisfy { session, report in
        report.outcome == .saved || report.outcome == .superseded || !session.isRestorable
      }
    } catch {
      return false
    }
  }
}
