internal import ArchiveCodec
internal import Foundation
internal import Peers
internal import Tables
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
    let rows = [
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
    return rows + (try await probed(&noise))
  }

  /// Values that try one type after the other, as JSON of any form is decoded.
  private static func probed(_ noise: inout Noise) async throws -> [Row] {
    let key = try ArchiveKey()
    let context = ArchiveContext(["org.example.catalog", "probed"])
    var rows: [Row] = []
    for (shape, value) in ProbedValue.samples(count: nodeCount) {
      let bytes = try ArchiveEncoder().encode(value, key: key, context: context)
      let json = try JSONEncoder().encode(value)
      func decodeOurs() throws -> ProbedValue {
        try ArchiveDecoder().decode(from: bytes, key: key, context: context)
      }
      func decodeJSON() throws -> ProbedValue {
        try JSONDecoder().decode(ProbedValue.self, from: json)
      }
      guard try decodeOurs() == value, try decodeJSON() == value else {
        throw WorkloadError("what is decoded is not what was encoded")
      }
      let decoding = try await Contest([
        .init(nodeCount: nodeCount) { _ = try decodeOurs() },
        .init(nodeCount: nodeCount) { _ = try decodeJSON() },
      ])
      rows.append(
        decoding.row(
          "Decode 10,000 probed values (AnyCodable), \(shape), against JSONDecoder",
          unit: "µs per value", against: 1, goal: .atLeast(2), &noise))
    }
    return rows
  }
}
