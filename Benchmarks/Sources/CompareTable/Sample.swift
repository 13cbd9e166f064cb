internal import Foundation
internal import Tables

/// How long something took, by the wall clock and by this process's own time.
struct Sample {
  /// In seconds.
  let wall: Double
  /// In seconds; of all threads, in the program and in the kernel.
  let processor: Double
  /// In seconds, as it says of itself: for how long its caller could do nothing else.
  let pause: Double

  /// Measures one run out of `count`, which follow each other but for what prepares them.
  static func measure(count: Int, _ contestant: Contest.Contestant) async throws -> Sample {
    guard let prepare = contestant.prepare else {
      return try await measure(count: count, contestant.run)
    }
    var samples: [Sample] = []
    for _ in 0..<count {
      try await prepare()
      samples.append(try await measure(count: 1, contestant.run))
    }
    return Sample(
      wall: samples.mean(of: \.wall), processor: samples.mean(of: \.processor),
      pause: samples.mean(of: \.pause))
  }

  /// What returns no pause of its own pauses its caller all the time.
  private static func measure(
    count: Int, _ body: () async throws -> Duration?
  ) async rethrows -> Sample {
    let processorBefore = processorTime
    let start = ContinuousClock.now
    var pause: Duration?
    for _ in 0..<count {
      if let duration = try await body() { pause = (pause ?? .zero) + duration }
    }
    let wall = start.duration(to: .now) / .seconds(count)
    return Sample(
      wall: wall, processor: (processorTime - processorBefore) / Double(count),
      pause: pause.map { $0 / .seconds(count) } ?? wall)
  }

  private static var processorTime: Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}

extension [Sample] {
  fileprivate func mean(of time: KeyPath<Sample, Double>) -> Double {
    reduce(0) { $0 + $1[keyPath: time] } / Double(count)
  }
}
