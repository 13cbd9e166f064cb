@preconcurrency import Foundation
import RestorationKit

/// Forks without a program of its own for the fork, and says what becomes of that.
@MainActor
enum Forking {
  @Restored("count") static var count = 0

  static func main() async throws {
    signal(SIGTERM, SIG_DFL)
    let keeper = try await Restoration.begin("org.example.notes")
    print("count \(count) in \(keeper.stateName ?? "no state")")
    guard let how = arguments.first else { return }
    count += 1
    _ = try await keeper.save([])
    let start = ContinuousClock.now
    let child = fork()
    if child == 0 {
      if how == "exits" { exit(0) }
      // Dispatch blocks signals in its threads, and the fork has no other.
      var signals = sigset_t()
      sigemptyset(&signals)
      sigaddset(&signals, SIGTERM)
      pthread_sigmask(SIG_UNBLOCK, &signals, nil)
      while true { pause() }
    }
    if how == "waits" { print("child \(child)") }
    var status: Int32 = 0
    waitpid(child, &status, 0)
    print("child \(status & 0x7F == 0 ? "exited" : "killed by \(status & 0x7F)")")
    let time = start.duration(to: .now)
    print(time < .seconds(1) || how == "waits" ? "soon" : "after \(time)")
    while await nextLine() != nil {
      count += 1
      print("count \(count)")
    }
  }

  /// The function is not for Swift, where it leaves all other threads behind; some apps call it in C.
  private static func fork() -> pid_t {
    guard let symbol = dlsym(nil, "fork") else { fatalError("The system has no fork.") }
    return unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)()
  }
}
