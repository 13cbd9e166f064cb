import Foundation
import RestorationKit

/// Says what it has restored, adds one to its count and a letter to its window, and ends in the way that the first
/// argument names: on a thread that is not the main one, or in a callback of the main queue that is no task.
@MainActor
enum EndingElsewhere {
  @Restored("count") static var count = 0

  static func main() async throws {
    let how = arguments.first
    if how == "beginNow" {
      // The main queue runs on a worker thread only once the main task has waited.
      try await Task.sleep(for: .milliseconds(1))
      return await onMainQueue {
        try Restoration.beginNow("org.example.notes", signals: [])
        print("back \(count), \(Restoration.report == nil ? "no report" : "report")")
        count += 1
        print("stored \(Restoration.endNow())")
      }
    }
    let keeper = try await Restoration.begin("org.example.notes", signals: [])
    let host = SceneHost(keeper)
    _ = try await host.start(SceneConfiguration { Window() })
    guard let window = Window.all.first else { return }
    print("back \(count), window “\(window.note?.draft ?? "")”")
    count += 1
    window.note?.draft += "x"
    switch how {
    case "thread": Thread.detachNewThread { exit(0) }
    case "task": Task.detached { exit(0) }
    case "queue": DispatchQueue.main.async { exit(0) }
    case "Restoration": await onMainQueue { print("stored \(Restoration.endNow())") }
    case "keeper": await onMainQueue { print("stored \(keeper.endNow())") }
    case "host": await onMainQueue { print("stored \(host.endNow())") }
    default: exit(0)
    }
    try await Task.sleep(for: .seconds(60))
  }

  /// Runs a body in a callback, and ends without another save.
  private static func onMainQueue(_ body: @escaping @MainActor () throws -> Void) async {
    DispatchQueue.main.async {
      MainActor.assumeIsolated {
        do { try body() } catch { print(error) }
      }
      fflush(nil)
      _exit(0)
    }
    while true { try? await Task.sleep(for: .seconds(60)) }
  }
}

@MainActor
private final class Window: @MainActor SceneDelegate {
  struct Note {
    @Restored("draft") var draft = ""
  }

  static var all: [Window] = []
  var note: Note?

  init() { Self.all.append(self) }

  func scene(
    _ scene: RestorableScene, willConnectTo session: SceneSession, options: SceneConnectionOptions
  ) {
    note = Restoration.scope(scene) { Note() }
  }
}
