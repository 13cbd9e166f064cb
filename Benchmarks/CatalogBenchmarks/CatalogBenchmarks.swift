internal import Benchmark

// Each part of the comparison alone, for work on one of them. Times are of all nodes together.
// Allocation counts mean nothing without the malloc interposer, so there are none.
let benchmarks: @Sendable () -> Void = {
  Benchmark.defaultConfiguration = Benchmark.Configuration(
    metrics: [.wallClock, .cpuTotal], warmupIterations: 2, maxDuration: .seconds(3),
    maxIterations: 100)
  addKeeperBenchmarks()
  addRecordBenchmarks()
  addCodableBenchmarks()
  addPeerBenchmarks()
}
