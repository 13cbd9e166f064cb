import ArchiveCodec
import ArgumentParser
import Foundation
import RestorationInspection
import RestorationKit

struct History: Inspection {
  static let configuration = CommandConfiguration(
    abstract: "Lists a state, the older states of its history, and what is kept in it.",
    discussion: """
      Columns: what it is, when it came there, bytes, generation, changes in the journal, the \
      time of its save, the version of the app, the file, and what is wrong with it. The state comes \
      first, then its history, newest first, each with the reason why it stays. put-back takes these \
      names. Then comes a line for each element that saves keep though it is not back, and for each \
      state that no object has read, with its path, its class and why. Every byte of the state is \
      checked, but only the heads of the older ones; see verify. Without the key it lists the files \
      alone, and exits with 3.
      """)

  @OptionGroup var options: StateOptions

  @OptionGroup var table: TableOptions

  func inspect(_ output: Output) throws -> ExitStatus {
    let place = try options.place.place()
    let history = try StoredHistory(of: place, try options.keys.result(for: place))
    guard !history.entries.isEmpty else { throw place.nothingStored }
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
    let place: StatePlace
    var byteCount = 0
    var state: StoredState?
    var error: ArchiveError?

    /// The reason of an older state.
    var kind: String { place.moment?.reason.rawValue ?? "state" }
    var dropped: ArchiveError? { state?.archive.dropped }
  }

  /// An element that is kept, or a state that no object has read.
  struct Kept {
    let element: StoredState.Element
    let part: StoredState.Kept
    var isStateAlone: Bool { part.record != element.record }
  }

  /// The state first, then its history, newest first.
  private(set) var entries: [Entry] = []
  /// The state and its elements; nil if it cannot be opened.
  private(set) var reading: StateReading?
  /// What is kept in the state.
  private(set) var kept: [Kept] = []
  /// Why there is nothing that opens any of them.
  private(set) var keyError: ArchiveError?

  /// Reads what is stored; asks for what opens it only if something is.
  init(
    of place: StatePlace,
    _ credential: @autoclosure () throws -> Result<ArchiveCredential, ArchiveError>
  ) throws {
    let own = place.beside(named: place.name)
    if try place.stateStorage.open() != nil { entries.append(Entry(place: own)) }
    entries += try place.history().all().reversed().map { Entry(place: place.at($0)) }
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
    guard let first = entries.first, first.place.moment == nil, let state = first.state else {
      return
    }
    let reading = try StateReading(of: state, at: own)
    self.reading = reading
    entries[0].error = reading.outline.damage ?? reading.outline.problems.first?.error
    reading.outline.forEach { element in
      for part in [element.kept].compactMap(\.self) + element.unread {
        kept.append(Kept(element: element, part: part))
      }
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
          output.style.strong(entry.kind), entry.place.moment?.date.text ?? "",
          "\(entry.byteCount)", entry.state.map { "\($0.archive.version.generation)" } ?? "",
          entry.state.map { "\($0.archive.extent.changeCount)" } ?? "",
          facts?.savedAt?.text ?? "", facts?.applicationVersion?.escaped ?? "",
          entry.place.fileName.escaped, problem.map { output.style.bad($0.phrase) } ?? "",
        ], widths: Self.widths)
    }
    for kept in kept {
      try output.columns(
        [
          output.style.warning(kept.isStateAlone ? "unread" : "kept"), kept.part.since?.text ?? "",
          "\(kept.part.byteCount)", "", "", "", "", kept.element.path.description.escaped,
          "\(kept.part.className.escaped): \(kept.part.reason)",
        ], widths: Self.widths)
    }
  }

  func write(_ json: JSONWriter) throws {
    try json.object {
      try json.key("stored")
      try json.array { for entry in entries { try entry.write(json) } }
      try json.key("kept")
      try json.array {
        for kept in kept {
          try json.object {
            try json.field("path", kept.element.path.description)
            try json.field("isStateAlone", kept.isStateAlone)
            try kept.part.write(json)
          }
        }
      }
    }
  }
}

extension StoredHistory.Entry {
  /// Without what opens it, only its size is read.
  fileprivate mutating func read(_ credential: ArchiveCredential?) {
    do {
      byteCount = try place.moment?.byteCount ?? place.storage.open()?.byteCount ?? 0
      if let credential { state = try place.open(credential) }
    } catch let error as ArchiveError {
      self.error = error
    } catch {
      self.error = ArchiveError(.wrongContext)
    }
  }

  fileprivate func write(_ json: JSONWriter) throws {
    try json.object {
      try json.field("kind", kind)
      try json.field("keptAt", place.moment?.date)
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
