@preconcurrency import Foundation
import RestorationKit

/// Says what it has restored, and changes that.
///
/// The first argument names what happens in the midst of the save or the flush that ends it.
@MainActor
enum Signals {
  private static let screen = SignalScreen()

  static func main() async throws {
    // A shell lets what it starts in the background ignore some.
    for number in [SIGTERM, SIGINT, SIGHUP] { signal(number, SIG_DFL) }
    if arguments.first == "own" { return try waitForOwn() }
    let keeper = try await Restoration.begin("org.example.notes", roots: { [screen] })
    print("back \(screen.text)")
    guard let how = arguments.first else { return }
    if how == "many" { _ = try await keeper.save([screen]) }
    screen.text += "x"
    switch how {
    case "Restoration": ends { Restoration.endNow() }
    case "keeper": ends { keeper.endNow() }
    case "exit":
      screen.onEncode = { kill(getpid(), SIGTERM) }
      exit(0)
    case "end":
      screen.onEncode = { kill(getpid(), SIGTERM) }
      await Restoration.end()
    case "other":
      screen.onEncode = { for number in [SIGHUP, SIGINT] { kill(getpid(), number) } }
      kill(getpid(), SIGTERM)
    case "same":
      screen.onEncode = { kill(getpid(), SIGTERM) }
      kill(getpid(), SIGTERM)
    default: break
    }
    try await Task.sleep(for: .seconds(60))
  }

  /// Blocks SIGTERM and looks whether it has come, as `signalfd` does, and leaves SIGHUP to the library.
  private static func waitForOwn() throws {
    var (own, come) = (sigset_t(), sigset_t())
    sigemptyset(&own)
    sigaddset(&own, SIGTERM)
    pthread_sigmask(SIG_BLOCK, &own, nil)
    _ = try Restoration.beginNow("org.example.notes", signals: [SIGHUP], roots: { [screen] })
    print("waits")
    while sigpending(&come) == 0, sigismember(&come, SIGTERM) == 0 { usleep(10_000) }
    print("took \(SIGTERM)")
    exit(0)
  }

  /// Ends, and is ended by a signal in that moment.
  private static func ends(_ end: () -> Bool) {
    screen.onEncode = { kill(getpid(), SIGTERM) }
    _ = end()
    exit(0)
  }
}

private final class SignalScreen: RestorableNode {
  let restorationIdentifier = "screen"
  var text = ""
  var onEncode: (() -> Void)?

  func encodeRestorableState(with coder: StateEncoder) {
    onEncode?()
    coder.encode(text, forKey: "text")
  }

  func decodeRestorableState(with coder: StateDecoder) throws {
    text = try coder.decode(forKey: "text")
  }
}
