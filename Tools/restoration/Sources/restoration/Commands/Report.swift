import ArchiveCodec
import ArgumentParser
import Foundation
import RestorationInspection
import RestorationKit

struct Report: Inspection {
  static let configuration = CommandConfiguration(
    abstract: "Writes everything that a bug report needs, but no values.",
    discussion: """
      The report is one JSON object. For the state, and for each further instance beside it, it has the files, sizes, versions, elements and problems, and what a \
      launch would do. It has the names of files, elements, classes and keys, so read it \
      before you send it. It has no path of a directory.
      """)

  @OptionGroup var options: StateOptions

  @Option(help: "The file to write, which must not exist; the standard output by default.")
  var output: String?

  func inspect(_ standard: Output) throws -> ExitStatus {
    let place = try options.place.place()
    guard let output else { return try write(place, standard) }
    let descriptor = open(output, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw Failure(
        .systemFailed, "\(output.escaped) cannot be made: system error \(errno).")
    }
    defer { close(descriptor) }
    do {
      let file = Output(descriptor: descriptor)
      let status = try write(place, file)
      try file.flush()
      return status
    } catch {
      // A part of a report is of no use, and would be in the way of the next one.
      unlink(output)
      throw error
    }
  }

  private func write(_ place: StatePlace, _ output: Output) throws -> ExitStatus {
    let names = Set(try place.stateNames()).union([place.name]).sorted()
    // A descriptor gives a key once, and it opens all states of an app.
    let credential = try options.keys.result(for: place)
    var statuses: [ExitStatus] = []
    try output.json { json in
      try json.object {
        try json.field("tool", Restoration.configuration.version)
        try json.field("system", ProcessInfo.processInfo.operatingSystemVersionString)
        try json.field("application", place.application)
        try json.key("states")
        try json.array {
          for name in names {
            let state = place.beside(named: name)
            try json.object { statuses.append(try write(state, credential, json)) }
          }
        }
      }
    }
    if statuses.contains(.damaged) { return .damaged }
    return statuses.first { $0 != .done && $0 != .nothingStored }
      ?? (statuses.contains(.done) ? .done : .nothingStored)
  }

  /// Writes the fields of a state.
  ///
  /// What cannot be read of it is a part of the report.
  private func write(
    _ place: StatePlace, _ credential: Result<ArchiveCredential, ArchiveError>, _ json: JSONWriter
  ) throws -> ExitStatus {
    try json.field("state", place.name)
    let explanation: Explanation
    do {
      try json.field("isInUse", try place.isInUse())
      try writeSlots(of: place, json)
      explanation = try Explanation(of: place, credential)
    } catch let error as ArchiveError {
      try json.key("error")
      try json.error(error)
      return ExitStatus(error)
    }
    try json.key("launch")
    try explanation.write(json)
    guard let history = explanation.history else { return explanation.status }
    try json.key("history")
    try history.write(json)
    guard let reading = history.reading else { return explanation.status }
    try json.key("elements")
    try json.array {
      try reading.outline.forEach { element in
        try json.object {
          try ElementLine(element: element).write(json)
          try ElementLine(element: element).writeUnread(json)
        }
      }
    }
    try reading.writeProblems(json)
    return explanation.status
  }

  private func writeSlots(of place: StatePlace, _ json: JSONWriter) throws {
    let slots: [ArchiveSlot]
    do throws(ArchiveError) {
      slots = try Archive.slots(of: place.stateStorage) ?? []
    } catch {
      try json.key("slotsError")
      return try json.error(error)
    }
    try json.key("slots")
    try json.array { for slot in slots { try json.string(slot.phrase) } }
  }
}

extension ArchiveSlot {
  /// What opens it.
  var phrase: String {
    switch kind {
    case .key: "key"
    case .passphrase(let cost): "passphrase, \(cost.passes) passes of \(cost.kibibytes) KiB"
    case .unknown: "unknown"
    }
  }
}
