internal import Foundation

/// How long something took, by the wall clock and by this process's own time.
struct Sample {
  /// In seconds.
  let wall: Double
  /// In seconds; of all threads, in the program and in the kernel.
  let processor: Double
  /// In seconds, as it says of itself: for how long its caller could do nothing else.
  let pause: Double

  /// Measures one run out of `count`, which follow each other.
  ///
  /// What returns no pause of its own pauses its caller all the time.
  static func measure(
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
