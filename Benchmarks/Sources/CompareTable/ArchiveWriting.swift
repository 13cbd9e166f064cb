internal import ArchiveCodec
internal import Foundation
internal import Workload

/// The peak memory of a process that writes an archive of 1 GiB to a file.
enum ArchiveWriting {
  static let argument = "--write-archive"

  private static let recordCount = 5_450_000
  private static let what = "Write a 1 GiB archive, peak memory, against 64 MiB + 16 B a record"

  private struct Outcome: Codable {
    let archiveByteCount: Int
    let peakByteCount: Int
  }

  /// Measures in a process of its own, because the peak of this one is higher.
  static func rows() throws -> [Row] {
    let child = Process()
    let output = Pipe()
    child.executableURL = Bundle.main.executableURL
    child.arguments = [argument, "\(recordCount)"]
    child.standardOutput = output
    try child.run()
    let answer = try output.fileHandleForReading.readToEnd() ?? Data()
    child.waitUntilExit()
    guard child.terminationStatus == 0 else {
      return [Row(what, notMeasured: "the writing process failed", goal: Goal.atMost(1).text)]
    }
    let outcome = try JSONDecoder().decode(Outcome.self, from: answer)
    guard outcome.archiveByteCount >= 1 << 30 else {
      throw WorkloadError("the archive has only \(outcome.archiveByteCount) bytes")
    }
    return [
      Row(
        "\(what), MiB", ours: Double(outcome.peakByteCount) / 0x1p20,
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
    let outcome = Outcome(archiveByteCount: summary.byteCount, peakByteCount: try peakMemory())
    try FileHandle.standardOutput.write(contentsOf: JSONEncoder().encode(outcome))
  }

  /// In bytes.
  private static func peakMemory() throws -> Int {
    #if os(Linux)
    // Not getrusage: its peak begins with that of the process that forked.
    let status = try String(contentsOf: URL(filePath: "/proc/self/status"), encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    guard let kibibytes = line?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
      throw WorkloadError("the system does not tell the peak memory")
    }
    return kibibytes << 10
    #else
    var usage = rusage()
    getrusage(RUSAGE_SELF, &usage)
    return usage.ru_maxrss
    #endif
  }
}
