internal import Benchmark
internal import Workload

func addKeeperBenchmarks() {
  Benchmark("keeper_save_10000") { benchmark, kept in
    try kept.startAnew()
    benchmark.startMeasurement()
    blackHole(try await kept.save())
  } setup: {
    try KeptCatalog(Catalog(productCount: 10_000))
  }
  Benchmark("keeper_restore_10000") { _, kept in
    blackHole(try await kept.restore())
  } setup: {
    let kept = try KeptCatalog(Catalog(productCount: 10_000))
    try await kept.save()
    return kept
  }
}
