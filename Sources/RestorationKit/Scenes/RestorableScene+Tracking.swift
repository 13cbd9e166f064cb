internal import Observation
internal import Synchronization

extension RestorableScene {
  /// Marks the scene as to be saved when an observable model changes.
  ///
  /// - Parameter reading: Reads all properties that count. It is called now, and
  ///   in the save after a change; the scene keeps it.
  public func track(_ reading: @escaping () -> Void) {
    let reading = TrackedReading(reading)
    tracked.append(reading)
    watch(reading)
  }

  /// Whether a save may have anything to store.
  ///
  /// What nobody has told is no reason to replace a state that could not be read: the next
  /// launch may be able to.
  var isChanged: Bool {
    needsSave || userActivity?.needsSave == true || !engine.rows.hearing.changes.isEmpty
      || session.isRestorable && session.failure == nil && engine.mayHaveUnheard
  }

  /// Lets a later save try again, and tells nobody, who would try at once.
  func keepNeedingSave() { changes.isSet = true }

  /// Begins anew: what has changed so far is in the save that begins.
  func beginSave() {
    needsSave = false
    for reading in tracked where reading.hasChanged.isSet { watch(reading) }
  }

  private func watch(_ reading: TrackedReading) {
    reading.hasChanged.isSet = false
    withObservationTracking(reading.read) {
      [hasChanged = reading.hasChanged, changes, signal = engine.signal] in
      hasChanged.isSet = true
      changes.isSet = true
      signal.tell()
    }
  }
}

/// Reads observable properties; it is watched until one of them changes.
final class TrackedReading {
  let read: () -> Void
  let hasChanged = ChangeFlag()

  init(_ read: @escaping () -> Void) {
    self.read = read
  }
}

/// Whether something has changed; a model may say so on any thread.
final class ChangeFlag: Sendable {
  private let flag = Atomic<Bool>(false)

  var isSet: Bool {
    get { flag.load(ordering: .acquiring) }
    set { flag.store(newValue, ordering: .releasing) }
  }
}
