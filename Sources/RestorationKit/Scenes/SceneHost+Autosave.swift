extension SceneHost {
  /// An element whenever something of a scene has changed, as far as anybody has said so;
  /// those that come before one is taken count as one.
  ///
  /// It ends with ``close()``. ``autosave(every:clock:isolation:told:)`` saves whenever one
  /// comes.
  public var needsSaveChanges: AsyncStream<Void> { need.changes }

  /// Saves the scenes that have changed whenever one has, and the list of them, until what
  /// it returns is let go.
  ///
  ///     autosave = host.autosave()
  ///
  /// Begin it after ``launch(asSession:)``. Where nodes say when they change, it saves each
  /// scene once that was not saved since it connected, so that its nodes are heard. For a
  /// node that cannot say so, set ``Scene/needsSave``. It ends with ``close()`` and
  /// ``terminate(closingScenes:)``.
  ///
  /// - Parameters:
  ///   - interval: How long there is no other save after a save.
  ///   - clock: Measures the interval and the time that a flush may take.
  ///   - isolation: The actor of the host.
  ///   - told: Told of each save that stored something, and once of a problem until that is
  ///     over or another one. It is kept until the autosave ends, so let it hold nothing
  ///     that holds the autosave.
  /// - Returns: The autosave; keep it.
  public func autosave(
    every interval: Duration = .milliseconds(250),
    clock: any Clock<Duration> = ContinuousClock(), isolation: isolated any Actor = #isolation,
    told: @escaping (Autosave.Event) -> Void = { _ in }
  ) -> Autosave {
    Autosave(need, every: interval, clock: clock, isolation: isolation, told: told) {
      for scene in self.connectedScenes
      where scene.session.isRestorable && scene.engine.mayHaveUnheard { scene.keepNeedingSave() }
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
