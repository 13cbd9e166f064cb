internal import Peers
internal import Workload

/// A Codable tree through ArchiveEncoder and ArchiveDecoder, which seal, and
/// through Foundation's coders, which do not.
enum CodableRows {
  private static let nodeCount = 10_000

  static func measure(_ noise: inout Noise) async throws -> [Row] {
    let catalog = Catalog(productCount: nodeCount)
    let ours = try EncodedCatalog(catalog)
    try ours.encode()
    guard try ours.decode() == catalog else {
      throw WorkloadError("what is decoded is not what was encoded")
    }
    let json = JSONPeer(catalog)
    let propertyList = PropertyListPeer(catalog)
    let encoding = try await Contest([
      .init(nodeCount: nodeCount) { try ours.encode() },
      .init(nodeCount: nodeCount) { try json.encode() },
      .init(nodeCount: nodeCount) { try propertyList.encode() },
    ])
    let decoding = try await Contest([
      .init(nodeCount: nodeCount) { _ = try ours.decode() },
      .init(nodeCount: nodeCount) { _ = try json.decode() },
      .init(nodeCount: nodeCount) { _ = try propertyList.decode() },
    ])
    return [
      encoding.row(
        "Encode and seal 10,000 Codable nodes, against JSONEncoder", against: 1,
        goal: .atLeast(5), &noise),
      decoding.row(
        "Open and decode 10,000 Codable nodes, against JSONDecoder", against: 1,
        goal: .atLeast(5), &noise),
      encoding.row(
        "Encode and seal 10,000 Codable nodes, against PropertyListEncoder", against: 2,
        goal: .none, &noise),
      decoding.row(
        "Open and decode 10,000 Codable nodes, against PropertyListDecoder", against: 2,
        goal: .none, &noise),
    ]
  }
}
