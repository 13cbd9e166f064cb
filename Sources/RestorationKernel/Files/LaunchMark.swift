package import ArchiveCodec
internal import RestorationLibc
internal import Synchronization

/// The mark of the launch under way: a crash leaves it behind.
///
/// A mark that cannot be written says what is left out all the same.
///
/// The mark is written in place and waits for no disk, since a crash of the app leaves what was
/// written. It may be called on any thread.
package final class LaunchMark: Sendable {
  private struct State {
    var stage = LaunchNote.Stage.restoring
    var window: LaunchSubject?
    /// The element and the values that are made or decoded now; the last of them has begun last.
    var reached: [(subject: LaunchSubject, since: ContinuousClock.Instant)] = []
    /// Nil when the state is not this launch's any more.
    var place: (any LaunchPlace)?

    mutating func leaveElement() {
      // There is one at most.
      _ = reached.lastIndex { $0.subject.element != nil }.map { reached.remove(at: $0) }
      window = nil
    }
  }

  /// Whether elements are noted: a launch before has crashed.
  package let isNear: Bool
  private let noteTag: NumberTag
  private let valueTag: NumberTag
  private let leftOut: Set<LaunchSubject>
  private let state: Mutex<State>

  init(
    _ place: (any LaunchPlace)?, _ noteTag: NumberTag, _ valueTag: NumberTag,
    leftOut: Set<LaunchSubject>, isNear: Bool
  ) {
    state = Mutex(State(place: place))
    (self.noteTag, self.valueTag) = (noteTag, valueTag)
    (self.leftOut, self.isNear) = (leftOut, isNear)
    Self.remember(self)
  }

  /// Whether restores leave out an element or a value.
  package func isLeftOut(_ subject: LaunchSubject) -> Bool { leftOut.contains(subject) }

  /// The name of a value in notes.
  package func subject(ofValue key: String) -> LaunchSubject {
    LaunchSubject(valueTag: valueTag.tag(of: key))
  }

  /// Says which element is made or decoded now, and in which window; nil outside of all.
  ///
  /// The launch after a crash is told if a launch before has crashed, and of all late elements.
  package func reach(_ subject: LaunchSubject?, in window: LaunchSubject? = nil) {
    write { state in
      state.leaveElement()
      if let subject { state.reached.append((subject, .now)) }
      state.window = window
      return isNear || state.stage == .restored
    }
  }

  /// Says which value is decoded while the body runs.
  package func reach<Result>(valueOf key: String, _ body: () throws -> Result) rethrows -> Result {
    let subject = subject(ofValue: key)
    write { state in
      state.reached.append((subject, .now))
      return true
    }
    defer {
      write { state in
        // Other values may have begun on other threads.
        let place = state.reached.lastIndex { $0.subject == subject }
        if let place { state.reached.remove(at: place) }
        return true
      }
    }
    return try body()
  }

  /// Whether the restore has not ended.
  var isRestoring: Bool { state.withLock { $0.stage == .restoring && $0.place != nil } }

  /// Says that the restore has ended, and only values and late elements may still be decoded.
  ///
  /// - Returns: Why the mark could not be taken away; the next launch may count a crash that was none.
  @discardableResult
  package func endRestore() -> ArchiveError? {
    write { state in
      state.stage = .restored
      state.leaveElement()
      return true
    }
  }

  /// Says that no crash has ended the launch.
  package func end() {
    // The thread that ends the process may have the lock.
    state.withLockIfAvailable { state in
      guard state.stage != .restored || !state.reached.isEmpty else { return }
      if state.stage != .restored { (state.stage, state.window) = (.ended, nil) }
      state.reached = []
      _ = put(state)
    }
  }

  /// Writes nothing any more: the state is not this launch's.
  func letGo() { state.withLock { $0.place = nil } }

  /// Changes the note; the change says whether it is written.
  @discardableResult
  private func write(_ change: (inout State) -> Bool) -> ArchiveError? {
    state.withLock { state in change(&state) ? put(state) : nil }
  }

  private func put(_ state: State) -> ArchiveError? {
    do throws(ArchiveError) {
      var note = LaunchNote(state.stage)
      (note.subject, note.window) = (state.reached.last?.subject, state.window)
      try state.place?.write(note: note.bytes(noteTag))
      return nil
    } catch {
      return error
    }
  }

  // MARK: The end of the process

  private static let open = Mutex<[@Sendable () -> LaunchMark?]>([])
  private static let process = SystemCall.processIdentifier

  /// An app that ends by itself in the midst of a restore has not crashed, so its exit is noted.
  private static let isExitNoted: Bool = {
    _ = process
    return atexit {
      // The end of a fork of the process is not that of the restore.
      if LaunchMark.process == SystemCall.processIdentifier { LaunchMark.noteExit() }
    } == 0
  }()

  private static func remember(_ mark: LaunchMark) {
    _ = isExitNoted
    open.withLock { open in
      open.removeAll { $0() == nil }
      open.append { [weak mark] in mark }
    }
  }

  /// Notes the end of the process in all marks that are open.
  package static func noteExit() { forEachOpen { $0.end() } }

  fileprivate static func forEachOpen(_ body: (LaunchMark) -> Void) {
    // The thread that ends the process may have the lock.
    open.withLockIfAvailable { $0.compactMap { mark in mark() }.forEach(body) }
  }

  /// The time after which a user may end the process because of an element that hangs.
  private static let longestTime = Duration.seconds(5)

  /// Notes that a signal ends the process, which is no crash unless something hangs: a user who ends
  /// such an app starts it again, and it must start one day.
  ///
  /// - Returns: What hangs; nil if nothing does.
  package func noteSignal(at now: ContinuousClock.Instant = .now) -> LaunchSubject? {
    let hanging = state.withLockIfAvailable { state in
      state.reached.last { $0.since.duration(to: now) > Self.longestTime }?.subject
    }.flatMap(\.self)
    if hanging == nil { end() }
    return hanging
  }
}

extension LaunchNote {
  /// Notes in all marks that are open that a signal ends the process; see ``LaunchMark/noteSignal(at:)``.
  static func noteSignal() { LaunchMark.forEachOpen { _ = $0.noteSignal() } }
}
