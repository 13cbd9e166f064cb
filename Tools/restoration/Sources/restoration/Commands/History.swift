import ArchiveCodec
import ArgumentParser
import Foundation
import RestorationInspection
import RestorationKit

struct History: Inspection {
  static let configuration = CommandConfiguration(
    abstract: "Lists a state, its generations, what was set aside, sessions, and what is kept.",
    discussion: """
      Columns: what it is, when it came there, bytes, generation, changes in the journal, the \
      time of its save, the version of the app, the file, and what is wrong with it. Newest \
      first. Then comes a line for each session that launches have kept of it, with the bytes of \
      all its states, and one for each element that saves keep because it was not back. put-back \
      takes the names of the files and of the sessions. Every byte of the state is checked, but only the heads of the other files; see verify. Without \
      the key it lists the files alone, and exits with 3.
      """)

  @OptionGroup var options: StateOptions

  @OptionGroup var table: TableOptions

  func inspect(_ output: Output) throws -> ExitStatus {
    let place = try options.place.place()
    let history = try StoredHistory(of: place, try options.keys.result(for: place))
    guard !history.entries.isEmpty || !history.sessions.isEmpty else { throw place.nothingStored }
    if options.json {
      try output.json { try history.write($0) }
    } else {
      output.table(StoredHistory.names, widths: StoredHistory.widths, table)
      try history.write(output)
    }
    if let error = history.keyError { throw place.explained(error) }
    return history.entries.contains { $0.error != nil || $0.dropped != nil } ? .damaged : .done
  }
}

/// What is stored of one state, and beside it.
struct StoredHistory {
  struct Entry {
    let kind: String
    /// When it was set aside or replaced.
    let date: Date?
    let place: StatePlace
    var byteCount = 0
    var state: StoredState?
    var error: ArchiveError?

    var dropped: ArchiveError? { state?.archive.dropped }
  }

  /// The state first, then its generations and what was set aside, each newest first.
  private(set) var entries: [Entry] = []
  /// The sessions that have the state, newest first.
  private(set) var sessions: [SavedSession] = []
  /// The state and its elements; nil if it cannot be opened.
  private(set) var reading: StateReading?
  /// What is kept in the state.
  private(set) var kept: [StoredState.Element] = []
  /// Why there is nothing that opens any of them.
  private(set) var keyError: ArchiveError?

  /// Reads what is stored; asks for what opens it only if something is.
  init(
    of place: StatePlace,
    _ credential: @autoclosure () throws -> Result<ArchiveCredential, ArchiveError>
  ) throws {
    let storage = place.stateStorage
    let own = place.beside(named: place.name)
    if try storage.open() != nil { entries.append(Entry(kind: "state", date: nil, place: own)) }
    let generations = try storage.generations().reversed()
    let others = try storage.setAsideArchives().reversed()
    for archive in Array(generations) + Array(others) {
      entries.append(
        Entry(
          kind: archive.kind, date: archive.date, place: place.at(archive)))
    }
    sessions = try place.sessions()
    guard !entries.isEmpty else { return }
    let opener: ArchiveCredential?
    switch try credential() {
    case .success(let credential): opener = credential
    case .failure(let error) where ExitStatus(error) == .noKey: (opener, keyError) = (nil, error)
    case .failure(let error): throw error
    }
    for number in entries.indices { entries[number].read(opener) }
    // A key that opens none of them is a wrong one, and nothing to be listed.
    let errors = entries.compactMap(\.error)
    if let first = errors.first, errors.count == entries.count,
      errors.allSatisfy({ ExitStatus($0) == .noKey })
    {
      throw place.explained(first)
    }
    guard let first = entries.first, first.kind == "state", let state = first.state else { return }
    let reading = try StateReading(of: state, at: own)
    self.reading = reading
    entries[0].error = reading.outline.damage ?? reading.outline.problems.first?.error
    reading.outline.forEach { element in
      if element.keptSince != nil { kept.append(element) }
    }
  }

  static let names = [
    "what", "since", "bytes", "generation", "changes", "saved", "version", "file", "wrong",
  ]
  static let widths = [10, 24, -10, -6, -4, 24, 8]

  func write(_ output: Output) throws {
    for entry in entries {
      let facts = entry.state?.facts
      let problem = entry.error ?? entry.dropped
      try output.columns(
        [
          output.style.strong(entry.kind), entry.date?.text ?? "", "\(entry.byteCount)",
          entry.state.map { "\($0.archive.version.generation)" } ?? "",
          entry.state.map { "\($0.archive.extent.changeCount)" } ?? "",
          facts?.savedAt?.text ?? "", facts?.applicationVersion?.escaped ?? "",
          entry.place.fileName.escaped, problem.map { output.style.bad($0.phrase) } ?? "",
        ], widths: Self.widths)
    }
    for session in sessions {
      try output.columns(
        [
          output.style.strong("session"), session.date.text, "\(session.byteCount)", "", "", "", "",
          session.id, "",
        ], widths: Self.widths)
    }
    for element in kept {
      try output.columns(
        [
          output.style.warning("kept"), element.keptSince?.text ?? "", "\(element.byteCount)",
          "", "", "", "", element.path.description.escaped, element.className.escaped,
        ], widths: Self.widths)
    }
  }

  func write(_ json: JSONWriter) throws {
    try json.object {
      try json.key("stored")
      try json.array { for entry in entries { try entry.write(json) } }
      try json.key("sessions")
      try json.array {
        for session in sessions {
          try json.object {
            try json.field("session", session.id)
            try json.field("date", session.date)
            try json.field("fileBytes", session.byteCount)
          }
        }
      }
      try json.key("kept")
      try json.array {
        for element in kept { try json.object { try ElementLine(element: element).write(json) } }
      }
    }
  }
}

extension StoredHistory.Entry {
  /// Without what opens it, only its size is read.
  fileprivate mutating func read(_ credential: ArchiveCredential?) {
    do throws(ArchiveError) {
      byteCount = try place.storage.open()?.byteCount ?? 0
      guard let credential else { return }
      state = try StoredState.open(
        place.storage, named: place.name, of: place.application, with: credential)
    } catch {
      self.error = error
    }
  }

  fileprivate func write(_ json: JSONWriter) throws {
    try json.object {
      try json.field("kind", kind)
      try json.field("setAsideAt", date)
      try json.field("fileBytes", byteCount)
      if let state {
        try StateHead(place: place, state: state).write(json)
      } else {
        try json.field("file", place.fileName)
      }
      guard let error else { return }
      try json.key("error")
      try json.error(error)
    }
  }
}
