internal import Observation
internal import RestorationKit
internal import Tables
internal import Workload

/// Values with `@Restored`, read and set, against a property of an observable object.
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
    return rows
  }
}
