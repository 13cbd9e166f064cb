import ArchiveCodec
import ArgumentParser
import RestorationKit

struct Tree: Inspection {
  static let configuration = CommandConfiguration(
    abstract: "Lists the elements of a state: sizes, versions, classes and paths.",
    discussion: """
      Columns: bytes, version, kind, role, class, path, notes. If the file is damaged, it lists \
      what can be read, and then what is wrong.
      """)

  @OptionGroup var place: PlaceOptions
  @OptionGroup var keys: KeyOptions

  @Flag(help: "Show the values, except secrets and values that expire.")
  var values = false

  @Flag(help: "Write JSON.")
  var json = false

  func inspect(_ output: Output) throws -> ExitStatus {
    let place = try place.place()
    let state = try place.open(keys.credential(for: place))
    let outline = try state.outlineWithProgress()
    if json {
      let writer = JSONWriter(output)
      try writer.object {
        try StateHead(place: place, state: state).write(writer)
        try write(state, outline, writer)
        try StateHead.writeProblems(outline, writer)
      }
      try output.line()
    } else {
      try write(state, outline, output)
      try StateHead.writeProblems(state, outline, output)
    }
    return StateHead.status(state, outline)
  }

  private func write(
    _ state: StoredState, _ outline: StoredState.Outline, _ output: Output
  ) throws {
    if values { try writeValues(of: StoredState.applicationRecord, state, output) }
    try outline.forEach { element in
      try ElementLine(element: element).write(output)
      if values { try writeValues(of: element.record, state, output) }
    }
  }

  private func writeValues(
    of record: UInt64, _ state: StoredState, _ output: Output
  ) throws {
    let values: StoredState.Values?
    do throws(ArchiveError) {
      values = try state.values(ofRecord: record)
    } catch {
      return try output.line("    \(output.style.bad(error.phrase))")
    }
    if let values { try ValueLines(values: values).write(output) }
  }

  private func write(
    _ state: StoredState, _ outline: StoredState.Outline, _ json: JSONWriter
  ) throws {
    try json.key("elements")
    try json.array {
      try outline.forEach { element in
        try json.object {
          try ElementLine(element: element).write(json)
          guard values, let stored = try? state.values(ofRecord: element.record) else { return }
          try ValueLines(values: stored).write(json)
        }
      }
    }
    guard values, let own = try? state.values(ofRecord: StoredState.applicationRecord) else {
      return
    }
    try json.key("applicationValues")
    try json.object { try ValueLines(values: own).write(json) }
  }
}
