internal import Observation
internal import Synchronization

extension Scene {
  /// Marks the scene as to be saved when an observable model changes.
  ///
  /// - Parameter reading: Reads all properties that count. It is called now and
  ///   after every save, and the scene keeps it.
  public func track(_ reading: @escaping () -> Void) {
    tracked.append(reading)
    watch(reading)
  }

  /// Begins anew: what has changed so far is in the save that begins.
  func beginSave() {
    needsSave = false
    tracked.forEach(watch)
  }

  private func watch(_ reading: () -> Void) {
    withObservationTracking(reading) { [changes] in changes.isSet = true }
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
