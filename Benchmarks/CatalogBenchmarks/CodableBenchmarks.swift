internal import Benchmark
internal import Workload

func addCodableBenchmarks() {
  Benchmark("codable_encode_10000") { _, encoded in
    try encoded.encode()
  } setup: {
    try EncodedCatalog(Catalog(productCount: 10_000))
  }
  Benchmark("codable_decode_10000") { _, encoded in
    blackHole(try encoded.decode())
  } setup: {
    let encoded = try EncodedCatalog(Catalog(productCount: 10_000))
    try encoded.encode()
    return encoded
  }
}
