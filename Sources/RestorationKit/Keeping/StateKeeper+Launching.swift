extension StateKeeper {
  /// Lets the next restore try again the elements that restores leave out after crashes.
  ///
  /// Restores try one element at a time: the next restore the first one, and a later
  /// launch the one after it. Without this call an element is tried again after 1, 2,
  /// 4, 8 and more launches, and by another version of the app. If nothing is left out,
  /// nothing changes.
  ///
  ///     try await keeper.retrySkippedNodes()
  ///     print(try await keeper.restore(into: [window]))
  ///
  /// - Throws: ``RestorationError`` with `archive` if the request cannot be noted, or
  ///   its key is locked, and `inUse` if another instance has the state.
  public func retrySkippedNodes() async throws(RestorationError) {
    try await engine.retrySkipped()
  }
}
