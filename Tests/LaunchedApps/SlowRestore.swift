@preconcurrency import Foundation
import RestorationKit

/// Has a screen whose hook never returns, if the argument says so, and says what it has restored.
@MainActor
enum SlowRestore {
  private static let screen = SlowScreen()

  static func main() async throws {
    for number in [SIGTERM, SIGINT, SIGHUP] { signal(number, SIG_DFL) }
    screen.hangs = arguments.first == "hangs"
    let keeper = try await Restoration.begin("org.example.notes", roots: { [screen] })
    print("restored \(screen.text)")
    screen.text = "Milk"
    if arguments.first == "writes" { _ = try await keeper.save([screen]) }
  }
}

private final class SlowScreen: RestorableNode {
  let restorationIdentifier = "screen"
  var text = ""
  var hangs = false

  func encodeRestorableState(with coder: StateEncoder) {
    coder.encode(text, forKey: "text")
  }

  func decodeRestorableState(with coder: StateDecoder) throws {
    text = try coder.decode(forKey: "text")
    guard hangs else { return }
    print("decoding")
    let start = ContinuousClock.now
    while start.duration(to: .now) < .milliseconds(5100) { usleep(10_000) }
    print("slow")
    while true { pause() }
  }
}
