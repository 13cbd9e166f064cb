package import RestorationKit

/// A delegate whose every answer can be set.
@MainActor
package final class TestDelegate: @MainActor StateDelegate {
  package var saves = true
  package var restores = true
  package var onShouldSave: ((StateEncoder) -> Void)?
  package var onShouldRestore: ((StateDecoder) -> Void)?
  package var onWillEncode: ((StateEncoder) throws -> Void)?
  package var onDidDecode: ((StateDecoder) throws -> Void)?
  package var onNode: ((RestorationPath, StateDecoder) throws -> (any RestorableNode)?)?
  package var onClassName: ((String) -> String?)?
  package var onLayOut: (() -> Void)?
  private let trace: Trace

  package init(_ trace: Trace = Trace()) {
    self.trace = trace
  }

  package func shouldSaveApplicationState(with coder: StateEncoder) -> Bool {
    trace.add("shouldSave")
    onShouldSave?(coder)
    return saves
  }

  package func willEncodeRestorableState(with coder: StateEncoder) throws {
    trace.add("willEncode")
    try onWillEncode?(coder)
  }

  package func shouldRestoreApplicationState(with coder: StateDecoder) -> Bool {
    trace.add("shouldRestore")
    onShouldRestore?(coder)
    return restores
  }

  package func currentClassName(forStored name: String) -> String? {
    onClassName?(name)
  }

  package func node(
    at path: RestorationPath, coder: StateDecoder
  ) throws -> (any RestorableNode)? {
    trace.add("delegate \(path)")
    return try onNode?(path, coder)
  }

  package func layOutRestoredInterface() {
    guard let onLayOut else { return }
    trace.add("layOut")
    onLayOut()
  }

  package func didDecodeRestorableState(with coder: StateDecoder) throws {
    trace.add("didDecode")
    try onDidDecode?(coder)
  }
}
