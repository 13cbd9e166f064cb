@preconcurrency import Foundation
import RestorationKit

/// Begins while the file of the state may not be read, and says the count before and after it may.
///
/// With the argument `sets` it sets another value at once.
@MainActor
enum WithoutPermission {
  @Restored("count") static var count = 0
  @Restored("other") static var other = ""

  static func main() async throws {
    let home = ProcessInfo.processInfo.environment["HOME"] ?? ""
    let file = "\(home)/.local/state/org.example.notes/main.rka"
    chmod(file, 0)
    try await Restoration.begin("org.example.notes")
    print("count \(count)")
    if arguments.first == "sets" { other = "set at once" }
    chmod(file, 0o600)
    if arguments.first != "sets" {
      while count == 0 { try await Task.sleep(for: .milliseconds(20)) }
      print("count \(count)")
    }
    while await nextLine() != nil {}
    print("stored: \(await Restoration.end())")
  }
}
