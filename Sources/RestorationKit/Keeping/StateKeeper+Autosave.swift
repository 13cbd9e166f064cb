extension StateKeeper {
  /// A sequence with an element for each change that the keeper hears of; changes that come
  /// before an element is taken count as one.
  ///
  /// The keeper hears of changes of objects that a save has met, unless their
  /// ``StateRestoring/stateTracking`` is ``StateTracking/always``. The end of a restore
  /// counts as a change, too. The sequence ends with ``close()``.
  /// ``autosave(every:clock:isolation:roots:told:)`` saves whenever an element comes.
  public var needsSaveChanges: AsyncStream<Void> { engine.need.changes }

  /// Saves whenever something has changed, until the returned autosave is let go.
  ///
  ///     autosave = keeper.autosave { [unowned self] in [window] }
  ///
  /// Begin it after the restore. It saves once at the start, and from then on hears of
  /// changes of the objects that say when they change. For all others call
  /// ``Autosave/setNeedsSave()``. Nothing is saved before the keeper has restored, or tried
  /// to. The autosave ends with ``close()``.
  ///
  /// - Parameters:
  ///   - interval: The shortest time between the end of a save and the next save.
  ///   - clock: Measures the interval and the time that a flush may take.
  ///   - isolation: The actor of the keeper.
  ///   - roots: Gives the roots of the trees, such as the windows of the app. It is kept
  ///     until the autosave ends, so let it hold nothing that holds the autosave.
  ///   - told: Called for each save that stored something, and once for a problem, however
  ///     often that comes in a row. It is kept as long as `roots`.
  /// - Returns: The autosave; keep it.
  public func autosave(
    every interval: Duration = .milliseconds(250),
    clock: any Clock<Duration> = ContinuousClock(), isolation: isolated any Actor = #isolation,
    roots: @escaping () -> [any RestorableNode],
    told: @escaping (Autosave.Event) -> Void = { _ in }
  ) -> Autosave {
    Autosave(engine.need, every: interval, clock: clock, isolation: isolation, told: told) {
      guard self.engine.hasTriedToRestore else { return .withheld([]) }
      do throws(RestorationError) {
        return Autosave.Event([try await self.save(roots())])
      } catch {
        return .failed(error)
      }
    }
  }
}
