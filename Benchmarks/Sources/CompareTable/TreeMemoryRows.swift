internal import Tables
internal import Workload

/// The peak memory of a process that saves a million nodes to a file, and of one
/// that restores them from there.
enum TreeMemoryRows {
  static let savingArgument = "--save-nodes"
  static let restoringArgument = "--restore-nodes"

  private static let nodeCount = 1_000_000

  /// What f378cc6 needed, on the same machine, as the median of three runs.
  private static let savingBound = 1083.0
  private static let restoringBound = 2871.0

  static func rows() throws -> [Row] {
    let directory = try TemporaryDirectory()
    defer { directory.remove() }
    return [
      try row(
        "Save 1,000,000 nodes to a file", savingArgument, directory, bound: savingBound),
      try row(
        "Restore 1,000,000 nodes from a file", restoringArgument, directory, bound: restoringBound),
    ]
  }

  private static func row(
    _ what: String, _ argument: String, _ directory: TemporaryDirectory, bound: Double
  ) throws -> Row {
    let what = "\(what), peak memory, against f378cc6"
    let goal = "≤ \(bound.asNumber)"
    guard let peak = try PeakMemory.ofProcess([argument, directory.path("state")]) else {
      return Row(what, notMeasured: "the process failed", goal: goal)
    }
    let mebibytes = Double(peak) / 0x1p20
    return Row("\(what), MiB", ours: mebibytes, bound: bound, goal: goal, met: mebibytes <= bound)
  }

  static func saveInThisProcess(directory: String) async throws {
    try await FiledCatalog(directory: directory).save(productCount: nodeCount)
    try PeakMemory.report()
  }

  static func restoreInThisProcess(directory: String) async throws {
    guard try await FiledCatalog(directory: directory).restore() == nodeCount else {
      throw WorkloadError("not all nodes came back")
    }
    try PeakMemory.report()
  }
}
