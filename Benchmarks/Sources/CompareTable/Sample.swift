internal import Foundation

/// How long something took, by the wall clock and by this process's own time.
struct Sample {
  /// In seconds.
  let wall: Double
  /// In seconds; of all threads, in the program and in the kernel.
  let processor: Double

  /// Measures one run out of `count`, which follow each other.
  static func measure(
    count: Int, _ body: () async throws -> Void
  ) async rethrows -> Sample {
    let processorBefore = processorTime
    let start = ContinuousClock.now
    for _ in 0..<count { try await body() }
    let wall = start.duration(to: .now) / .seconds(count)
    return Sample(wall: wall, processor: (processorTime - processorBefore) / Double(count))
  }

  private static var processorTime: Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
