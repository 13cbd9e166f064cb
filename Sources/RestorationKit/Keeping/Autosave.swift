/// Saves what changes, soon after it does; ``StateKeeper/autosave(every:clock:isolation:roots:told:)``
/// and ``SceneHost/autosave(every:clock:isolation:told:)`` begin one.
///
/// The first change is saved at once. An interval begins when a save has ended, and the
/// changes during it are saved together when it is over. One save is under way at a time.
/// Without a change there is no save, so an idle app is not woken.
///
/// A save that the disk refuses is tried again after the interval, at least 250 ms, then
/// after twice as long, up to 30 s. Any other save that stores nothing is tried again with
/// the next change: if a strict keeper has a problem, a key is locked, another instance has
/// the state, or the delegate declines.
///
/// An autosave ends when its last reference goes, so keep it. It saves nothing at its end:
/// call ``flush(within:)`` where an app ends. Until it ends, it keeps alive the keeper or
/// the host, and everything that its closures hold. Neither the keeper nor the host keeps
/// the autosave alive. It may be used on any thread, and saves on the actor that began it.
public final class Autosave: Sendable {
  /// What came of a save.
  public enum Event: Hashable, Sendable {
    /// What had changed is stored: the report of the keeper, or those of the scenes that
    /// had changed.
    case saved([PreservationReport])

    /// Something was not stored and is left until the next change, as the reports say:
    /// declined, locked, in use, or its delegate is gone.
    ///
    /// The array is empty if the keeper has not restored yet; nothing is saved before that.
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

  /// Whether a change that the autosave knows of is not stored yet.
  public var needsSave: Bool { turns.needsSave }

  /// Says that something has changed, so that it is saved soon.
  ///
  /// Call it for what cannot say so itself: nodes with ``StateTracking/always``, and what a
  /// host stores of a session that has no scene. The autosave knows by itself of
  /// ``StateRestoring/invalidateRestorableState()``, of properties of nodes with
  /// ``StateTracking/observed``, of ``Scene/needsSave``, ``SceneStorage`` and
  /// ``Scene/track(_:)``, and of ``UserActivity/needsSave`` of ``Scene/userActivity``.
  ///
  /// - Complexity: O(1).
  public func setNeedsSave() { turns.change() }

  /// Saves now, and waits until everything that changed before the call is stored.
  ///
  /// The save also asks nodes that cannot say that they have changed. It does not wait for
  /// the interval, but for a save that is under way. If it fails, it is not tried again
  /// before the call returns. Cancelling the task does not end the wait.
  ///
  /// - Parameter limit: How long it waits at most. A save that takes longer goes on.
  /// - Returns: Whether all is stored; false as well when the autosave has ended.
  @discardableResult
  public func flush(within limit: Duration = .seconds(5)) async -> Bool {
    await turns.flush(within: limit)
  }

  /// Stores what is unsaved before a signal ends the process.
  ///
  /// When SIGTERM, SIGINT or SIGHUP comes, all autosaves that were asked for this are
  /// flushed at once. Then the signal is sent again and does what it did before the call: by
  /// default it ends the process. A second signal does that at once.
  ///
  /// From the call on the process ignores these signals, and a dispatch source sees them, so
  /// no code runs in a signal handler. Programs that the process starts may inherit that it
  /// ignores them. A signal that it ignored already, as under `nohup`, stays ignored.
  /// ``stop()`` puts everything back. Do not call this where the app handles these signals
  /// itself.
  ///
  /// - Parameter limit: How long the end of the process waits at most.
  public func flushOnSignals(within limit: Duration = .seconds(5)) {
    turns.flushOnSignals(within: limit)
  }

  /// Saves nothing any more; a save that is under way goes on.
  ///
  /// ``StateKeeper/close()`` and ``SceneHost/close()`` stop it, too.
  public func stop() { turns.stop() }
}

extension Autosave.Event: CustomStringConvertible {
  /// What came of it in a word, and its reports or its error.
  public var description: String {
    switch self {
    case .saved(let reports): Self.text("Saved by itself", reports)
    case .withheld(let reports): Self.text("Not saved by itself yet", reports)
    case .failed(let error): "Not saved by itself: \(error)"
    }
  }

  private static func text(_ start: String, _ reports: [PreservationReport]) -> String {
    reports.isEmpty
      ? "\(start)." : "\(start):\n" + reports.map(\.description).joined(separator: "\n")
  }
}
