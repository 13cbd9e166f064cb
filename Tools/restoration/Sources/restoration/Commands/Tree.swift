import ArchiveCodec
import ArgumentParser
import RestorationInspection
import RestorationKit

struct Tree: Inspection {
  static let configuration = CommandConfiguration(
    abstract: "Lists the elements of a state: sizes, versions, classes and paths.",
    discussion: """
      Columns: bytes, version, kind, role, class, path, notes. A window is an element of the role \
      “scene”; windows names it by its title. If the file is damaged, it lists what can be read, and \
      then what is wrong.
      """)

  @OptionGroup var options: StateOptions

  @OptionGroup var table: TableOptions

  @Flag(help: "Show the values.")
  var values = false

  func inspect(_ output: Output) throws -> ExitStatus {
    let reading = try options.read()
    let isRead =
      options.json
      ? try writeJSON(of: reading, output) : try writeLines(of: reading, output)
    return isRead ? reading.status : .damaged
  }

  /// Returns whether all values could be read.
  private func writeLines(of reading: StateReading, _ output: Output) throws -> Bool {
    var isRead = true
    func writeValues(of record: UInt64) throws {
      guard values, let stored = reading.values(ofRecord: record) else { return }
      switch stored {
      case .success(let lines): try lines.write(output, margin: "    ")
      case .failure(let error):
        isRead = false
        try output.line("    \(output.style.bad(error.phrase))")
      }
    }
    ElementLine.begin(output, table)
    try writeValues(of: StoredState.applicationRecord)
    try reading.outline.forEach { element in
      try ElementLine(element: element).write(output)
      try writeValues(of: element.record)
      for unread in element.unread where values {
        try output.line("    " + output.style.warning(unread.phrase))
        try writeValues(of: unread.record)
      }
    }
    output.endTable()
    try reading.writeProblems(output)
    return isRead
  }

  /// Returns whether all values could be read.
  private func writeJSON(of reading: StateReading, _ output: Output) throws -> Bool {
    var isRead = true
    try output.json { json in
      func writeValues(_ stored: Result<ValueLines, ArchiveError>) throws {
        if case .failure = stored { isRead = false }
        try stored.write(json)
      }
      try json.object {
        try reading.head.write(json)
        try json.key("elements")
        try json.array {
          try reading.outline.forEach { element in
            try json.object {
              try ElementLine(element: element).write(json)
              if values, let stored = reading.values(ofRecord: element.record) {
                try writeValues(stored)
              }
              try ElementLine(element: element).writeUnread(json) { unread in
                guard values, let stored = reading.values(ofRecord: unread.record) else { return }
                try writeValues(stored)
              }
            }
          }
        }
        if values, let own = reading.values(ofRecord: StoredState.applicationRecord) {
          try json.key("applicationValues")
          try json.object { try writeValues(own) }
        }
        try reading.writeProblems(json)
      }
    }
    return isRead
  }
}
