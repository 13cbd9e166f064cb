/// Any Codable value through ArchiveEncoder and ArchiveDecoder.
enum CodableRows {
  /// Measure them here as soon as the API is there.
  static let rows = [
    Row("Encode a Codable tree, against JSONEncoder", notMeasured: "API not there", goal: goal),
    Row("Decode a Codable tree, against JSONDecoder", notMeasured: "API not there", goal: goal),
    Row(
      "Encode a Codable tree, against PropertyListEncoder", notMeasured: "API not there",
      goal: Goal.none.text),
    Row(
      "Decode a Codable tree, against PropertyListDecoder", notMeasured: "API not there",
      goal: Goal.none.text),
  ]

  private static let goal = Goal.atLeast(5).text
}
