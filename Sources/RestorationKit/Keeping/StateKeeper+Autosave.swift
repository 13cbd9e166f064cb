extension StateKeeper {
  /// An element whenever something has changed that saves store, as far as anybody has said
  /// so; those that come before one is taken count as one.
  ///
  /// Objects say it that a save has met and whose ``StateRestoring/stateTracking`` is not
  /// ``StateTracking/always``; so does a restore that has ended. It ends with ``close()``.
  /// ``autosave(every:clock:isolation:roots:told:)`` saves whenever one comes.
  public var needsSaveChanges: AsyncStream<Void> { engine.need.changes }

  /// Saves whenever something has changed, until what it returns is let go.
  ///
  ///     autosave = keeper.autosave { [unowned self] in [window] }
  ///
  /// Begin it after the restore. It saves once at the start, so that objects are known that
  /// say when they change; for others call ``Autosave/setNeedsSave()``. Nothing is saved
  /// before the keeper has restored, or tried to. It ends with ``close()``.
  ///
  /// - Parameters:
  ///   - interval: How long there is no other save after a save.
  ///   - clock: Measures the interval and the time that a flush may take.
  ///   - isolation: The actor of the keeper.
  ///   - roots: Gives the roots of the trees, as the windows of the app. It is kept until
  ///     the autosave ends, so let it hold nothing that holds the autosave.
  ///   - told: Told of each save that stored something, and once of a problem until that is
  ///     over or another one; kept as long.
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
