import Foundation
import RestorationKit

/// Says its count, adds one, and exits when its nodes cannot be saved.
///
/// They are too many, or the gate says no.
@MainActor
enum Refusing {
  @Restored("count") static var count = 0
  private static let gate = Gate()

  static func main() async throws {
    let how = arguments.first
    try await Restoration.begin(
      "org.example.notes",
      prepare: { keeper in
        if how == "limit" { keeper.policy.nodeLimit = 1 }
        if how == "gate" { keeper.delegate = gate }
      })
    print("count \(count)")
    count += 1
    exit(0)
  }

  private final class Gate: StateDelegate {
    func shouldSaveApplicationState(with coder: StateEncoder) -> Bool { false }
  }
}
