extension SceneHost {
  /// Ends the app properly: scenes that have changed are saved, also those of which only the
  /// next poll of an autosave would have found it, the next launch knows that
  /// this one did not crash, and other instances can have the scenes.
  ///
  /// - Parameter closingScenes: Whether all scenes are discarded, also closed ones, for
  ///   users who do not want windows to come back.
  /// - Throws: As ``saveChangedScenes()`` or ``close(_:)``, when all is done. With `conflict`
  ///   another machine has saved a scene, too: `remoteStatus(of:)` says of which. Decide
  ///   with `resolveConflict(of:keeping:)` of RestorationSharing, and call ``close()`` after that.
  public func terminate(closingScenes: Bool = false) async throws(RestorationError) {
    var failure: RestorationError?
    do throws(RestorationError) {
      if closingScenes {
        try await discard(openSessions + closedSessions)
      } else {
        if autosave != nil { _ = findsChange() }
        for case .refused(let refusal) in try await saveChangedScenes().values.map(\.outcome) {
          throw RestorationError.refused(refusal)
        }
      }
    } catch {
      failure = error
    }
    list.endsCleanly = true
    await writeList()
    await close()
    if let failure = failure ?? listFailure { throw failure }
  }

  /// Waits for restores and saves that are under way, and lets the state and all scenes
  /// go, so that another instance of the app can have them.
  ///
  /// ``terminate(closingScenes:)`` does this at its end; see ``StateKeeper/close()``.
  public func close() async {
    signal.tell(.ended)
    autosave = nil
    await keeper.engine.claim.isUnused()
    for row in sessions.rows {
      await row.engine.file.release()
      await row.engine.file.close()
    }
    await list.close()
    await keeper.close()
  }

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
    // The end of the autosave lets the signals go, so it comes after the save.
    defer { autosave = nil }
    guard ownsSessions else { return false }
    let calls = FileCalls.blocking(until: .now + limit.bounded)
    return Blocking.run { await isStored(calls) } ?? false
  }

  private func isStored(_ calls: FileCalls) async -> Bool {
    let areStored: Bool
    do throws(RestorationError) {
      areStored = try await saveChangedScenes(byItself: true, calls).allSatisfy { session, report in
        [.saved, .disconnected].contains(report.outcome) || !session.isRestorable
      }
    } catch {
      areStored = false
    }
    list.endsCleanly = true
    await writeList(calls)
    return areStored && isComplete && listFailure == nil
  }
}
