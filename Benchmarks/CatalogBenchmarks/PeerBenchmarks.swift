internal import Benchmark
internal import Peers
internal import Workload

func addPeerBenchmarks() {
  addJSONBenchmarks()
  addProtobufBenchmarks()
  addPropertyListBenchmarks()
  Benchmark("sodium_seal_2000000_bytes") { _, peer in
    peer.seal()
  } setup: {
    SodiumPeer(byteCount: 2_000_000)
  }
}

private func addJSONBenchmarks() {
  Benchmark("json_seal_10000") { _, peer in
    try peer.encodeAndSeal()
  } setup: {
    JSONPeer(Catalog(productCount: 10_000))
  }
  Benchmark("json_open_10000") { _, peer in
    blackHole(try peer.openAndDecode())
  } setup: {
    let peer = JSONPeer(Catalog(productCount: 10_000))
    try peer.encodeAndSeal()
    return peer
  }
}

private func addProtobufBenchmarks() {
  Benchmark("protobuf_seal_10000") { _, peer in
    try peer.encodeAndSeal()
  } setup: {
    ProtobufPeer(Catalog(productCount: 10_000))
  }
  Benchmark("protobuf_open_10000") { _, peer in
    blackHole(try peer.openAndDecode())
  } setup: {
    let peer = ProtobufPeer(Catalog(productCount: 10_000))
    try peer.encodeAndSeal()
    return peer
  }
}

private func addPropertyListBenchmarks() {
  Benchmark("plist_seal_10000") { _, peer in
    try peer.encodeAndSeal()
  } setup: {
    PropertyListPeer(Catalog(productCount: 10_000))
  }
  Benchmark("plist_open_10000") { _, peer in
    blackHole(try peer.openAndDecode())
  } setup: {
    let peer = PropertyListPeer(Catalog(productCount: 10_000))
    try peer.encodeAndSeal()
    return peer
  }
}
