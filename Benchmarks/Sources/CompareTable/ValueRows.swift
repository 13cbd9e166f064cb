internal import ArchiveCodec
internal import Foundation
internal import Observation
internal import RestorationKit
internal import Tables
internal import Workload

/// Values with `@Restored`: read and set, against a property of an observable object, and saved beside
/// a large one.
enum ValueRows {
  private static let count = 100_000

  private struct App {
    @Restored("zoom") var zoom = 1
  }

  private final class Screen: RestorableScreen {
    @Restored var zoom = 1
  }

  @Observable
  final class Model {
    var zoom = 1
  }

  static func measure(_ noise: inout Noise) async throws -> [Row] {
    let (app, screen, model) = (App(), Screen(), Model())
    var sum = 0
    func reading(_ body: @escaping () -> Int) -> Contest.Contestant {
      .init(nodeCount: count) { for _ in 0..<count { sum &+= body() } }
    }
    func setting(_ body: @escaping (Int) -> Void) -> Contest.Contestant {
      .init(nodeCount: count) {
        for value in 0..<count { body(value) }
      }
    }
    let reads = [reading { app.zoom }, reading { screen.zoom }, reading { model.zoom }]
    let sets = [
      setting { app.zoom = $0 }, setting { screen.zoom = $0 }, setting { model.zoom = $0 },
    ]
    var rows: [Row] = []
    for (what, all) in [("Read", reads), ("Set", sets)] {
      for (whose, place) in [("the app", 0), ("a screen", 1)] {
        let contest = try await Contest([all[place], all[2]])
        rows.append(
          contest.row(
            "\(what) a value of \(whose), against a property of an @Observable object",
            unit: "µs", against: 1, goal: .none, &noise))
      }
    }
    guard sum != 0 else { throw WorkloadError("nothing was read") }
    return rows + (try await movingCursor())
  }

  private final class Editor: RestorableScreen {
    @Restored var text = String(repeating: "0123456789abcdef", count: 32 << 10)
    @Restored var cursor = 0
  }

  private struct Document: Encodable {
    let text: String
    let cursor: Int
  }

  private static func movingCursor() async throws -> [Row] {
    let temporary = try TemporaryDirectory()
    defer { temporary.remove() }
    let directory = CountingDirectory(FileStateDirectory(path: temporary.path("editor")))
    let keeper = try StateKeeper(
      application: "org.example.editor", directory: directory,
      keys: try ArchiveKey())
    let editor = Editor()
    _ = try await keeper.save([editor])
    var most = 0
    for _ in 0..<100 {
      editor.cursor = (editor.cursor + 38_197) % (512 << 10)
      let before = try directory.counted.byteCount
      let report = try await keeper.save([editor])
      let byteCount = try directory.counted.byteCount - before
      guard byteCount > 0, byteCount == report.writtenByteCount else {
        throw WorkloadError("\(report.writtenByteCount) bytes are reported, not \(byteCount)")
      }
      most = max(most, byteCount)
    }
    await keeper.close()
    let json = try JSONEncoder().encode(Document(text: editor.text, cursor: editor.cursor)).count
    let what = "Save a cursor that moved in a screen with a text of 512 KiB"
    return [
      Row("\(what), bytes", ours: Double(most), bound: 1024, goal: "≤ 1024", met: most <= 1024),
      Row(
        "\(what), against JSON that is written whole, not sealed, bytes", ours: Double(most),
        peer: Double(json), goal: .none),
    ]
  }
}
