internal import ArchiveCodec
internal import Tables
internal import Workload

/// One changed record of 100,000, appended to a file.
enum AppendRows {
  private static let recordCount = 100_000
  private static let context = ArchiveContext(["org.example.catalog", "append"])
  private static let what = "Append 1 changed record of 100,000 to a file"

  static func measure(_ noise: inout Noise) async throws -> [Row] {
    let directory = try TemporaryDirectory()
    defer { directory.remove() }
    let key = try ArchiveKey()
    let products = Catalog(productCount: recordCount).products
    let appended = CountingStorage(FileStorage(path: directory.path("appended.rka")))
    let written = FileStorage(path: directory.path("written.rka"))
    try write(products, to: appended, key)
    let writer = try ArchiveWriter.open(appended, key: key, context: context)
    let sizes = try one(products[0], appended, writer)
    let plain = try PlainFile(
      path: directory.path("plain"), byteCount: try appended.byteCount,
      commitByteCount: Int(sizes[0].ours ?? 0))
    var number = 0
    let contest = try await Contest([
      .init {
        number = (number + 38_197) % recordCount
        try append(products[number], UInt64(number + 1), with: writer)
      },
      .init { try write(products, to: written, key) },
      .init { try plain.append() },
    ])
    return [
      contest.row(
        "\(what), against writing all, processor time", unit: "µs", by: \.processor, against: 1,
        goal: .atLeast(1000), &noise),
      contest.row(
        "\(what), against pwrite + fdatasync of as many bytes, processor time", unit: "µs",
        by: \.processor, against: 2, goal: .atMost(1.3), &noise),
    ] + sizes
  }

  private static func one(
    _ product: Product, _ storage: CountingStorage, _ writer: ArchiveWriter
  ) throws -> [Row] {
    let bytesBefore = try storage.byteCount
    let callsBefore = storage.synchronizeCount
    try append(product, 1, with: writer)
    let byteCount = Double(try storage.byteCount - bytesBefore)
    let callCount = Double(storage.synchronizeCount - callsBefore)
    return [
      Row("\(what), bytes", ours: byteCount, bound: 400, goal: "≤ 400", met: byteCount <= 400),
      Row("\(what), calls of fdatasync", ours: callCount, bound: 1, goal: "1", met: callCount == 1),
    ]
  }

  private static func append(
    _ product: Product, _ record: UInt64, with writer: ArchiveWriter
  ) throws {
    var product = product
    product.stock += 1
    let builder = writer.builder()
    try builder.append(record: record) { product.encode(with: $0) }
    try writer.append(try builder.finish())
  }

  private static func write(
    _ products: [Product], to storage: any ArchiveStorage, _ key: ArchiveKey
  ) throws {
    _ = try Archive.write(to: storage, key: key, context: context) { records in
      for (place, product) in products.enumerated() {
        try records.append(record: UInt64(place + 1)) { product.encode(with: $0) }
      }
    }
  }
}
