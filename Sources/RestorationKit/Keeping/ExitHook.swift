internal import Dispatch
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Android)
internal import Android
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Stores what is left when the process ends by `exit` or by a return from `main`.
enum ExitHook {
  private static let limit = Duration.seconds(2)
  /// Says that the main queue runs: its thread need not be the first one of the process.
  private static let isMain = DispatchSpecificKey<Bool>()

  private static let isSet: Bool = {
    DispatchQueue.main.setSpecific(key: isMain, value: true)
    return atexit { ExitHook.run() } == 0
  }()

  static func set() { _ = isSet }

  private static func run() {
    guard DispatchQueue.getSpecific(key: isMain) != true else {
      return MainActor.assumeIsolated { end() }
    }
    // The nodes can be asked where they live alone, if that is free; values can be anywhere.
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
