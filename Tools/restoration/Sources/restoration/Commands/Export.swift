import ArchiveCodec
import ArgumentParser
import RestorationInspection
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

  @OptionGroup var options: StateOptions

  @Flag(help: "Write the values.")
  var values = false

  func inspect(_ output: Output) throws -> ExitStatus {
    let reading = try options.read()
    var isRead = true
    try output.json { json in
      try json.object {
        try reading.head.write(json)
        try json.key("elements")
        try json.array { isRead = try write(reading, json) }
        try reading.writeProblems(json)
      }
    }
    return isRead ? reading.status : .damaged
  }

  /// Returns whether all values could be read.
  private func write(_ reading: StateReading, _ json: JSONWriter) throws -> Bool {
    var isRead = true
    var unread: [UInt64: (path: String, state: StoredState.Kept)] = [:]
    reading.outline.forEach { element in
      for state in element.unread { unread[state.record] = (element.path.description, state) }
    }
    try reading.state.forEachValues { record, stored in
      let element = reading.outline.element(ofRecord: record)
      let state = unread[record]
      guard element != nil || state != nil || record == StoredState.applicationRecord else {
        return
      }
      try json.object {
        if let element {
          try ElementLine(element: element).write(json)
        } else if let state {
          try json.field("unreadOf", state.path)
          try state.state.write(json)
        } else {
          try json.field("kind", "application")
        }
        if case .failure = stored { isRead = false }
        if values { try stored.map { ValueLines(values: $0) }.write(json) }
      }
    }
    try reading.outline.forEach { element in
      // Nothing in the file is the record of these.
      guard element.byteCount == 0 else { return }
      try json.object { try ElementLine(element: element).write(json) }
    }
    return isRead
  }
}
