internal import Peers
internal import Tables
internal import Workload

/// A tree of nodes through StateKeeper, in memory, against the peers.
enum TreeRows {
  private static let nodeCount = 10_000

  static func measure(_ noise: inout Noise) async throws -> [Row] {
    let catalog = Catalog(productCount: nodeCount)
    let kept = try KeptCatalog(catalog)
    let byteCount = try await kept.save().byteCount
    guard try await kept.restore().catalog == catalog else {
      throw WorkloadError("what is restored is not what was saved")
    }
    let floor = try FloorPeer(catalog)
    guard try floor.restore().catalog == catalog,
      (0.9...1.1).contains(Double(floor.byteCount) / Double(byteCount))
    else { throw WorkloadError("the floor does not do what we do") }
    let json = JSONPeer(catalog)
    try json.encode()
    let jsonByteCount = json.encodedByteCount
    let peers = Peers(
      json: json, protobuf: ProtobufPeer(catalog), propertyList: PropertyListPeer(catalog),
      sodium: SodiumPeer(byteCount: byteCount), floor: floor)
    return try await saving(kept, peers, &noise) + restoring(kept, peers, &noise) + [
      Row(
        "Size with encryption, 10,000 nodes, against JSON without, bytes per node",
        ours: Double(byteCount) / Double(nodeCount),
        peer: Double(jsonByteCount) / Double(nodeCount), goal: .atMost(0.7))
    ]
  }

  private struct Peers {
    let json: JSONPeer
    let protobuf: ProtobufPeer
    let propertyList: PropertyListPeer
    let sodium: SodiumPeer
    let floor: FloorPeer
  }

  private static func saving(
    _ kept: KeptCatalog, _ peers: Peers, _ noise: inout Noise
  ) async throws -> [Row] {
    let contest = try await Contest([
      .pausing(nodeCount: nodeCount, preparing: kept.startAnew) { try await kept.save().pause },
      .init(nodeCount: nodeCount) { try peers.json.encodeAndSeal() },
      .init(nodeCount: nodeCount) { peers.sodium.seal() },
      .init(nodeCount: nodeCount) { try peers.protobuf.encodeAndSeal() },
      .init(nodeCount: nodeCount) { try peers.propertyList.encodeAndSeal() },
      .init(nodeCount: nodeCount) { try peers.floor.save() },
    ])
    let what = "Save 10,000 nodes in memory, against"
    return [
      contest.row("\(what) JSON + ChaChaPoly", against: 1, goal: .atLeast(15), &noise),
      contest.row(
        "\(what) JSON + ChaChaPoly, pause of the caller", by: \.pause, against: 1,
        goal: .atLeast(15), &noise),
      contest.row("\(what) the same by hand", against: 5, goal: .atMost(1.4), &noise),
      contest.row("\(what) libsodium sealing as many bytes", against: 2, goal: .none, &noise),
      contest.row("\(what) protobuf + ChaChaPoly", against: 3, goal: .atLeast(1.2), &noise),
      contest.row("\(what) property list + ChaChaPoly", against: 4, goal: .none, &noise),
    ]
  }

  private static func restoring(
    _ kept: KeptCatalog, _ peers: Peers, _ noise: inout Noise
  ) async throws -> [Row] {
    let contest = try await Contest([
      .init(nodeCount: nodeCount) { try await kept.restore() },
      .init(nodeCount: nodeCount) { _ = try peers.json.openAndDecode() },
      .init(nodeCount: nodeCount) { _ = try peers.protobuf.openAndDecode() },
      .init(nodeCount: nodeCount) { _ = try peers.propertyList.openAndDecode() },
      .init(nodeCount: nodeCount) { _ = try peers.floor.restore() },
    ])
    let what = "Restore 10,000 nodes from memory, against"
    return [
      contest.row("\(what) ChaChaPoly + JSON", against: 1, goal: .atLeast(7), &noise),
      contest.row("\(what) ChaChaPoly + protobuf", against: 2, goal: .atLeast(0.8), &noise),
      contest.row("\(what) the same by hand", against: 4, goal: .atMost(1.5), &noise),
      contest.row("\(what) ChaChaPoly + property list", against: 3, goal: .none, &noise),
    ]
  }
}
