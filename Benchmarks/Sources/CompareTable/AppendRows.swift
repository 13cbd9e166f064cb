/// A save after 1 of 100,000 nodes has changed.
enum AppendRows {
  /// Measure them here as soon as the API is there; the first by
  /// ``Sample/processor``.
  static let rows = [
    Row(
      "Save after 1 of 100,000 nodes changed, against a full save, processor time",
      notMeasured: "API not there", goal: Goal.atLeast(1000).text),
    Row(
      "Save after 1 of 100,000 nodes changed, bytes appended", notMeasured: "API not there",
      goal: "≤ 400"),
    Row(
      "Save after 1 of 100,000 nodes changed, calls of fdatasync", notMeasured: "API not there",
      goal: "1"),
  ]
}
