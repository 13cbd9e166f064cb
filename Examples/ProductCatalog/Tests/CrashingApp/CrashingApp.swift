import Foundation
import RestorationKit

/// An app whose one screen can end the process while it is decoded.
///
/// Its arguments are the crash threshold and what to do. It prints what the keeper reports.
@main enum CrashingApp {
  private enum Deed: String {
    case save, restore
    /// Two ways of ending while the screen is decoded.
    case trap, kill
    /// Ends when the restore is over.
    case killLater
  }

  @MainActor static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 3, let threshold = Int(arguments[1]),
      let deed = Deed(rawValue: arguments[2])
    else { exit(2) }
    let keeper = try StateKeeper(application: "org.restorationkit.crashing-app")
    keeper.crashThreshold = threshold
    let screen = Screen()
    switch deed {
    case .save:
      print(try await keeper.save([screen]).outcome)
      return
    case .trap: screen.onDecode = { preconditionFailure("The app was told to crash.") }
    case .kill, .killLater, .restore: break
    }
    if deed == .kill { screen.onDecode = killItself }
    print(try await keeper.restore(into: [screen]).outcome)
    if deed == .killLater { killItself() }
  }

  private static func killItself() {
    _ = Foundation.kill(getpid(), SIGKILL)
  }
}

@MainActor private final class Screen: @MainActor RestorableNode {
  let restorationIdentifier: String? = "screen"
  var onDecode: () -> Void = {}

  func encodeRestorableState(with coder: StateEncoder) throws {
    coder.encode("precious", forKey: "value")
  }

  func decodeRestorableState(with coder: StateDecoder) throws {
    onDecode()
  }
}
