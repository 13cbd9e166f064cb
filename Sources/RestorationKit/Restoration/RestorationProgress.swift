/// Says where a restore is: to the launch after a crash, and in a trace.
final class RestorationProgress {
  let trace: ((RestorationTrace) -> Void)?
  private let outline: StoredOutline
  /// Notes the element for the launch after a crash.
  private let mark: ((Int?) throws -> Void)?
  /// Why an element could not be marked; nil if all were marked.
  private(set) var problem: String?

  init(
    _ outline: StoredOutline, _ mark: ((Int?) throws -> Void)?,
    _ trace: ((RestorationTrace) -> Void)?
  ) {
    (self.outline, self.mark, self.trace) = (outline, mark, trace)
  }

  /// Says which element is made or decoded now; nil outside of all elements.
  func reach(_ index: Int?) {
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
