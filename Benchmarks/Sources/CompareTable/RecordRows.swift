internal import Peers
internal import Tables
internal import Workload

/// Keyed records through ArchiveCodec alone.
enum RecordRows {
  private static let unit = "µs per record"

  static func measure(_ noise: inout Noise) async throws -> [Row] {
    try await all(&noise) + [try await one(&noise)]
  }

  private static func all(_ noise: inout Noise) async throws -> [Row] {
    let catalog = Catalog(productCount: 10_000)
    let keyed = try KeyedCatalog(catalog)
    let sodium = SodiumPeer(byteCount: try keyed.write())
    guard try keyed.readAll() == catalog.products else {
      throw WorkloadError("what is read is not what was written")
    }
    let json = JSONPeer(catalog)
    let writing = try await Contest([
      .init(nodeCount: 10_000) { try keyed.write() },
      .init(nodeCount: 10_000) { sodium.seal() },
      .init(nodeCount: 10_000) { try json.encodeAndSeal() },
    ])
    let reading = try await Contest([
      .init(nodeCount: 10_000) { _ = try keyed.readAll() },
      .init(nodeCount: 10_000) { _ = try json.openAndDecode() },
    ])
    return [
      writing.row(
        "Encode and seal 10,000 keyed records, against libsodium sealing as many bytes",
        unit: unit, against: 1, goal: .atMost(2.5), &noise),
      writing.row(
        "Encode and seal 10,000 keyed records, against JSON + ChaChaPoly", unit: unit,
        against: 2, goal: .none, &noise),
      reading.row(
        "Open and decode 10,000 keyed records, against ChaChaPoly + JSON", unit: unit,
        against: 1, goal: .none, &noise),
    ]
  }

  private static func one(_ noise: inout Noise) async throws -> Row {
    let keyed = try KeyedCatalog(Catalog(productCount: 100_000))
    try keyed.write()
    var number: UInt64 = 0
    let contest = try await Contest([
      .init {
        number = (number + 38_197) % 100_000
        _ = try keyed.readOne(number + 1)
      },
      .init { _ = try keyed.readAll() },
    ])
    return contest.row(
      "Open and read 1 record of 100,000, against decoding all", unit: "µs", against: 1,
      goal: .atLeast(100), &noise)
  }
}
