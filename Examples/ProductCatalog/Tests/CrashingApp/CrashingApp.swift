import Foundation
import RestorationKit

/// An app that can end in the midst of its restore.
///
/// Its arguments are the crash threshold and what to do. It prints what the keeper reports,
/// and what was left out.
@main enum CrashingApp {
  private enum Deed: String {
    case save, restore
    /// Three ways of ending while the screen is decoded.
    case trap, kill, exit
    /// Ends while no screen is decoded.
    case killOutside
    /// Ends when the restore is over.
    case killLater
  }

  @MainActor static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 3, let threshold = Int(arguments[1]),
      let deed = Deed(rawValue: arguments[2])
    else { exit(2) }
    let keeper = try StateKeeper(application: "org.restorationkit.crashing-app")
    keeper.policy.crashThreshold = threshold
    let screen = Screen()
    switch deed {
    case .save:
      print(try await keeper.save([screen]).outcome)
      return
    case .trap: screen.onDecode = { preconditionFailure("The app was told to crash.") }
    case .exit: screen.onDecode = { Foundation.exit(0) }
    case .kill: screen.onDecode = killItself
    case .killOutside, .killLater, .restore: break
    }
    let delegate = Delegate(kills: deed == .killOutside)
    keeper.delegate = delegate
    let report = try await keeper.restore(into: [screen])
    print(report.outcome)
    for entry in report.entries where entry.outcome == .skipped { print(entry.path, entry.outcome) }
    if deed == .killLater { killItself() }
  }

  fileprivate static func killItself() {
    _ = Foundation.kill(getpid(), SIGKILL)
  }
}

@MainActor private final class Delegate: @MainActor StateDelegate {
  private let kills: Bool

  init(kills: Bool) {
    self.kills = kills
  }

  func didDecodeRestorableState(with coder: StateDecoder) throws {
    if kills { CrashingApp.killItself() }
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
