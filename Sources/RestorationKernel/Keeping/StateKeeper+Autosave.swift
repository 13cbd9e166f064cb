extension StateKeeper {
  /// A sequence with an element for each change that the keeper hears of; changes that come
  /// before an element is taken count as one.
  ///
  /// The keeper hears of changes of objects that a save has met, unless their
  /// ``StateRestoring/stateTracking`` is ``StateTracking/always``. The end of a restore
  /// counts as a change, too. Changes that only the timer of an autosave finds make no
  /// element. The sequence ends with ``close()``.
  /// ``autosave(every:polling:clock:isolation:roots:told:)`` saves whenever an element
  /// comes.
  public var needsSaveChanges: AsyncStream<Void> { engine.signal.changes }

  /// Saves whenever something has changed, until ``close()``; begin it after the restore.
  ///
  ///     keeper.autosave { [window] }
  ///
  /// The autosave saves once at the start, and from then on hears of changes of the
  /// objects that say when they change. While there are others, it saves every 2 seconds, which
  /// writes nothing where nothing has changed. Call ``Autosave/flush(within:)`` where the app ends, or the changes
  /// since the last save are lost. Nothing is saved before the keeper has restored, or
  /// tried to. The keeper keeps the autosave, and a second one replaces the first.
  ///
  /// - Parameters:
  ///   - interval: The shortest time between the end of a save that stored something and the
  ///     next save.
  ///   - polling: The time after which objects with ``StateTracking/always`` are asked,
  ///     by the clock, with a quarter of that time as its tolerance; nil for no timer.
  ///   - clock: Measures the interval, the time between saves and the limit of a flush.
  ///   - isolation: The actor of the keeper.
  ///   - roots: Gives the roots of the trees, such as the windows of the app. The closure is kept until the autosave ends, so let it hold
  ///     nothing that holds the keeper.
  ///   - told: Called for each save that stored something, and once for a problem,
  ///     however often the problem comes in a row. The closure is kept as long as
  ///     `roots`.
  /// - Returns: The autosave, to flush or to stop it.
  @discardableResult
  public func autosave(
    every interval: Duration = .milliseconds(250), polling: Duration? = .seconds(2),
    clock: any Clock<Duration> = ContinuousClock(), isolation: isolated any Actor = #isolation,
    roots: @escaping () -> [any RestorableNode],
    told: @escaping (Autosave.Event) -> Void = { _ in }
  ) -> Autosave {
    let held = HeldAutosave(
      AutosaveTurns(engine.signal, interval: interval, polling: polling, clock: clock), roots: roots
    )
    autosave = held
    if !endSignals.isEmpty { held.turns.flushOnSignals(endSignals) }
    return Autosave(of: self, held, isolation: isolation, told: told)
  }

  /// Saves for the autosave, but not before a restore.
  func saveByItself(_ roots: () -> [any RestorableNode]) async -> Autosave.Event {
    guard engine.findings.hasTriedToRestore else { return .withheld([]) }
    do throws(RestorationError) {
      try await engine.restoreUnread { participants(roots()) }
      let report = try await engine.save(byItself: true) { participants(roots()) }
      return report.outcome == .saved ? .saved([report]) : .withheld([report])
    } catch {
      return .failed(error)
    }
  }
}
