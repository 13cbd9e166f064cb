internal import Observation
internal import Synchronization

/// The parts of an object that are observed each for itself.
enum ObservedPart {
  /// The contained nodes and views.
  case contents
  /// What the object encodes.
  case state
}

/// One observation of an object, which can be ended before something changes.
///
/// Without an end, each observation would take memory until what it has read changes, and tell of
/// that change once more.
final class ObjectObservation: Observable, Sendable {
  private let registrar = ObservationRegistrar()
  private let hasEnded = Atomic(false)

  var isEnded: Bool { hasEnded.load(ordering: .acquiring) }

  /// Makes the end a change of something that the observation has read.
  func access() { registrar.access(self, keyPath: \.isEnded) }

  func end() {
    hasEnded.store(true, ordering: .releasing)
    registrar.withMutation(of: self, keyPath: \.isEnded) {}
  }
}
