internal import Tables

/// Runs contestants in turn, several rounds, so that what disturbs the machine
/// disturbs all of them.
struct Contest {
  struct Contestant {
    /// What one run is divided by, to give the time of one node.
    let nodeCount: Int
    /// What is not measured and goes before each run.
    let prepare: (() async throws -> Void)?
    let run: () async throws -> Duration?

    init(
      nodeCount: Int = 1, preparing prepare: (() async throws -> Void)? = nil,
      run: @escaping () async throws -> Void
    ) {
      self.init(
        nodeCount: nodeCount, preparing: prepare,
        reporting: {
          try await run()
          return nil
        })
    }

    private init(
      nodeCount: Int, preparing prepare: (() async throws -> Void)?,
      reporting run: @escaping () async throws -> Duration?
    ) {
      self.nodeCount = nodeCount
      self.prepare = prepare
      self.run = run
    }

    /// One that returns for how long its caller could do nothing else.
    static func pausing(
      nodeCount: Int, preparing prepare: (() async throws -> Void)? = nil,
      _ run: @escaping () async throws -> Duration
    ) -> Self {
      Self(nodeCount: nodeCount, preparing: prepare, reporting: run)
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
      let first = try await Sample.measure(count: 1, contestant)
      counts.append(max(1, Int((sampleTime / first.wall).rounded(.up))))
    }
    var samples = contestants.map { _ in [Sample]() }
    for _ in 0..<rounds {
      for (place, contestant) in contestants.enumerated() {
        samples[place].append(
          try await Sample.measure(count: counts[place], contestant))
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

  /// Compares the only contestant with a bound on its time, in microseconds.
  func row(
    _ what: String, by time: KeyPath<Sample, Double> = \.wall, bound: Double, goal: String,
    _ noise: inout Noise
  ) -> Row {
    let times = times(0, time)
    noise.add(what, times.map { $0 / bound }, time == \.wall ? samples[0] : [])
    return Row(what, ours: times.median, bound: bound, goal: goal, met: times.median <= bound)
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
