/// Runs contestants in turn, several rounds, so that what disturbs the machine
/// disturbs all of them.
struct Contest {
  struct Contestant {
    /// What one run is divided by, to give the time of one node.
    let nodeCount: Int
    let run: () async throws -> Duration?

    init(nodeCount: Int = 1, run: @escaping () async throws -> Void) {
      self.init(
        nodeCount: nodeCount,
        reporting: {
          try await run()
          return nil
        })
    }

    private init(nodeCount: Int, reporting run: @escaping () async throws -> Duration?) {
      self.nodeCount = nodeCount
      self.run = run
    }

    /// One that returns for how long its caller could do nothing else.
    static func pausing(
      nodeCount: Int, _ run: @escaping () async throws -> Duration
    ) -> Self {
      Self(nodeCount: nodeCount, reporting: run)
    }
  }

  /// By contestant, then by round.
  private let samples: [[Sample]]
  private let nodeCounts: [Int]

  /// Runs every contestant once to warm up, then the rounds.
  ///
  /// A sample is as many runs as take the given time, in seconds.
  init(
    rounds: Int = 9, sampleTime: Double = 0.08, _ contestants: [Contestant]
  ) async throws {
    var counts: [Int] = []
    for contestant in contestants {
      let first = try await Sample.measure(count: 1, contestant.run)
      counts.append(max(1, Int((sampleTime / first.wall).rounded(.up))))
    }
    var samples = contestants.map { _ in [Sample]() }
    for _ in 0..<rounds {
      for (place, contestant) in contestants.enumerated() {
        samples[place].append(
          try await Sample.measure(count: counts[place], contestant.run))
      }
    }
    self.samples = samples
    nodeCounts = contestants.map(\.nodeCount)
  }

  /// Compares the first contestant with another one.
  ///
  /// Times are medians in microseconds; the ratio is the median of those of
  /// the rounds.
  func row(
    _ what: String, unit: String = "µs per node", by time: KeyPath<Sample, Double> = \.wall,
    against peer: Int, goal: Goal, waitsForDisk: Bool = false,
    _ noise: inout Noise
  ) -> Row {
    let ratios = zip(times(0, time), times(peer, time)).map { goal.ratio(ours: $0, peer: $1) }
    // What waits for the disk is no noise.
    noise.add(what, ratios, time == \.wall && !waitsForDisk ? samples[0] + samples[peer] : [])
    return Row(
      "\(what), \(unit)", ours: times(0, time).median, peer: times(peer, time).median,
      ratio: ratios.median, goal: goal)
  }

  private func times(_ contestant: Int, _ time: KeyPath<Sample, Double>) -> [Double] {
    samples[contestant].map { $0[keyPath: time] * 1e6 / Double(nodeCounts[contestant]) }
  }
}

extension [Double] {
  var median: Double { quantile(0.5) }

  func quantile(_ share: Double) -> Double {
    sorted()[Int((Double(count - 1) * share).rounded())]
  }
}
