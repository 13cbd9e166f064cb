import ArchiveCodec
import Foundation
import RestorationInspection
import RestorationKit

/// What is said of a state as a whole.
struct StateHead {
  let place: StatePlace
  let state: StoredState

  func write(_ json: JSONWriter) throws {
    let extent = state.archive.extent
    try json.field("file", place.fileName)
    try json.field("application", place.application)
    try json.field("state", place.name)
    try json.key("generation")
    try json.literal("\(state.archive.version.generation)")
    try json.field("bytes", extent.byteCount)
    try json.field("snapshotBytes", extent.snapshotByteCount)
    try json.field("changes", extent.changeCount)
    try json.field("changeBytes", extent.changeByteCount)
    try json.field("savedAt", state.facts?.savedAt)
    try json.field("applicationVersion", state.facts?.applicationVersion)
    try json.field("interface", state.facts?.userInterfaceIdiom)
    try json.field("system", state.facts?.systemVersion)
    if let dropped = state.archive.dropped {
      try json.key("dropped")
      try json.error(dropped)
    }
  }
}

/// A state, and what is said of its elements.
struct StateReading {
  let place: StatePlace
  let state: StoredState
  let outline: StoredState.Outline

  /// Reads the elements, and tells a person how far that is.
  init(of state: StoredState, at place: StatePlace) throws {
    let progress = Progress(total: state.archive.extent.snapshotRecordCount)
    defer { progress.end() }
    (self.place, self.state) = (place, state)
    outline = try state.outline { progress($0) }
  }

  var head: StateHead { StateHead(place: place, state: state) }

  var status: ExitStatus {
    outline.damage == nil && outline.problemCount == 0 && state.archive.dropped == nil
      ? .done : .damaged
  }

  /// Why a restore could not use it; nil if it could.
  var failure: ArchiveError? { outline.failure }

  /// The values of a record, or why nobody can read them; nil if there is no such record.
  func values(ofRecord record: UInt64) -> Result<ValueLines, ArchiveError>? {
    do throws(ArchiveError) {
      return try state.values(ofRecord: record).map { .success(ValueLines(values: $0)) }
    } catch {
      return .failure(error)
    }
  }

  func writeProblems(_ output: Output) throws {
    let style = output.style
    if let damage = outline.damage {
      try output.columns(["damage", style.bad(damage.phrase)], widths: [8])
    }
    if let dropped = state.archive.dropped {
      try output.columns(["dropped", style.bad(dropped.phrase)], widths: [8])
    }
    for problem in outline.problems {
      try output.columns(
        ["problem", "record \(problem.record)", style.bad(problem.error.phrase)], widths: [8, 12])
    }
    let more = outline.problemCount - outline.problems.count
    if more > 0 { try output.columns(["problem", "\(more) more records"], widths: [8]) }
  }

  func writeProblems(_ json: JSONWriter) throws {
    if let damage = outline.damage {
      try json.key("damage")
      try json.error(damage)
    }
    try json.key("problems")
    try json.array {
      for problem in outline.problems { try json.error(problem.error, record: problem.record) }
    }
    try json.field("problemCount", outline.problemCount)
  }
}

extension ArchiveError {
  /// What is wrong and where, without advice to the app.
  var phrase: String {
    let details = [
      subject?.escaped, path.isEmpty ? nil : "at \(path.joined(separator: ".").escaped)",
      offset.map { "byte \($0)" },
    ].compactMap(\.self)
    return details.isEmpty ? "\(code)" : "\(code): \(details.joined(separator: ", "))"
  }
}
