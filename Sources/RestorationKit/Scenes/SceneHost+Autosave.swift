extension SceneHost {
  /// A sequence with an element for each change of a scene that the host hears of; changes
  /// that come before an element is taken count as one.
  ///
  /// The sequence ends with ``close()``. ``autosave(every:clock:isolation:told:)`` saves
  /// whenever an element comes.
  public var needsSaveChanges: AsyncStream<Void> { need.changes }

  /// Saves scenes whenever they have changed, and the list of them, until the returned
  /// autosave is let go.
  ///
  ///     autosave = host.autosave()
  ///
  /// Begin it after ``launch(asSession:)``. A scene whose nodes say when they change is
  /// saved once after it has connected; from then on the autosave hears of their changes.
  /// For a node that cannot say so, set ``Scene/needsSave``. The autosave ends with
  /// ``close()`` and ``terminate(closingScenes:)``.
  ///
  /// - Parameters:
  ///   - interval: The shortest time between the end of a save and the next save.
  ///   - clock: Measures the interval and the time that a flush may take.
  ///   - isolation: The actor of the host.
  ///   - told: Called for each save that stored something, and once for a problem, however
  ///     often that comes in a row. It is kept until the autosave ends, so let it hold
  ///     nothing that holds the autosave.
  /// - Returns: The autosave; keep it.
  public func autosave(
    every interval: Duration = .milliseconds(250),
    clock: any Clock<Duration> = ContinuousClock(), isolation: isolated any Actor = #isolation,
    told: @escaping (Autosave.Event) -> Void = { _ in }
  ) -> Autosave {
    Autosave(need, every: interval, clock: clock, isolation: isolation, told: told) {
      do throws(RestorationError) {
        let reports = try await self.saveChangedScenes()
        if let failure = self.listFailure { throw failure }
        return Autosave.Event(Array(reports.values))
      } catch {
        return .failed(error)
      }
    }
  }
}
