import ArchiveCodec
import ArgumentParser
import RestorationInspection
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

  @OptionGroup var options: StateOptions

  @OptionGroup var table: TableOptions

  @Flag(help: "Show the values.")
  var values = false

  func inspect(_ output: Output) throws -> ExitStatus {
    let reading = try options.read()
    var found: [StoredState.Element?] = path.isEmpty ? [nil] : []
    reading.outline.forEach { element in
      let description = element.path.description
      // As it is, and as a terminal shows it.
      if description == path || description.escaped == path { found.append(element) }
    }
    guard !found.isEmpty else {
      let isWhole = reading.status == .done
      throw Failure(
        isWhole ? .nothingStored : .damaged,
        "There is no element “\(path.escaped)”\(isWhole ? "." : " that can be read; see verify.")")
    }
    let elements = found.map { element in
      (element, reading.values(ofRecord: element?.record ?? StoredState.applicationRecord))
    }
    if options.json {
      try output.json { json in
        try json.array { for (element, stored) in elements { try write(element, stored, json) } }
      }
    } else {
      ElementLine.begin(output, table)
      for (element, stored) in elements { try write(element, stored, output) }
    }
    if elements.contains(where: { if case .failure = $0.1 { true } else { false } }) {
      return .damaged
    }
    if reading.status == .damaged { Output.complain("A part of the state is damaged; see verify.") }
    return reading.status
  }

  private func write(
    _ element: StoredState.Element?, _ stored: Result<ValueLines, ArchiveError>?, _ output: Output
  ) throws {
    if let element { try ElementLine(element: element).write(output) }
    switch stored {
    case .success(let lines) where values: try lines.write(output)
    case .success(let lines):
      for key in lines.keys { try output.line("    \(key.escaped)") }
    case .failure(let error): try output.line("    \(output.style.bad(error.phrase))")
    case nil: break
    }
  }

  private func write(
    _ element: StoredState.Element?, _ stored: Result<ValueLines, ArchiveError>?, _ json: JSONWriter
  ) throws {
    try json.object {
      if let element { try ElementLine(element: element).write(json) }
      guard let stored else { return }
      guard !values, case .success(let lines) = stored else { return try stored.write(json) }
      try json.key("keys")
      try json.array { for key in lines.keys { try json.string(key) } }
    }
  }
}
