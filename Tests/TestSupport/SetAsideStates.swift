package import RestorationKit

/// An older state.
package typealias SetAsideState = Moment

extension Moment {
  /// What reports say of where it is.
  package var location: String { id }
}

/// The history, by other names that tests have for it.
extension StateKeeper {
  package func setAsideStates() async throws(RestorationError) -> [SetAsideState] {
    try await history()
  }

  package func removeSetAside(_ state: SetAsideState) async throws(RestorationError) {
    try await remove(state)
  }

  /// Discards the state, and removes the older ones that a discard leaves.
  package func discardState(includingSetAside: Bool) async throws(RestorationError) {
    try await discardState()
    guard includingSetAside else { return }
    for state in try await history() { try await remove(state) }
  }
}
