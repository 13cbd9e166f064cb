internal import Foundation

/// Rows as text, in columns that read the same in a README.
package struct Table {
  private let rows: [Row]

  package init(_ rows: [Row]) {
    self.rows = rows
  }

  /// Measures a part; one that fails does not cost the others.
  package static func rows(
    _ part: String, _ body: () async throws -> [Row]
  ) async -> [Row] {
    FileHandle.standardError.write(Data("Measuring: \(part)\n".utf8))
    do {
      return try await body()
    } catch {
      return [Row(part, notMeasured: "\(error)", goal: "to be measured")]
    }
  }

  package var text: String {
    let cells = [["what", "ours", "peer", "ratio", "goal", "met"]] + rows.map(\.cells)
    let widths = cells[0].indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
    let lines = cells.map { row in
      "| "
        + row.indices.map { column in
          let padding = String(repeating: " ", count: widths[column] - row[column].count)
          return column == 0 ? row[column] + padding : padding + row[column]
        }.joined(separator: " | ") + " |"
    }
    let rule =
      "|"
      + widths.enumerated().map { column, width in
        column == 0
          ? String(repeating: "-", count: width + 2)
          : String(repeating: "-", count: width + 1) + ":"
      }.joined(separator: "|") + "|"
    return ([lines[0], rule] + lines.dropFirst()).joined(separator: "\n")
  }
}

extension Row {
  fileprivate var cells: [String] {
    [
      what, ours?.asNumber ?? "-", peer?.asNumber ?? "-", ratio.map { "\($0.asNumber)×" } ?? "-",
      goal, goal == Goal.none.text ? "-" : met ? "yes" : "no",
    ]
  }
}

extension Double {
  /// Three significant digits, no exponent.
  package var asNumber: String {
    let digits = magnitude >= 100 ? 0 : magnitude >= 10 ? 1 : 2
    let text = String(format: "%.\(digits)f", self)
    guard text.contains("."), self == rounded() else { return text }
    return String(format: "%.0f", self)
  }
}
