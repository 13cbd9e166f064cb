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

  @Flag(help: "Write JSON.")
  var json = false

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
    let gone = try excess(at: place)
    let writer = JSONWriter(output)
    if json { try writer.beginArray() }
    for archive in gone {
      let byteCount = try archive.storage.open()?.byteCount ?? 0
      if !dryRun { try archive.storage.remove() }
      let reason = archive.reason?.rawValue ?? "unreadable"
      let file = place.at(archive).fileName
      if json {
        try writer.object {
          try writer.field("kind", reason)
          try writer.field("setAsideAt", archive.date)
          try writer.field("fileBytes", byteCount)
          try writer.field("file", file)
        }
      } else {
        try output.columns(
          [reason, archive.date.text, "\(byteCount)", file.escaped], widths: [10, 24, -10])
      }
    }
    if json {
      try writer.endArray()
      try output.line()
    }
    return .done
  }

  private func lock(_ place: StatePlace) throws -> any ArchiveLock {
    guard FileManager.default.fileExists(atPath: place.directory.path) else {
      throw place.nothingStored
    }
    return try place.lock()
  }

  private func excess(at place: StatePlace) throws -> [SetAsideArchive] {
    let storage = place.stateStorage
    let now = Date()
    var archives = try storage.setAsideArchives()
    if generations { archives += try storage.generations() }
    return archives.sorted { $0.date < $1.date }
      .dropFirst(keepOldest).dropLast(keepNewest)
      .filter { now.timeIntervalSince($0.date) >= olderThan * 24 * 60 * 60 }
  }
}
