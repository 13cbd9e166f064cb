import ArchiveCodec
import ArgumentParser
import RestorationKit

struct Show: Inspection {
  static let configuration = CommandConfiguration(
    abstract: "Shows what is stored of one element.",
    discussion: """
      Without --values it names the keys and does not show their values. Elements with equal \
      paths, as in a stack, are shown one after the other.
      """)

  @Argument(help: "The path, as tree prints it; the empty path is the application.")
  var path: String

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
    var found: [StoredState.Element?] = path.isEmpty ? [nil] : []
    outline.forEach { if $0.path.description == path { found.append($0) } }
    guard !found.isEmpty else {
      throw Failure(.nothingStored, "There is no element “\(path.escaped)”.")
    }
    let writer = JSONWriter(output)
    if json { try writer.beginArray() }
    for element in found {
      let stored = try state.values(
        ofRecord: element?.record ?? StoredState.applicationRecord
      ).map { ValueLines(values: $0) }
      if json { try write(element, stored, writer) } else { try write(element, stored, output) }
    }
    if json {
      try writer.endArray()
      try output.line()
    }
    return .done
  }

  private func write(
    _ element: StoredState.Element?, _ stored: ValueLines?, _ output: Output
  ) throws {
    if let element { try ElementLine(element: element).write(output) }
    guard let stored else { return }
    if values { return try stored.write(output) }
    for key in stored.keys { try output.line("    \(key.escaped)") }
    for key in stored.values.sensitive {
      try output.line(
        "    \(key.keys.joined(separator: ".").escaped) withheld: "
          + (key.isSecret ? "a secret" : "ends \(key.end?.text ?? "")"))
    }
  }

  private func write(
    _ element: StoredState.Element?, _ stored: ValueLines?, _ json: JSONWriter
  ) throws {
    try json.object {
      if let element { try ElementLine(element: element).write(json) }
      guard let stored else { return }
      if values { return try stored.write(json) }
      try json.key("keys")
      try json.array { for key in stored.keys { try json.string(key) } }
      try json.key("withheld")
      try json.array {
        for key in stored.values.sensitive { try json.string(key.keys.joined(separator: ".")) }
      }
    }
  }
}
