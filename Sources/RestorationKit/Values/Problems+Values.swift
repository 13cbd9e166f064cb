internal import Synchronization

internal import RestorationLibc

/// A value that is set in a process whose restoration never begins.
extension Problems {
  private static let hasKeeper = Atomic<Bool>(false)
  /// The first value that was set in a process without a keeper.
  private static let firstUse = Mutex<String?>(nil)

  /// Notes that the process has a keeper, or a tester, which stores what was set.
  package static func noteKeeper() { hasKeeper.store(true, ordering: .relaxed) }

  /// Notes that a value of the app was set; its name is said if nothing stores it.
  static func noteUse(of name: String) {
    guard isDebugBuild, !hasKeeper.load(ordering: .relaxed) else { return }
    firstUse.withLock { $0 = $0 ?? name }
    _ = hasEnd
  }

  private static let hasEnd = atexit { Problems.sayNeverBegun() } == 0

  private static func sayNeverBegun() {
    guard !hasKeeper.load(ordering: .relaxed), let name = firstUse.withLock(\.self) else { return }
    say([
      "The value “\(name)” was set, and Restoration.begin was never called, so nothing is stored."
        + " Call it at the start of the app."
    ])
  }
}
