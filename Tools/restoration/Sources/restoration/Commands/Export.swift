import ArchiveCodec
import ArgumentParser
import RestorationKit

struct Export: Inspection {
  static let configuration = CommandConfiguration(
    abstract: "Writes a state as JSON, in the order of the file.",
    discussion: """
      It can export large states: one record at a time is in memory. A value for which JSON \
      has no form is written as an object with one key: {"$date": …}, {"$data": …} in base64, \
      {"$uuid": …}, {"$url": …}, {"$number": …} for a number that is not finite, \
      {"$record": …} for a reference.
      """)

  @OptionGroup var place: PlaceOptions
  @OptionGroup var keys: KeyOptions

  @Flag(help: "Write the values, except secrets and values that expire.")
  var values = false

  @Flag(help: "Write JSON; an export is always JSON.")
  var json = false

  func inspect(_ output: Output) throws -> ExitStatus {
    let place = try place.place()
    let state = try place.open(keys.credential(for: place))
    let outline = try state.outlineWithProgress()
    let json = JSONWriter(output)
    try json.object {
      try StateHead(place: place, state: state).write(json)
      try json.key("elements")
      try json.array { try write(state, outline, json) }
      try StateHead.writeProblems(outline, json)
    }
    try output.line()
    return StateHead.status(state, outline)
  }

  private func write(
    _ state: StoredState, _ outline: StoredState.Outline, _ json: JSONWriter
  ) throws {
    try state.forEachValues { record, stored in
      let element = outline.element(ofRecord: record)
      guard element != nil || record == StoredState.applicationRecord else { return }
      try json.object {
        if let element {
          try ElementLine(element: element).write(json)
        } else {
          try json.field("kind", "application")
        }
        // What cannot be read is among the problems.
        guard values, case .success(let stored) = stored else { return }
        try ValueLines(values: stored).write(json)
      }
    }
  }
}
