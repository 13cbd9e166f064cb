import ArchiveCodec
import ArgumentParser
import RestorationInspection
import RestorationKit

struct Show: Inspection {
  static let configuration = CommandConfiguration(
    abstract: "Shows what is stored of one element.",
    discussion: """
      Without --values it names the keys and does not show their values. States of the element that \
      no object has read follow its own, each with why and since when it is kept. Elements with \
      equal paths, as in a stack, are shown one after the other.
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
    let elements = found.map { Shown($0, reading) }
    if options.json {
      try output.json { json in
        try json.array { for element in elements { try write(element, json) } }
      }
    } else {
      ElementLine.begin(output, table)
      for element in elements { try write(element, output) }
    }
    if elements.contains(where: \.isUnreadable) { return .damaged }
    if reading.status == .damaged { Output.complain("A part of the state is damaged; see verify.") }
    return reading.status
  }

  /// An element, or the application, with what is stored of it.
  private struct Shown {
    typealias Stored = Result<ValueLines, ArchiveError>

    let element: StoredState.Element?
    let own: Stored?
    var unread: [(state: StoredState.Kept, stored: Stored?)] = []

    init(_ element: StoredState.Element?, _ reading: StateReading) {
      self.element = element
      own = reading.values(ofRecord: element?.record ?? StoredState.applicationRecord)
      unread = (element?.unread ?? []).map { ($0, reading.values(ofRecord: $0.record)) }
    }

    var isUnreadable: Bool {
      ([own] + unread.map(\.stored)).contains { if case .failure = $0 { true } else { false } }
    }
  }

  private func write(_ shown: Shown, _ output: Output) throws {
    if let element = shown.element { try ElementLine(element: element).write(output) }
    try write(shown.own, output, margin: "    ")
    for (state, stored) in shown.unread {
      try output.line("    " + output.style.warning(state.phrase))
      try write(stored, output, margin: "        ")
    }
  }

  private func write(_ stored: Shown.Stored?, _ output: Output, margin: String) throws {
    switch stored {
    case .success(let lines) where values: try lines.write(output, margin: margin)
    case .success(let lines):
      for key in lines.keys { try output.line(margin + key.escaped) }
    case .failure(let error): try output.line(margin + output.style.bad(error.phrase))
    case nil: break
    }
  }

  private func write(_ shown: Shown, _ json: JSONWriter) throws {
    try json.object {
      if let element = shown.element { try ElementLine(element: element).write(json) }
      try write(shown.own, json)
      guard !shown.unread.isEmpty else { return }
      try json.key("unread")
      try json.array {
        for (state, stored) in shown.unread {
          try json.object {
            try state.write(json)
            try write(stored, json)
          }
        }
      }
    }
  }

  private func write(_ stored: Shown.Stored?, _ json: JSONWriter) throws {
    guard let stored else { return }
    guard !values, case .success(let lines) = stored else { return try stored.write(json) }
    try json.key("keys")
    try json.array { for key in lines.keys { try json.string(key) } }
  }
}
