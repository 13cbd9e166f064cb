internal import ArchiveCodec
internal import Foundation
internal import RestorationKit
internal import RestorationPostgreSQL
internal import Tables
internal import Workload

/// Measures states in a PostgreSQL beside rows of sealed JSON in it, and prints one table.
///
/// The connection string of a database of its own is in RESTORATION_POSTGRES.
@main
enum StoreTable {
  static let memoryArgument = "--memory"

  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard let string = ProcessInfo.processInfo.environment["RESTORATION_POSTGRES"] else {
      FileHandle.standardError.write(Data("Run it with Scripts/bench --stores.\n".utf8))
      exit(2)
    }
    switch arguments.first {
    case nil: await measure(string)
    case memoryArgument where arguments.count == 2:
      try await LiveSessions.reportMemory(string, count: Int(arguments[1]) ?? 0)
    default:
      FileHandle.standardError.write(Data("Usage: StoreTable\n".utf8))
      exit(2)
    }
  }

  /// Measures where the requests of a server run, which is not the thread of the main actor.
  @concurrent
  private static func measure(_ string: String) async {
    var rows: [Row] = []
    rows += await Table.rows("Saves of 1,000 sessions") { try await SaveRows(string).measure() }
    rows += await Table.rows("Restores among 1,000,000") { try await RestoreRows(string).measure() }
    rows += await Table.rows("Memory of live sessions") { [try LiveSessions.row(string)] }
    print(Table(rows).text)
  }
}

extension [Double] {
  /// The value below which a part of all lie.
  func quantile(_ part: Double) -> Double {
    let sorted = sorted()
    guard !sorted.isEmpty else { return .nan }
    return sorted[Swift.min(sorted.count - 1, Int(Double(sorted.count) * part))]
  }

  var median: Double { quantile(0.5) }
}

extension Duration {
  var milliseconds: Double { self / .milliseconds(1) }
}
