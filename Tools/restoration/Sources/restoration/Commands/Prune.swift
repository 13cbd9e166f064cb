import ArchiveCodec
import ArgumentParser
import Foundation
import RestorationInspection
import RestorationKit

struct Prune: Inspection {
  static let configuration = CommandConfiguration(
    abstract: "Removes older states from the history.",
    discussion: """
      The oldest and the two newest stay, and all of the last 30 days, as with an app that sets no \
      bound. Those that stand in for a damaged state stay, too, unless --all is given. It takes the \
      lock of the state, and needs no key. Columns: why the state was kept, when, bytes, and the file.
      """)

  @OptionGroup var place: PlaceOptions

  @Option(help: "How many of the oldest stay.")
  var keepOldest = 1

  @Option(help: "How many of the newest stay.")
  var keepNewest = 2

  @Option(help: "Remove only states that were kept longer ago than this many days.")
  var olderThan = 30.0

  @Flag(help: "Remove also those that a restore takes where the state is damaged.")
  var all = false

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
    let stored = try place.history().all()
    if stored.isEmpty { try place.beside(named: place.name).requireStored() }
    let gone = excess(of: all ? stored : stored.filter { !$0.reason.isRestorable })
    if !dryRun {
      do throws(ArchiveError) {
        try place.history().remove(gone)
      } catch {
        throw error.code == .locked ? place.inUse(error) : error
      }
    }
    if format.json {
      try output.json { json in
        try json.array {
          for moment in gone {
            try json.object {
              try json.field("kind", moment.reason.rawValue)
              try json.field("keptAt", moment.date)
              try json.field("fileBytes", moment.byteCount)
              try json.field("file", moment.id)
            }
          }
        }
      }
    } else {
      output.table(["what", "since", "bytes", "file"], widths: [10, 24, -10], table)
      for moment in gone {
        try output.columns(
          [moment.reason.rawValue, moment.date.text, "\(moment.byteCount)", moment.id],
          widths: [10, 24, -10])
      }
    }
    return .done
  }

  private func excess(of moments: [Moment]) -> [Moment] {
    let now = Date()
    return moments.dropFirst(keepOldest).dropLast(keepNewest)
      .filter { now.timeIntervalSince($0.date) >= olderThan * 24 * 60 * 60 }
  }
}
