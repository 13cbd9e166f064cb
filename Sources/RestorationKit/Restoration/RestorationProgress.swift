/// Says where a restore is, to the launch after a crash.
final class RestorationProgress {
  /// Notes the element for the launch after a crash.
  private let mark: ((Int?) throws -> Void)?
  /// Why an element could not be marked; nil if all were marked.
  private(set) var problem: String?

  init(_ mark: ((Int?) throws -> Void)?) {
    self.mark = mark
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
}
