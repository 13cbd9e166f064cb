package import RestorationKit

extension NavigationStack: @MainActor RestorableStack {
  package var restorationIdentifier: String? { "navigation" }

  package var restorationChildren: [any RestorableNode] { screens }

  /// The root is there from the start; what was on it comes back.
  package func restoreStack(_ nodes: [any RestorableNode]) {
    let screens = nodes.compactMap { $0 as? any Screen }
    guard screens.first === root else { return }
    replacePushed(with: Array(screens.dropFirst()))
    for (screen, next) in zip(screens, screens.dropFirst()) {
      (screen as? DetailScreen)?.editor = next as? EditScreen
    }
  }
}
