internal import ArchiveCodec

extension SceneHost {
  /// Starts an app with windows: those of the last launch come back, or a first one opens.
  ///
  ///     let host = SceneHost(try StateKeeper(application: "org.example.notes"))
  ///     print(try await host.start(SceneConfiguration { NoteWindow() }))
  ///
  /// The method takes four steps, which an app can take one by one instead: ``register(_:)`` and
  /// ``declaredActivityTypes``, ``launch()``, ``restoreScenes()``, and
  /// ``open(_:configurationName:activity:)`` if no scene is connected then. Set the
  /// ``delegate`` and the ``closedSceneCount`` before.
  ///
  /// What cannot be read does not end the app: that is among the ``SceneStart/problems``, and
  /// a scene is there all the same.
  ///
  /// - Parameters:
  ///   - configurations: How scenes are made; they are registered besides those that are.
  ///   - activityTypes: The types of activities that are stored, besides those that are
  ///     declared.
  /// - Returns: What is back, and what is not.
  /// - Throws: ``RestorationError`` with `inUse` if another instance of the app has the
  ///   scenes and ``StatePolicy/isSingleInstance`` is true; then no scene is connected.
  ///   With `noConfiguration` or `noDelegate` no scene came back, and the first one could
  ///   not be made.
  @discardableResult
  public func start(
    _ configurations: SceneConfiguration..., declaring activityTypes: Set<String> = []
  ) async throws(RestorationError) -> SceneStart {
    for configuration in configurations { register(configuration) }
    declaredActivityTypes.formUnion(activityTypes)
    var start = SceneStart()
    do throws(RestorationError) {
      if let flaw = try await launch()?.flaw { start.note(flaw) }
    } catch {
      guard error.code != .inUse else { throw error }
      start.note(error.description)
    }
    for error in unreadSessions.values { start.note(error.description) }
    let failures = await restoreScenes()
    for session in openSessions {
      if let scene = session.scene {
        start.restoredScenes.append(scene)
        start.noteProblem(of: scene)
      } else if let failure = failures[session] {
        start.note(failure.description, session)
      }
    }
    if connectedScenes.isEmpty {
      let scene = try await open()
      start.openedScene = scene
      // The launch may have said it.
      if !start.problems.contains(where: { $0.session == nil }) { start.noteProblem(of: scene) }
    }
    return start
  }

  /// Saves whenever something of a window has changed, until ``close()`` or ``terminate(closingScenes:)``; begin it
  /// after the launch.
  ///
  ///     host.autosave()
  ///
  /// The keeper has one autosave, which saves the windows as well: a host whose keeper came from ``Restoration``
  /// needs no other. This one takes its place, and goes on with its roots. Without roots it saves windows alone.
  ///
  /// - Parameters:
  ///   - interval: The shortest time between the end of a save that stored something and the
  ///     next save.
  ///   - polling: The time after which objects with ``StateTracking/always`` are asked; nil for no timer.
  ///   - clock: Measures the interval, the time between saves and the limit of a flush.
  ///   - isolation: The actor of the host.
  ///   - told: Called for each save that stored something, and once for a problem. The closure is kept, so let it
  ///     hold nothing that holds the host.
  /// - Returns: The autosave, to flush or to stop it.
  @discardableResult
  public func autosave(
    every interval: Duration = .milliseconds(250), polling: Duration? = .seconds(2),
    clock: any Clock<Duration> = ContinuousClock(), isolation: isolated any Actor = #isolation,
    told: @escaping (Result<PreservationReport, RestorationError>) -> Void = { _ in }
  ) -> Autosave {
    keeper.autosave(
      every: interval, polling: polling, clock: clock, isolation: isolation,
      roots: keeper.autosave?.roots ?? { nil }, told: told)
  }

  /// Ends the app properly: all windows are saved, the next launch knows that this one did not crash, and
  /// other instances can have the state.
  ///
  /// - Parameter closingScenes: Whether all windows are discarded instead, also closed ones, for
  ///   users who do not want windows to come back.
  /// - Throws: As a save of the keeper, or as ``discard(_:)-([SceneSession])``, when all is done.
  public func terminate(closingScenes: Bool = false) async throws(RestorationError) {
    let result = await Result { () async throws(RestorationError) in
      if closingScenes {
        try await discard(openSessions + closedSessions)
      } else {
        let report = try await keeper.save(byItself: true) {
          keeper.parts(keeper.autosave?.roots())
        }
        guard report.outcome == .saved else { throw .notSaved(report.outcome) }
      }
    }
    try? await keeper.inFile { (queue) throws(ArchiveError) in try queue.file.noteEnd() }
    await close()
    try result.get()
  }

  /// Saves all windows, and blocks the thread until they are stored, for toolkits that call `exit`.
  ///
  ///     host.endNow()
  ///     exit(0)
  ///
  /// Call it on the host's actor where nothing can be awaited; elsewhere call ``terminate(closingScenes:)``.
  /// See ``StateKeeper/endNow(saving:within:isolation:)``.
  ///
  /// - Parameters:
  ///   - limit: How long the call waits for the file at most. Delegates and nodes may take longer than that.
  ///   - isolation: The actor of the host.
  /// - Returns: Whether everything is stored.
  @discardableResult
  public func endNow(
    within limit: Duration = .seconds(2), isolation: isolated (any Actor)? = #isolation
  ) -> Bool {
    keeper.endNow(within: limit, isolation: isolation)
  }

  /// Lets the state and all windows go, so that another instance of the app can have them.
  public func close() async { await keeper.close() }

  /// Makes an older state the stored one again, with its windows.
  ///
  /// Windows that are connected are saved and disconnected before; the state that is stored then becomes
  /// a moment. After the call ``openSessions`` are those of the older state: ``restoreScenes()`` connects them.
  ///
  /// - Parameter moment: One of ``StateKeeper/history()``.
  /// - Throws: ``RestorationError`` as ``disconnect(_:)``, ``StateKeeper/putBack(_:)`` and ``launch()``.
  public func putBack(_ moment: Moment) async throws(RestorationError) {
    keeper.policy.spared = moment
    defer { keeper.policy.spared = nil }
    for scene in connectedScenes { _ = try await disconnect(scene) }
    try await keeper.putBack(moment)
    try await launch()
  }
}

extension RestorationReport {
  /// Why the restored state is not the last one, or not the whole of it; nil if it is.
  var flaw: String? {
    // Apps show it to people.
    if outcome == .locked { return RestorationError(.keyLocked()).description }
    return said.isEmpty ? nil : said.joined(separator: " ")
  }
}
