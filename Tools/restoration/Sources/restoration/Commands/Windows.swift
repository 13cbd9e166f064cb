import ArchiveCodec
import ArgumentParser
import RestorationInspection
import RestorationKit

struct Windows: Inspection {
  static let configuration = CommandConfiguration(
    abstract: "Lists the windows of an app by their titles.",
    discussion: """
      Columns: the title, whether the window is open or closed, its role and configuration, when it \
      was closed, the bytes of all that is stored of it, the path of its element, and what is wrong. \
      The window that was used last comes first, and closed ones come last. A title may be something \
      that a user typed: no other subcommand shows it without --values.
      """)

  @OptionGroup var options: StateOptions

  @OptionGroup var table: TableOptions

  private static let names = [
    "window", "what", "role", "configuration", "closed", "bytes", "element", "wrong",
  ]
  private static let widths = [24, 6, 18, 14, 24, -10, 36]

  func inspect(_ output: Output) throws -> ExitStatus {
    let reading = try options.read()
    let windows = reading.state.windows(in: reading.outline)
    guard !windows.isEmpty else {
      throw Failure(
        reading.status == .done ? .nothingStored : .damaged,
        "No window of \(reading.place.name.escaped) is stored in \(reading.place.fileName.escaped)."
      )
    }
    if options.json {
      try output.json { json in try json.array { for window in windows { try window.write(json) } }
      }
    } else {
      output.table(Self.names, widths: Self.widths, table)
      for window in windows { try output.columns(window.columns(output), widths: Self.widths) }
    }
    if windows.contains(where: { $0.error != nil }) { return .damaged }
    if reading.status == .damaged { Output.complain("A part of the state is damaged; see verify.") }
    return reading.status
  }
}

extension StoredState.Window {
  private var standing: String { closedAt == nil ? "open" : "closed" }

  fileprivate func columns(_ output: Output) -> [String] {
    [
      output.style.strong((title ?? "").escaped), standing, (role ?? "").escaped,
      (configurationName ?? "").escaped, closedAt?.text ?? "", "\(byteCount)",
      element.path.description.escaped, error.map { output.style.bad($0.phrase) } ?? "",
    ]
  }

  fileprivate func write(_ json: JSONWriter) throws {
    try json.object {
      try json.field("title", title)
      try json.field("standing", standing)
      try json.field("role", role)
      try json.field("configuration", configurationName)
      try json.field("closedAt", closedAt)
      try json.field("bytes", byteCount)
      try json.field("path", element.path.description)
      guard let error else { return }
      try json.key("error")
      try json.error(error)
    }
  }
}
