internal import ArchiveCodec
internal import Tables
internal import Workload

/// The peak memory of a process that writes an archive of 1 GiB to a file.
enum ArchiveWriting {
  static let argument = "--write-archive"

  private static let recordCount = 5_450_000
  private static let what = "Write a 1 GiB archive, peak memory, against 64 MiB + 16 B a record"

  static func rows() throws -> [Row] {
    guard let peak = try PeakMemory.ofProcess([argument, "\(recordCount)"]) else {
      return [Row(what, notMeasured: "the writing process failed", goal: Goal.atMost(1).text)]
    }
    return [
      Row(
        "\(what), MiB", ours: Double(peak) / 0x1p20,
        peer: 64 + Double(16 * recordCount) / 0x1p20, goal: .atMost(1))
    ]
  }

  static func runInThisProcess(recordCount: Int) throws {
    let directory = try TemporaryDirectory()
    defer { directory.remove() }
    let products = Catalog(productCount: 1_000).products
    let summary = try Archive.write(
      to: FileStorage(path: directory.path("large.rka")), key: try ArchiveKey(),
      context: ArchiveContext(["org.example.catalog", "large"])
    ) { records in
      for number in 0..<recordCount {
        try records.append(record: UInt64(number + 1)) {
          products[number % products.count].encode(with: $0)
        }
      }
    }
    guard summary.byteCount >= 1 << 30 else {
      throw WorkloadError("the archive has only \(summary.byteCount) bytes")
    }
    try PeakMemory.report()
  }
}
