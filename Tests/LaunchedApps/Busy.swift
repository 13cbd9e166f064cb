@preconcurrency import Foundation
import RestorationKit

/// Says its count, adds one, and is busy in the way that the first argument names.
@MainActor
enum Busy {
  @Restored("count") static var count = 0

  static func main() async throws {
    signal(SIGTERM, SIG_DFL)
    let signals: Set<Int32>? = arguments.first == "short" ? [] : nil
    let keeper = try await Restoration.begin("org.example.notes", signals: signals)
    print("count \(count)")
    if arguments.first == "stored" { tellWhenStored() }
    count += 1
    switch arguments.first {
    case "threads":
      // All threads that tasks share.
      for _ in 0..<2 * ProcessInfo.processInfo.processorCount {
        Task.detached { while true { usleep(100_000) } }
      }
      print("busy")
      try await Task.sleep(for: .seconds(3600))
    case "short":
      keeper.autosave { [] }.flushOnSignals(within: .seconds(1))
      fallthrough
    case "main":
      print("busy")
      while readLine() != nil { count += 1 }
    case "stored":
      _ = readLine()
      print("free")
      count += 10
      _ = try await keeper.save([])
    default: break
    }
  }

  /// Says on another thread that the stored state is another one.
  private static func tellWhenStored() {
    let home = ProcessInfo.processInfo.environment["HOME"] ?? ""
    let path = home + "/.local/state/org.example.notes/main.rka"
    let before = FileManager.default.contents(atPath: path)
    Thread.detachNewThread {
      while FileManager.default.contents(atPath: path) == before { usleep(10_000) }
      print("stored")
    }
  }
}
