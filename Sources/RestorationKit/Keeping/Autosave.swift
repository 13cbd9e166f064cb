/// Saves changes soon after they happen; call ``flush(within:)`` where the app ends, or the last
/// of them are lost.
///
/// Where the end cannot wait for a task, ``StateKeeper/endNow(saving:within:isolation:)`` and
/// ``SceneHost/endNow(within:isolation:)`` take its place.
///
/// ``StateKeeper/autosave(every:polling:clock:isolation:roots:told:)`` and
/// ``SceneHost/autosave(every:polling:clock:isolation:told:)`` begin one.
///
/// A change that a node says is saved at once if it is the first. An interval begins when a save
/// has stored something or has failed, and the changes during it are saved together when it is
/// over. A save that had nothing to store begins none, unless something has changed during it.
/// One save is under way at a time.
///
/// Nodes, views and objects with ``StateTracking/always``, the default, do not say when they
/// change. A poll asks them alone, every 2 seconds unless another time is given, and compares what
/// they say with the last save. A difference is a change, and is saved. Without a difference
/// nothing else is called, told, read or written. A change of something else, such as what a
/// delegate encodes, is heard only with ``setNeedsSave()``. There is no timer while all say when
/// they change, nor while the state is not restored yet, locked, in use elsewhere, in conflict or
/// declined, nor after a save that failed: a save that succeeds begins the polls again, whoever
/// has called it.
///
/// A save that the disk refuses is tried again after the interval, at least 250 ms, then
/// after twice as long, up to 30 s. Any other save that stores nothing is tried again with
/// the next change: if a strict keeper has a problem, a key is locked, another instance has
/// the state, or the delegate declines. Call ``setNeedsSave()`` then. After a save of the app that
/// stores nothing, the autosave tries at once, and goes on as after one of its own. When the
/// delegate of a keeper was gone and another one is set, that is a change. What was due is taken
/// back by
/// ``StateKeeper/discardState(includingSetAside:)``.
///
/// The keeper or the host keeps its autosave until ``stop()`` or its own `close()`; a second one
/// replaces the first. Who keeps the autosave keeps the keeper or the host, too. It saves
/// nothing at its end. It keeps alive all that its closures hold until then. It may be used on any
/// thread, and saves and polls on the actor that began it.
public final class Autosave: Sendable {
  /// What came of a save.
  public enum Event: Hashable, Sendable {
    /// What had changed is stored: the report of the keeper, or the reports of the scenes that
    /// had changed.
    ///
    /// At least one of the reports has a ``PreservationReport/writtenByteCount`` above 0: a
    /// save that had nothing to store is not told.
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

  /// Begins the loop of a keeper or host, which holds what is held.
  init<Owner: AnyObject>(
    of owner: Owner, _ held: HeldAutosave, isolation: isolated any Actor,
    told: @escaping (Event) -> Void, save: @escaping (Owner) async -> Event,
    isPolled: @escaping (Owner) -> Bool, findsChange: @escaping (Owner) -> Bool
  ) {
    let turns = held.turns
    self.turns = turns
    let wakes = turns.begin()
    // An app that keeps the autosave keeps the owner by that; the loop alone does not.
    let kept = Kept(owner)
    Task { [weak owner, weak held] in
      _ = isolation
      for await _ in wakes {
        if turns.isLetGo { kept.owner = nil }
        while let turn = turns.next() {
          guard let owner else { break }
          switch turn {
          case .save(let changes):
            let event = await save(owner)
            if turns.end(changes, event, isPolled: isPolled(owner)) { told(event) }
          case .poll:
            let hasChanged = findsChange(owner)
            turns.endPoll(isPolled: isPolled(owner), hasChanged: hasChanged)
          }
        }
      }
      kept.owner = nil
      held?.roots = nil
    }
  }

  private final class Kept<Owner: AnyObject> {
    var owner: Owner?

    init(_ owner: Owner) {
      self.owner = owner
    }
  }

  deinit { turns.letGo() }

  /// Whether a change that the autosave knows of is not stored yet.
  public var needsSave: Bool { turns.needsSave }

  /// Says that something has changed, so that it is saved soon.
  ///
  /// Call it for what nobody hears of: what a delegate encodes, and what a host stores of a
  /// session that has no scene; and for a node with ``StateTracking/always`` that must not wait
  /// for the next poll. The autosave knows by itself of
  /// ``StateRestoring/invalidateRestorableState()``, of properties of nodes with
  /// ``StateTracking/observed``, of ``RestorableScene/needsSave``, ``SceneStorage`` and
  /// ``RestorableScene/track(_:)``, and of ``UserActivity/needsSave`` of ``RestorableScene/userActivity``.
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
  /// - Returns: Whether all is stored; false as well when the autosave has ended, or when the
  ///   state is discarded before the save begins.
  @discardableResult
  public func flush(within limit: Duration = .seconds(5)) async -> Bool {
    await turns.flush(within: limit)
  }

  /// Stores what is unsaved before a signal ends the process.
  ///
  /// When one of the signals comes, all autosaves that were asked for it are flushed at once.
  /// Then the signal is sent again and does what it did before the call. By default it ends the
  /// process.
  ///
  /// A handler that the app has set runs at that point, on a thread that is not the main thread.
  /// If it does not end the process, the next signal is held again: it flushes, and the handler
  /// runs. So call this after the app has set its handlers; a handler that is set later takes the
  /// signal away from the library. Leave a signal out that the app takes with a dispatch source
  /// or with `sigwait`, and call ``flush(within:)`` there.
  ///
  /// During a flush no signal is held: a second one does at once what it did before the call.
  /// A signal that the process ignores, as under `nohup`, stays ignored. Other autosaves can ask
  /// for other signals. A second call on the same autosave replaces the first, and ``stop()``
  /// puts back what was there before.
  ///
  ///     autosave.flushOnSignals([.hangup])
  ///
  /// - Parameters:
  ///   - signals: The signals; all three if none are given.
  ///   - limit: How long the end of the process waits at most.
  public func flushOnSignals(
    _ signals: Set<EndSignal> = Set(EndSignal.allCases), within limit: Duration = .seconds(5)
  ) {
    turns.flushOnSignals(signals, within: limit)
  }

  /// Saves nothing any more, and lets go of its closures; a save that is under way goes on.
  ///
  /// ``StateKeeper/close()`` and ``SceneHost/close()`` stop it, too.
  public func stop() { turns.stop() }
}

extension Autosave.Event: CustomStringConvertible {
  /// The result in a word, and the reports or the error.
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
