/// Saves changes soon after they happen; call ``flush(within:)`` where the app ends, or
/// the last changes are lost.
///
/// Where the end cannot wait for a task, call
/// ``StateKeeper/endNow(saving:within:isolation:)`` instead.
///
/// ``StateKeeper/autosave(every:polling:clock:isolation:roots:told:)`` begins an autosave.
///
/// The first change that a node announces is saved at once. An interval begins when a
/// save has stored something or has failed, and the changes during the interval are
/// saved together at its end. A save that had nothing to store begins no interval,
/// unless something has changed during the save. One save is under way at a time.
///
/// Nodes, views and objects with ``StateTracking/always``, the default, do not say when
/// they change. As soon as the keeper has met one of them, a save asks them every 2 seconds,
/// unless another time is given. A save that finds nothing writes nothing and is not told. Call
/// ``setNeedsSave()`` for a change that must not wait for that. There is no timer while all
/// objects say when they change, nor while the state is not restored yet, locked, in use
/// elsewhere or declined, nor after a save that failed: a save that succeeds begins the timer
/// again, also one that the app has called.
///
/// A save that the disk refuses is tried again after the interval, at least 250 ms,
/// then after twice as long, up to 30 s. Any other save that stores nothing is tried
/// again with the next change: if a key is locked, another instance has the state, or
/// the delegate declines. Call ``setNeedsSave()`` then. After a save of the app that stores nothing, the
/// autosave tries at once, and goes on as after a save of its own. A delegate that is set counts as a
/// change. ``StateKeeper/discardState()`` cancels a save that was due.
///
/// The keeper keeps its autosave until ``stop()`` or its own `close()`; a second autosave
/// replaces the first. An app that keeps the autosave keeps the keeper, too. The end of an
/// autosave saves nothing. Until then the autosave keeps alive all that its closures hold. It
/// may be used on any thread, and saves on the actor that began it.
public final class Autosave: Sendable {
  private let turns: AutosaveTurns

  fileprivate init(_ turns: AutosaveTurns) { self.turns = turns }

  /// Only the keeper still keeps the autosave.
  deinit { turns.wake() }

  /// Whether a change that the autosave knows of is not stored yet.
  public var needsSave: Bool { turns.needsSave }

  /// Says that something has changed, so that it is saved soon.
  ///
  /// Call the method for changes that the autosave cannot know of: values that a delegate
  /// encodes. Call it also for a node with ``StateTracking/always`` that must not wait for the
  /// timer. The autosave knows by itself of ``StateRestoring/invalidateRestorableState()``, and
  /// of properties of nodes with ``StateTracking/observed``.
  ///
  /// - Complexity: O(1).
  public func setNeedsSave() { turns.change() }

  /// Saves now, and waits until everything that changed before the call is stored.
  ///
  /// The save also asks nodes that cannot say that they have changed. It does not wait
  /// for the interval, but for a save that is under way. If the save fails, it is not
  /// tried again before the call returns. Cancelling the task does not end the wait.
  ///
  /// - Parameter limit: How long the call waits at most. A save that takes longer goes
  ///   on.
  /// - Returns: Whether all is stored; false as well when the autosave has ended, when the
  ///   state is discarded before the save begins, or when something of the app cannot be
  ///   stored: the save's report says what.
  @discardableResult
  public func flush(within limit: Duration = .seconds(5)) async -> Bool {
    await turns.flush(within: limit)
  }

  /// Stores unsaved changes before a signal ends the process.
  ///
  /// When one of the signals comes, all autosaves that were asked for that signal are
  /// flushed at once. Then the signal is sent again and does what it did before the
  /// call. By default it ends the process.
  ///
  /// A handler that the app has set runs at that point, on a thread that is not the main thread.
  /// If it does not end the process, the next signal is held again: it flushes, and the handler
  /// runs. So call this after the app has set its handlers; a handler that is set later takes the
  /// signal away from the library. Leave a signal out that the app takes with a dispatch source
  /// or with `sigwait`, and call ``flush(within:)`` there.
  ///
  /// Another signal during a flush does what it did before the call when the flush has ended.
  /// The same signal again, a second or more after the first one, cuts the flush short. A
  /// signal that the process ignores, as under `nohup`, stays ignored. Other
  /// autosaves can ask for other signals. A second call on the same autosave replaces
  /// the first, and ``stop()`` puts the earlier handlers back.
  ///
  ///     autosave.flushOnSignals([SIGHUP])
  ///
  /// - Parameters:
  ///   - signals: Some of SIGTERM, SIGINT and SIGHUP; all three if nil. Others are left alone.
  ///   - limit: How long the end of the process waits at most.
  public func flushOnSignals(
    _ signals: Set<Int32>? = nil, within limit: Duration = .seconds(5)
  ) {
    guard !turns.isStopped else { return }
    EndSignals.add(ObjectIdentifier(turns), for: signals, within: limit.bounded) {
      [weak turns] in turns
    }
  }

  /// Ends the autosave, which lets go of its closures; a save that is under way goes on.
  ///
  /// ``StateKeeper/close()`` stops it, too.
  public func stop() { turns.stop() }
}

extension StateKeeper {
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
  ///   - roots: Gives the roots of the trees; nil if windows alone are saved. The closure is kept until the
  ///     autosave ends, so let it hold nothing that holds the keeper.
  ///   - told: Called for each save that stored something, and once for a problem,
  ///     however often the problem comes in a row: with the error, or with a report whose
  ///     outcome is not `saved`, whose changes are left until the next change. Nothing is told before
  ///     the keeper has restored, since nothing is saved then. The closure is kept as long as `roots`.
  /// - Returns: The autosave, to flush or to stop it.
  @discardableResult
  public func autosave(
    every interval: Duration = .milliseconds(250), polling: Duration? = .seconds(2),
    clock: any Clock<Duration> = ContinuousClock(), isolation: isolated any Actor = #isolation,
    roots: @escaping () -> [any RestorableNode]?,
    told: @escaping (Result<PreservationReport, RestorationError>) -> Void = { _ in }
  ) -> Autosave {
    let turns = AutosaveTurns(interval: interval, polling: polling, clock: clock)
    self.autosave = (turns, roots)
    let autosave = Autosave(turns)
    // As long as the app has the autosave; that one belongs to no actor, so it cannot have the keeper.
    var kept: StateKeeper? = self
    Task { [weak self, weak autosave] in
      _ = isolation
      for await _ in turns.wakes {
        if autosave == nil { kept = nil }
        while let flushes = turns.next(), let keeper = self {
          let result = await keeper.saveByItself(roots)
          let isTold = turns.end(result, asksByTime: keeper.types.knowsUntracked, flushes)
          if isTold, let result { told(result) }
        }
        withExtendedLifetime(kept) {}
      }
      if let keeper = self, keeper.autosave?.turns === turns { keeper.autosave = nil }
    }
    return autosave
  }

  /// Saves for the autosave; nil before a restore.
  func saveByItself(
    _ roots: () -> [any RestorableNode]?
  ) async -> Result<PreservationReport, RestorationError>? {
    guard findings.hasTriedToRestore else { return nil }
    return await Result { () async throws(RestorationError) in
      if findings.unread != nil { _ = try await restore(onlyUnread: true) { roots() ?? [] } }
      return try await save(byItself: true) { parts(roots()) }
    }
  }
}
