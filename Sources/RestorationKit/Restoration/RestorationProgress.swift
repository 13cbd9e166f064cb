internal import Dispatch
internal import Synchronization

/// Is told of an element in which a restore hangs.
///
///     keeper.policy.watchdog = RestorationWatchdog(after: .seconds(5)) { path in
///       logger.error("Restoring \(path) takes long.")
///     }
///
/// A restore occupies its actor, so no code there can say which node it is. The watchdog does not
/// end the restore. If the process is killed meanwhile, the restore counts as crashed in that node.
public struct RestorationWatchdog: Sendable {
  let limit: Duration
  let tell: @Sendable (RestorationPath) -> Void

  /// Creates a watchdog.
  ///
  /// - Parameters:
  ///   - limit: How long a restore may be at one element, its hooks taken together.
  ///   - tell: Called once for each element, on another thread, after that time and before
  ///     twice as much.
  public init(after limit: Duration, _ tell: @escaping @Sendable (RestorationPath) -> Void) {
    self.limit = limit
    self.tell = tell
  }
}

/// Says where a restore is: to the launch after a crash, to a watchdog, and in a trace.
final class RestorationProgress {
  let trace: ((RestorationTrace) -> Void)?
  private let outline: StoredOutline
  /// Notes the element for the launch after a crash.
  private let mark: ((Int?) throws -> Void)?
  private let watch: ProgressWatch?
  /// Why an element could not be marked; nil if all were marked.
  private(set) var problem: String?

  init(
    _ outline: StoredOutline, _ mark: ((Int?) throws -> Void)?, _ watchdog: RestorationWatchdog?,
    _ trace: ((RestorationTrace) -> Void)?
  ) {
    (self.outline, self.mark, self.trace) = (outline, mark, trace)
    watch = watchdog.map { ProgressWatch($0, outline) }
  }

  /// Says which element is made or decoded now; nil outside of all elements.
  func reach(_ index: Int?) {
    watch?.reach(index)
    guard let mark else { return }
    do {
      try mark(index)
    } catch {
      problem = problem ?? error.reason
    }
  }

  /// Says which call is made next, about an element or about none.
  func note(_ call: RestorationTrace.Call, _ index: Int? = nil) {
    guard let trace else { return }
    trace(RestorationTrace(call: call, path: index.map(outline.path) ?? RestorationPath()))
  }
}

/// Checks at intervals, while a restore goes on, whether it is still at the same element.
private final class ProgressWatch: Sendable {
  private struct Seen {
    var step: UInt64 = 0
    var wasTold = false
  }

  private let watchdog: RestorationWatchdog
  private let outline: StoredOutline
  /// Grows with each element that is reached.
  private let step = Atomic<UInt64>(0)
  /// The index of the element; less than 0 outside of all elements.
  private let index = Atomic<Int>(-1)
  private let seen = Mutex(Seen())

  init(_ watchdog: RestorationWatchdog, _ outline: StoredOutline) {
    self.watchdog = watchdog
    self.outline = outline
    schedule()
  }

  func reach(_ index: Int?) {
    self.index.store(index ?? -1, ordering: .releasing)
    step.wrappingAdd(1, ordering: .releasing)
  }

  private func schedule() {
    let seconds = watchdog.limit / .seconds(1)
    DispatchQueue.global().asyncAfter(deadline: .now() + max(0.001, seconds)) { [weak self] in
      self?.check()
    }
  }

  private func check() {
    let step = step.load(ordering: .acquiring)
    let index = index.load(ordering: .acquiring)
    let hangs = seen.withLock { seen in
      guard seen.step == step else {
        seen = Seen(step: step)
        return false
      }
      defer { seen.wasTold = true }
      return !seen.wasTold
    }
    if hangs, index >= 0 { watchdog.tell(outline.path(of: index)) }
    schedule()
  }
}
