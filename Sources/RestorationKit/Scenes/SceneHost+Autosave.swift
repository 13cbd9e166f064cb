extension SceneHost {
  /// A sequence with an element for each change of a scene that the host hears of; changes
  /// that come before an element is taken count as one.
  ///
  /// The sequence ends with ``close()``. ``autosave(every:polling:clock:isolation:told:)`` saves
  /// whenever an element comes.
  public var needsSaveChanges: AsyncStream<Void> { signal.changes }

  /// Saves scenes whenever they have changed, and the list of them, until ``close()``; begin it
  /// after ``launch(asSession:)``.
  ///
  ///     host.autosave()
  ///
  /// A host whose keeper came from ``Restoration/begin(_:version:signals:roots:prepare:)`` or
  /// ``Restoration/beginNow(_:version:signals:within:roots:prepare:)`` does so by itself from its
  /// launch on. Call the method there for other times, or to be told.
  ///
  /// A scene is saved once after it has connected. From then on the autosave hears of changes of
  /// nodes that say when they change, and asks the others every 2 seconds whether they have
  /// changed; for that it asks ``SceneDelegate/restorationRoots(for:)``. For what a scene stores
  /// besides, set ``RestorableScene/needsSave``. Call ``Autosave/flush(within:)`` or
  /// ``terminate(closingScenes:)`` where the app ends, or what has changed since then is lost. The
  /// host keeps the autosave until ``close()`` or ``terminate(closingScenes:)``, and a second one
  /// replaces the first.
  ///
  /// - Parameters:
  ///   - interval: The shortest time between the end of a save that stored something and the
  ///     next save.
  ///   - polling: The time after which objects with ``StateTracking/always`` are asked, by the
  ///     clock, with a quarter of that as its tolerance; nil if only a flush and the end are to
  ///     ask them.
  ///   - clock: Measures the interval, the time between polls and that which a flush may take.
  ///   - isolation: The actor of the host.
  ///   - told: Called for each save that stored something, and once for a problem, however
  ///     often that comes in a row. It is kept until the autosave ends, so let it hold
  ///     nothing that holds the host.
  /// - Returns: The autosave, to flush or to stop it.
  @discardableResult
  public func autosave(
    every interval: Duration = .milliseconds(250), polling: Duration? = .seconds(2),
    clock: any Clock<Duration> = ContinuousClock(), isolation: isolated any Actor = #isolation,
    told: @escaping (Autosave.Event) -> Void = { _ in }
  ) -> Autosave {
    beginAutosave(
      every: interval, polling: polling, clock: clock, isolation: isolation, told: told)
  }

  @discardableResult
  func beginAutosave(
    every interval: Duration = .milliseconds(250), polling: Duration? = .seconds(2),
    clock: any Clock<Duration> = ContinuousClock(), isolation: isolated (any Actor)?,
    told: @escaping (Autosave.Event) -> Void = { _ in }
  ) -> Autosave {
    // A flush asks as a poll does, also where there are none.
    keeper.engine.settings.isPolled = true
    let held = HeldAutosave(
      AutosaveTurns(signal, interval: interval, polling: polling, clock: clock))
    autosave = held
    if !keeper.endSignals.isEmpty { held.turns.flushOnSignals(keeper.endSignals) }
    return Autosave(of: self, held, isolation: isolation, told: told) { host in
      // A flush must not wait for the next poll.
      _ = host.findsChange()
      do throws(RestorationError) {
        let reports = try await host.saveChangedScenes(byItself: true)
        if let failure = host.listFailure { throw failure }
        return Autosave.Event(Array(reports.values))
      } catch {
        return .failed(error)
      }
    } isPolled: { host in
      host.connectedScenes.contains { $0.session.isRestorable && $0.engine.isPolled }
    } isComplete: { host in
      host.isComplete
    } findsChange: { host in
      host.findsChange()
    }
  }

  /// Whether the last saves of the scenes have stored all that the app has of them.
  var isComplete: Bool { connectedScenes.allSatisfy(\.engine.isComplete) }

  /// Marks the scenes with a change that nobody told; false if there are none.
  func findsChange() -> Bool {
    var hasChanged = false
    for scene in connectedScenes where findsChange(in: scene) { hasChanged = true }
    return hasChanged
  }

  /// Marks a scene with a change that nobody told; false if there is none.
  func findsChange(in scene: RestorableScene) -> Bool {
    guard scene.session.isRestorable, let delegate = scene.delegate else { return false }
    let roots = { scene.engine.checked(delegate.restorationRoots(for: scene)) }
    // A save would take the place of what the next launch may be able to read.
    if scene.engine.hasFailedUnheard { scene.engine.hear(roots()) }
    // While another call is under way nobody can be asked; the save waits for its turn.
    guard scene.engine.turns.running != nil || scene.engine.findsChange(below: roots) else {
      return false
    }
    scene.keepNeedingSave()
    return true
  }
}
