/// Saves soon after every change, without keeping anybody waiting.
///
/// The first change is saved at once. Those that follow are saved together when the interval is
/// over, so that fast typing does not write a file for every key. One save is under way at a time.
@MainActor package final class SaveSchedule {
  private let interval: Duration
  private let save: @MainActor () async -> Bool
  private var isChanged = false
  private var saving: Task<Void, Never>?

  /// - Parameters:
  ///   - interval: The time from the start of one save to the start of the next.
  ///   - save: Saves what is there now, and says whether that succeeded.
  package init(interval: Duration, save: @escaping @MainActor () async -> Bool) {
    self.interval = interval
    self.save = save
  }

  package func noteChange() {
    isChanged = true
    guard saving == nil else { return }
    saving = Task {
      await saveChanges()
      saving = nil
    }
  }

  /// Saves what is not yet saved, and returns when that is done.
  package func finish() async {
    saving?.cancel()
    await saving?.value
    if isChanged { await saveOnce() }
  }

  /// Cancellation ends the pause between two saves, but no save.
  private func saveChanges() async {
    while isChanged, !Task.isCancelled {
      let next = ContinuousClock.now + interval
      await saveOnce()
      try? await Task.sleep(until: next)
    }
  }

  /// What could not be saved is still a change, so the next round tries again.
  private func saveOnce() async {
    isChanged = false
    if await !save() { isChanged = true }
  }
}
