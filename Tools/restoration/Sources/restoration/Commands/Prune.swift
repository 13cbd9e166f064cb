import ArchiveCodec
import ArgumentParser
import Foundation
import RestorationKit

struct Prune: Inspection {
  static let configuration = CommandConfiguration(
    abstract: "Removes files of a state that were set aside.",
    discussion: """
      The oldest and the two newest stay, and all of the last 30 days, as with an app that \
      sets no bound. It takes the lock of the state, and needs no key. Columns: what it was, \
      when it was set aside, bytes, and the file.
      """)

  @OptionGroup var place: PlaceOptions

  @Option(help: "How many of the oldest stay.")
  var keepOldest = 1

  @Option(help: "How many of the newest stay.")
  var keepNewest = 2

  @Option(help: "Remove only files that are older than this many days.")
  var olderThan = 30.0

  @Flag(help: "Remove generations, too, although they stand in for a damaged state.")
  var generations = false

  @Flag(help: "List what would be removed, and remove nothing.")
  var dryRun = false

  @OptionGroup var format: FormatOptions

  @OptionGroup var table: TableOptions

  func validate() throws {
    guard keepOldest >= 0, keepNewest >= 0, olderThan >= 0 else {
      throw ValidationError("A count or an age cannot be less than 0.")
    }
  }

  func inspect(_ output: Output) throws -> ExitStatus {
    let place = try place.place()
    // A run that changes nothing needs no lock, and would make the directory for it.
    let lock = dryRun ? nil : try lock(place)
    defer { withExtendedLifetime(lock) {} }
    let (all, generations) = (
      try place.stateStorage.setAsideArchives(), try place.stateStorage.generations()
    )
    if all.isEmpty, generations.isEmpty { try place.beside(named: place.name).requireStored() }
    let gone = excess(of: self.generations ? all + generations : all)
    if format.json {
      try output.json { json in
        try json.array { for archive in gone { try remove(archive, at: place, json) } }
      }
    } else {
      output.table(["what", "since", "bytes", "file"], widths: [10, 24, -10], table)
      for archive in gone { try remove(archive, at: place, output) }
    }
    return .done
  }

  private func remove(
    _ archive: SetAsideArchive, at place: StatePlace, _ output: Output
  ) throws {
    let byteCount = try remove(archive)
    try output.columns(
      [
        archive.kind, archive.date.text, "\(byteCount)", place.at(archive).fileName.escaped,
      ], widths: [10, 24, -10])
  }

  private func remove(
    _ archive: SetAsideArchive, at place: StatePlace, _ json: JSONWriter
  ) throws {
    let byteCount = try remove(archive)
    try json.object {
      try json.field("kind", archive.kind)
      try json.field("setAsideAt", archive.date)
      try json.field("fileBytes", byteCount)
      try json.field("file", place.at(archive).fileName)
    }
  }

  /// Returns how many bytes it had.
  private func remove(_ archive: SetAsideArchive) throws -> Int {
    let byteCount = try archive.storage.open()?.byteCount ?? 0
    if !dryRun { try archive.storage.remove() }
    return byteCount
  }

  private func lock(_ place: StatePlace) throws -> any ArchiveLock {
    guard FileManager.default.fileExists(atPath: place.directory.path) else {
      throw place.nothingStored
    }
    return try place.lock()
  }

  private func excess(of archives: [SetAsideArchive]) -> [SetAsideArchive] {
    let now = Date()
    return archives.sorted { $0.date < $1.date }
      .dropFirst(keepOldest).dropLast(keepNewest)
      .filter { now.timeIntervalSince($0.date) >= olderThan * 24 * 60 * 60 }
  }
}

extension SetAsideArchive {
  /// Why it lies beside the state.
  var kind: String { reason?.rawValue ?? SetAsideReason.unreadable.rawValue }
}
