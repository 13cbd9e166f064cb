internal import Benchmark
internal import Workload

func addRecordBenchmarks() {
  Benchmark("records_write_10000") { _, keyed in
    blackHole(try keyed.write())
  } setup: {
    try KeyedCatalog(Catalog(productCount: 10_000))
  }
  Benchmark("records_read_10000") { _, keyed in
    blackHole(try keyed.readAll())
  } setup: {
    try written(10_000)
  }
  Benchmark("records_read_1_of_100000") { _, keyed in
    blackHole(try keyed.readOne(38_197))
  } setup: {
    try written(100_000)
  }
}

private func written(_ productCount: Int) throws -> KeyedCatalog {
  let keyed = try KeyedCatalog(Catalog(productCount: productCount))
  try keyed.write()
  return keyed
}
