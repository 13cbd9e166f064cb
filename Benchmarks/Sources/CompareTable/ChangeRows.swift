/// Saves of what changed since the last save.
enum ChangeRows {
  private static let reason = "API not there"

  /// Measure them here as soon as the API is there.
  static let rows = [
    Row(
      "Save 1 changed node of 100,000, against pwrite + fdatasync of as many bytes, "
        + "processor time", notMeasured: reason, goal: Goal.atMost(1.5).text),
    Row(
      "Save 100 changed nodes of 100,000, against pwrite + fdatasync of as many bytes, "
        + "processor time", notMeasured: reason, goal: Goal.none.text),
    Row(
      "Save 100,000 nodes of which none changed", notMeasured: reason,
      goal: "≤ 20 µs, no write"),
    Row(
      "Save 100,000 nodes for the first time after a restore", notMeasured: reason,
      goal: Goal.none.text),
  ]
}
