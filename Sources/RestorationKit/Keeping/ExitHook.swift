internal import ArchiveCodec
internal import Dispatch
internal import RestorationLibc

/// Stores unsaved changes when the process ends by `exit` or by a return from `main`.
enum ExitHook {
  private static let limit = Duration.seconds(2)
  /// Marks the main queue, which need not run on the first thread of the process.
  private static let isMain = DispatchSpecificKey<Bool>()

  private static let process = SystemCall.processIdentifier

  private static let isSet: Bool = {
    _ = process
    DispatchQueue.main.setSpecific(key: isMain, value: true)
    return atexit { ExitHook.run() } == 0
  }()

  static func set() { _ = isSet }

  private static func run() {
    // The threads that store are not in a fork of the process, and its state is that of the process.
    guard process == SystemCall.processIdentifier else { return }
    guard DispatchQueue.getSpecific(key: isMain) != true else {
      return MainActor.assumeIsolated { end() }
    }
    // Nodes can be asked only on the main queue, and only if it is free; the values of
    // the app can be asked on any thread.
    let hasEnded = DispatchSemaphore(value: 0)
    DispatchQueue.main.async {
      MainActor.assumeIsolated { end() }
      hasEnded.signal()
    }
    if hasEnded.wait(timeout: .now() + limit / .seconds(2)) == .timedOut {
      ValuesAtExit.store(within: limit / 2)
    }
  }

  @MainActor
  private static func end() { Restoration.endNow(within: limit) }
}
