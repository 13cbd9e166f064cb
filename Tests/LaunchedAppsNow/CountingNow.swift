import Foundation
import RestorationKit

/// Says the count, adds one for each line, and ends with the input.
@MainActor
enum CountingNow {
  @Restored("count") static var count = 0

  static func main() throws {
    try Restoration.beginNow("org.example.notes")
    print("count \(count)")
    DispatchQueue.global().async {
      while readLine() != nil { DispatchQueue.main.async { add() } }
      DispatchQueue.main.async { exit(0) }
    }
    dispatchMain()
  }

  private static func add() {
    count += 1
    print("count \(count)")
  }
}
