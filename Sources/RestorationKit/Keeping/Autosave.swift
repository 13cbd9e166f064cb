/// Saves what changes, soon after it does; ``StateKeeper/autosave(every:clock:isolation:roots:told:)``
/// and ``SceneHost/autosave(every:clock:isolation:told:)`` begin one.
///
/// The first change is saved at once. Those that follow are saved together when the interval
/// is over, which begins when a save has ended. One save is under way at a time, and without
/// a change none is: an app that is idle is not woken.
///
/// A save that the disk refuses is tried again after the interval, at least 250 ms, then
/// after twice as long, up to 30 s. What is no failure of the disk is tried again with the
/// next change: a strict keeper's problem, a locked key, a state that another instance has,
/// a gate that says no.
///
/// It ends when it is let go, so keep it. It saves nothing then: call ``flush(within:)``
/// where an app ends. Until it ends it keeps the keeper or the host alive, and what the
/// closures hold that it was given; neither of them holds it. It may be used on any thread,
/// and saves on the actor that began it.
public final class Autosave: Sendable {
  /// What came of a save.
  public enum Event: Hashable, Sendable {
    /// What had changed is stored: the report of the keeper, or those of the scenes that
    /// had changed.
    case saved([PreservationReport])

    /// Something was not stored and is left until the next change, as the reports say:
    /// declined, locked, in use, or its delegate is gone.
    ///
    /// Without a report the keeper has not restored yet; nothing is saved before that.
    case withheld([PreservationReport])

    /// Something could not be stored.
    case failed(RestorationError)
  }

  private let turns: AutosaveTurns

  init(
    _ need: SaveNeed, every interval: Duration, clock: any Clock<Duration>,
    isolation: isolated any Actor, told: @escaping (Event) -> Void,
    save: @escaping () async -> Event
  ) {
    let turns = AutosaveTurns(need, interval: interval, clock: clock)
    self.turns = turns
    let wakes = turns.begin()
    Task {
      _ = isolation
      for await _ in wakes {
        while let turn = turns.next() {
          let event = await save()
          if turns.end(turn, event) { told(event) }
        }
      }
    }
  }

  deinit { turns.stop() }

  /// Whether something has changed that is not stored, as far as anybody has said so.
  public var needsSave: Bool { turns.needsSave }

  /// Says that something has changed, so that it is saved soon.
  ///
  /// Call it for what cannot say so itself: nodes with ``StateTracking/always``, and what a
  /// host stores of a session that has no scene. Of others the autosave hears: of
  /// ``StateRestoring/invalidateRestorableState()``, of properties of nodes with
  /// ``StateTracking/observed``, of ``Scene/needsSave``, ``SceneStorage`` and
  /// ``Scene/track(_:)``, and of ``UserActivity/needsSave`` of ``Scene/userActivity``.
  ///
  /// - Complexity: O(1).
  public func setNeedsSave() { turns.change() }

  /// Saves now, and waits until all is stored that has changed before the call.
  ///
  /// It also asks nodes that cannot say that they have changed. It does not wait for the
  /// interval, nor until a failure is over: one save is tried, after the one that is under
  /// way. Cancelling the task does not end the wait.
  ///
  /// - Parameter limit: How long it waits at most. A save that takes longer goes on.
  /// - Returns: Whether all is stored; false as well when the autosave has ended.
  @discardableResult
  public func flush(within limit: Duration = .seconds(5)) async -> Bool {
    await turns.flush(within: limit)
  }

  /// Lets signals that ask the process to end wait until what is unsaved is stored.
  ///
  /// When SIGTERM, SIGINT or SIGHUP comes, all autosaves that were asked for this are
  /// flushed at once. Then the signal is sent again and does what it did before the call:
  /// by default it ends the process. A second one does so at once.
  ///
  /// The signals are ignored meanwhile, and a dispatch source sees them, so no code runs in
  /// a signal handler. A signal that the process ignored already, as under `nohup`, stays
  /// ignored. Programs that the process starts meanwhile may inherit that it ignores them.
  /// With ``stop()`` all is as it was. Do not call it where the app handles these signals.
  ///
  /// - Parameter limit: How long the end waits at most.
  public func flushOnSignals(within limit: Duration = .seconds(5)) {
    turns.flushOnSignals(within: limit)
  }

  /// Saves nothing any more; a save that is under way goes on.
  ///
  /// ``StateKeeper/close()`` and ``SceneHost/close()`` do it, too.
  public func stop() { turns.stop() }
}
