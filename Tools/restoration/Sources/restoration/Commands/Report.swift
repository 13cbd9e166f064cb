import ArchiveCodec
import ArgumentParser
import Foundation
import RestorationKit

struct Report: Inspection {
  static let configuration = CommandConfiguration(
    abstract: "Writes everything that a bug report needs, but no values.",
    discussion: """
      The report is one JSON object. For the state, and for each window and each further \
      instance beside it, it has the files, sizes, versions, elements and problems, and what a \
      launch would do. It has the names of files, elements, classes and keys, so read it \
      before you send it. It has no path of a directory.
      """)

  @OptionGroup var place: PlaceOptions
  @OptionGroup var keys: KeyOptions

  @Option(help: "The file to write, which must not exist; the standard output by default.")
  var output: String?

  @Flag(help: "Write JSON; the report is always JSON.")
  var json = false

  func inspect(_ standard: Output) throws -> ExitStatus {
    let place = try place.place()
    guard let output else { return try write(place, standard) }
    let descriptor = open(output, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw Failure(
        .systemFailed, "\(output.escaped) cannot be made: system error \(errno).")
    }
    defer { close(descriptor) }
    let file = Output(descriptor: descriptor)
    let status = try write(place, file)
    try file.flush()
    return status
  }

  private func write(_ place: StatePlace, _ output: Output) throws -> ExitStatus {
    let json = JSONWriter(output)
    let names = Set(try place.stateNames()).union([place.name]).sorted()
    var statuses: [ExitStatus] = []
    try json.object {
      try json.field("tool", Restoration.configuration.version)
      try json.field("system", ProcessInfo.processInfo.operatingSystemVersionString)
      try json.field("application", place.application)
      try json.key("states")
      try json.array {
        for name in names { statuses.append(try write(place.beside(named: name), json)) }
      }
    }
    try output.line()
    if statuses.contains(.damaged) { return .damaged }
    return statuses.first { $0 != .done && $0 != .nothingStored } ?? .done
  }

  private func write(_ place: StatePlace, _ json: JSONWriter) throws -> ExitStatus {
    var status = ExitStatus.done
    try json.object {
      try json.field("state", place.name)
      try json.field("isInUse", try place.isInUse())
      try json.key("slots")
      try json.array {
        for slot in (try? Archive.slots(of: place.stateStorage)) ?? [] {
          try json.string(slot.phrase)
        }
      }
      do throws(ArchiveError) {
        try writeContent(of: place, json, &status)
      } catch {
        status = ExitStatus(error)
        try json.key("error")
        try json.error(error)
      }
    }
    return status
  }

  /// An error of the archive is a part of the report; what cannot be written is not.
  private func writeContent(
    of place: StatePlace, _ json: JSONWriter, _ status: inout ExitStatus
  ) throws(ArchiveError) {
    do {
      let explanation = try Explanation(of: place, keys: keys)
      status = explanation.status
      try json.key("launch")
      try explanation.write(json)
      guard status != .noKey else { return }
      let credential = try keys.credential(for: place)
      try json.key("history")
      try StoredHistory(of: place, credential).write(json)
      guard
        let state = try StoredState.open(
          place.stateStorage, named: place.name, of: place.application, with: credential)
      else { return }
      let outline = try state.outlineWithProgress()
      try json.key("elements")
      try json.array {
        try outline.forEach { element in
          try json.object { try ElementLine(element: element).write(json) }
        }
      }
      try StateHead.writeProblems(outline, json)
    } catch let error as ArchiveError {
      throw error
    } catch {
      throw ArchiveError(.inputOutput, subject: "the report cannot be written")
    }
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
