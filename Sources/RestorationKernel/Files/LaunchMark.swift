internal import ArchiveCodec
internal import RestorationLibc
internal import Synchronization

/// The mark of the launch under way: a crash leaves it behind.
///
/// A mark that cannot be written says what is left out all the same.
///
/// The mark is written in place and waits for no disk, since a crash of the app leaves what was
/// written. It may be called on any thread.
package final class LaunchMark: Sendable {
  /// What is made or decoded now, and the second in which it has begun.
  private typealias Reached = (subject: LaunchSubject, since: Int)

  private struct State {
    var stage = LaunchNote.Stage.restoring
    var element: Reached?
    /// The values, the last of which has begun last; most are read by the element.
    var values: [Reached] = []
    /// Nil when the state is not this launch's any more.
    var place: (any LaunchPlace)?

    var subject: LaunchSubject? { (values.last ?? element)?.subject }
  }

  /// Whether elements are noted: a launch before has crashed.
  package let isNear: Bool
  private let tag: NumberTag
  private let leftOut: Set<LaunchSubject>
  private let state: Mutex<State>

  /// Begins the mark of a restore that is noted in a place, if it is.
  init(_ record: LaunchRecord, at place: (any LaunchPlace)?, threshold: Int) {
    state = Mutex(State(place: place))
    // Without a place, what crashes again would crash in every launch, so it is not tried.
    leftOut = Set(record.leftOut.filter { place == nil || $0 != record.rest.tried })
    (tag, isNear) = (record.tag, record.crashes >= max(1, threshold))
    Self.open.withLock { open in
      open.removeAll { $0() == nil }
      open.append { [weak self] in self }
    }
  }

  /// Whether restores leave out an element or a value.
  package func isLeftOut(_ subject: LaunchSubject) -> Bool { leftOut.contains(subject) }

  /// The name of a value in notes.
  package func subject(ofValue key: String) -> LaunchSubject {
    LaunchSubject(valueTag: tag.tag(of: "value \(key)"))
  }

  /// Says which element is made or decoded now, a window among them; nil outside of all.
  ///
  /// The launch after a crash is told if a launch before has crashed, and of all late elements.
  package func reach(_ subject: LaunchSubject?) {
    change(writing: isNear) { $0.element = subject.map { ($0, Self.second) } }
  }

  /// Says which value is decoded while the body runs.
  package func reach<Result>(valueOf key: String, _ body: () throws -> Result) rethrows -> Result {
    let subject = subject(ofValue: key)
    change { $0.values.append((subject, Self.second)) }
    defer {
      change { state in
        // Other values may have begun on other threads.
        let place = state.values.lastIndex { $0.subject == subject }
        if let place { state.values.remove(at: place) }
      }
    }
    return try body()
  }

  /// The second of a clock that nobody can set, and that is cheap enough for each element.
  package static var second: Int {
    #if canImport(Darwin)
    let clock = CLOCK_MONOTONIC_RAW_APPROX
    #else
    let clock = CLOCK_MONOTONIC_COARSE
    #endif
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return time.tv_sec
  }

  /// Says that the restore has ended, and only values and late elements may still be decoded.
  package func endRestore() { change { ($0.stage, $0.element) = (.restored, nil) } }

  /// Says that no crash has ended the launch.
  package func end() {
    // The thread that ends the process may have the lock.
    state.withLockIfAvailable { state in
      guard state.stage != .restored || state.subject != nil else { return }
      if state.stage != .restored { state.stage = .ended }
      (state.element, state.values) = (nil, [])
      put(state)
    }
  }

  /// Writes nothing any more: the state is not this launch's.
  func letGo() { state.withLock { $0.place = nil } }

  /// Changes the note, and writes it; after the restore in any case.
  private func change(writing isWritten: Bool = true, _ change: (inout State) -> Void) {
    state.withLock { state in
      change(&state)
      if isWritten || state.stage == .restored { put(state) }
    }
  }

  /// A note that cannot be written stops nothing: the next launch may count a crash that was none.
  private func put(_ state: State) {
    try? state.place?.write(note: LaunchNote(state.stage, state.subject).bytes(tag))
  }

  // MARK: The end of the process

  private static let process = SystemCall.processIdentifier

  /// The marks that are open.
  ///
  /// An app that ends by itself in the midst of a restore has not crashed, so its exit is noted.
  private static let open: Mutex<[@Sendable () -> LaunchMark?]> = {
    _ = process
    atexit {
      // The end of a fork of the process is not that of the restore.
      if LaunchMark.process == SystemCall.processIdentifier { LaunchMark.noteExit() }
    }
    return Mutex([])
  }()

  /// Notes the end of the process in all marks that are open.
  package static func noteExit() { forEachOpen { $0.end() } }

  private static func forEachOpen(_ body: (LaunchMark) -> Void) {
    // The thread that ends the process may have the lock.
    open.withLockIfAvailable { $0.compactMap { mark in mark() }.forEach(body) }
  }

  /// The seconds after which a user may end the process because of an element that hangs.
  private static let longestTime = 5

  /// Notes that a signal ends the process, which is no crash unless something hangs: a user who ends
  /// such an app starts it again, and it must start one day.
  ///
  /// - Returns: What hangs; nil if nothing does.
  package func noteSignal(at now: Int = LaunchMark.second) -> LaunchSubject? {
    let hanging = state.withLockIfAvailable { state in
      ([state.element].compactMap(\.self) + state.values)
        .last { now - $0.since > Self.longestTime }?.subject
    }.flatMap(\.self)
    if hanging == nil { end() }
    return hanging
  }

  /// Notes in all marks that are open that a signal ends the process.
  static func noteSignal() { forEachOpen { _ = $0.noteSignal() } }
}
