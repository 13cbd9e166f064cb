internal import Foundation
internal import Tables

/// Measures everything side by side and prints one table.
@main
enum CompareTable {
  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    switch arguments.first {
    case nil: _ = await measure()
    case "--json" where arguments.count == 2:
      let rows = await measure()
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .withoutEscapingSlashes]
      try encoder.encode(rows).write(to: URL(filePath: arguments[1]))
    case "--small" where arguments.count == 1: _ = await measureSmallStates()
    case "--goals" where arguments.count <= 2:
      _ = await measureGoals(arguments.dropFirst().first)
    case LaunchRows.launching where arguments.count == 2:
      try await LaunchRows.launchInThisProcess(directory: arguments[1])
    case LaunchRows.reading where arguments.count == 2:
      try LaunchRows.readInThisProcess(directory: arguments[1])
    case ArchiveWriting.argument where arguments.count == 2:
      try ArchiveWriting.runInThisProcess(recordCount: Int(arguments[1]) ?? 0)
    case TreeMemoryRows.savingArgument where arguments.count == 2:
      try await TreeMemoryRows.saveInThisProcess(directory: arguments[1])
    case TreeMemoryRows.restoringArgument where arguments.count == 2:
      try await TreeMemoryRows.restoreInThisProcess(directory: arguments[1])
    default:
      FileHandle.standardError.write(
        Data("Usage: CompareTable [--json FILE | --small | --goals [PART]]\n".utf8))
      exit(2)
    }
  }

  private static func measureSmallStates() async -> [Row] {
    var noise = Noise()
    var rows = await Table.rows("Small states") { try await SmallStateRows.measure(&noise) }
    rows += await Table.rows("Launches") { try await LaunchRows.measure(&noise) }
    return printed(rows, noise)
  }

  private static func measureGoals(_ part: String?) async -> [Row] {
    var noise = Noise()
    var rows: [Row] = []
    for goals in GoalRows.Part.allCases where part == nil || part == goals.rawValue {
      rows += await Table.rows(goals.rawValue) { try await GoalRows.measure(goals, &noise) }
    }
    return printed(rows, noise)
  }

  private static func printed(_ rows: [Row], _ noise: Noise) -> [Row] {
    print(Table(rows).text)
    print()
    print(noise.description)
    return rows
  }

  private static func measure() async -> [Row] {
    var noise = Noise()
    var rows: [Row] = []
    rows += await Table.rows("Trees of nodes") { try await TreeRows.measure(&noise) }
    rows += await Table.rows("Keyed records") { try await RecordRows.measure(&noise) }
    rows += await Table.rows("Codable values") { try await CodableRows.measure(&noise) }
    rows += await Table.rows("Appending") { try await AppendRows.measure(&noise) }
    rows += await Table.rows("Saving changes") { try await ChangeRows.measure(&noise) }
    rows += await Table.rows("Small states") { try await SmallStateRows.measure(&noise) }
    rows += await Table.rows("Launches") { try await LaunchRows.measure(&noise) }
    rows += await Table.rows("NSKeyedArchiver") { try await KeyedArchiverRows.measure(&noise) }
    rows += await Table.rows("Trees of a million nodes") { try await GrowthRows.measure(&noise) }
    rows += await Table.rows("Memory for a million nodes") { try TreeMemoryRows.rows() }
    rows += await Table.rows("An archive of 1 GiB") { try ArchiveWriting.rows() }
    return printed(rows, noise)
  }
}
