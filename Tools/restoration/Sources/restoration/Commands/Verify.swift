import ArchiveCodec
import ArgumentParser
import RestorationInspection
import RestorationKit

struct Verify: Inspection {
  static let configuration = CommandConfiguration(
    abstract: "Checks every byte of a state, and that every record has its place.",
    discussion: """
      Columns: a word, and what it is about. “intact”: all is well. “damage”: a part of the \
      state cannot be read, so a restore takes none of it. “dropped”: a change that a save has \
      appended is damaged or cut off; it is left out, with all later ones. “restored”: what a \
      restore takes of such a file. “problem”: a record that cannot be used.
      """)

  @OptionGroup var options: StateOptions

  @OptionGroup var table: TableOptions

  func inspect(_ output: Output) throws -> ExitStatus {
    let reading = try options.read()
    let isIntact = reading.status == .done
    if options.json {
      try output.json { json in
        try json.object {
          try reading.head.write(json)
          try json.field("isIntact", isIntact)
          try json.field("isRestorable", reading.failure == nil)
          try json.field("elements", reading.outline.count)
          try reading.writeProblems(json)
        }
      }
      return reading.status
    }
    output.table(["what", "about"], widths: [8], table)
    if isIntact {
      let archive = reading.state.archive
      try output.columns(
        [
          output.style.good("intact"),
          "\(reading.outline.count.of("element")), \(archive.extent.byteCount.of("byte")),"
            + " generation \(archive.version.generation),"
            + " \(archive.extent.changeCount.of("change"))",
        ], widths: [8])
    }
    try reading.writeProblems(output)
    if let dropped = reading.state.archive.dropped, reading.failure == nil {
      let date = reading.state.facts?.savedAt.map { ", saved \($0.text)" } ?? ""
      let end = dropped.offset.map { "from byte \($0) on" } ?? "after it"
      try output.columns(
        ["restored", "the state before that\(date); the changes \(end) are lost"], widths: [8])
    }
    return reading.status
  }
}
