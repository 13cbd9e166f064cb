internal import Synchronization

extension UserActivity {
  /// Whether this is what the user is doing now.
  public var isCurrent: Bool { CurrentActivity.shared.is(mark) }

  /// Says that the user is doing this now, and nothing else.
  ///
  /// A process has one current activity at most; the one before is not current
  /// any more. An activity that was invalidated cannot become current.
  public func becomeCurrent() {
    if isValid { CurrentActivity.shared.set(mark) }
  }

  /// Says that the user is not doing this any more; nothing if it is not current.
  public func resignCurrent() {
    CurrentActivity.shared.resign(mark)
  }
}

/// Which of the activities of a process is current, whatever actors they are on.
final class CurrentActivity: Sendable {
  /// Stands for one activity.
  final class Mark: Sendable {}

  static let shared = CurrentActivity()

  private let current = Mutex<Mark?>(nil)

  func `is`(_ mark: Mark) -> Bool { current.withLock { $0 === mark } }

  func set(_ mark: Mark) { current.withLock { $0 = mark } }

  func resign(_ mark: Mark) {
    current.withLock { if $0 === mark { $0 = nil } }
  }
}
