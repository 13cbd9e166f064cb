import ArchiveCodec
import ArgumentParser
import Foundation
import RestorationKit

struct Rekey: Inspection {
  static let configuration = CommandConfiguration(
    abstract: "Seals all states of an app under a new key.",
    discussion: """
      First every archive is opened to both keys. Then the new key file takes the place of the \
      old one. Then every archive is sealed anew for the new key alone. So whenever the tool is \
      killed, the key file opens all archives; run it again then. Passphrases do not open the \
      states any more. An archive that is damaged, or that another key has sealed, stays as it \
      is, and is named.

      Close the app before. Copies and backups stay as they were, and the old key opens them.
      """)

  @Option(help: "The identifier of the app.")
  var app: String

  @Option(help: "The directory of the app's states.")
  var directory: String?

  @Option(help: "The file that holds the key; the app's own by default.")
  var keyFile: String?

  @OptionGroup var format: FormatOptions

  func inspect(_ output: Output) throws -> ExitStatus {
    let directory =
      directory.map { FileStateDirectory(path: $0) } ?? FileStateDirectory(application: app)
    let file = keyFile.map { FileKeyProvider(path: $0) } ?? FileKeyProvider(application: app)
    let names = try names(in: directory)
    guard !names.isEmpty else {
      throw Failure(.nothingStored, "Nothing is stored in \(directory.path.escaped).")
    }
    guard let old = try file.key(creating: false) else {
      throw ArchiveError(.keyMissing, location: file.location)
    }
    return try KeyChange(
      application: app, directory: directory, names: names, file: file.file, old: old
    ).run(output, asJSON: format.json)
  }

  /// The names of all that is stored, also of states of which only older files are there.
  private func names(in directory: FileStateDirectory) throws -> [String] {
    guard FileManager.default.fileExists(atPath: directory.path) else { return [] }
    let files: [String]
    do {
      files = try FileManager.default.contentsOfDirectory(atPath: directory.path)
    } catch {
      throw ArchiveError(.inputOutput, subject: "directory", location: directory.path)
    }
    let names = files.filter { !$0.hasPrefix(".") }.compactMap { file in
      file.range(of: StatePlace.suffix).map { String(file[..<$0.lowerBound]) }
    }
    return Set(names).sorted()
  }
}

/// The change of the key of one app.
private struct KeyChange {
  let application: String
  let directory: FileStateDirectory
  /// Of all that is stored there.
  let names: [String]
  let file: KeyFile
  let old: ArchiveKey

  private static let newSuffix = ".new"

  func run(_ output: Output, asJSON: Bool) throws -> ExitStatus {
    let places = names.filter { !$0.hasSuffix(".launch") }.map {
      StatePlace(application: application, name: $0, directory: directory)
    }
    // Each writer of a state has its lock until the end; scenes belong to a state.
    var states: [String: ArchiveWriter] = [:]
    for claim in Set(places.map(\.claimName)).sorted() {
      let place = StatePlace(application: application, name: claim, directory: directory)
      states[place.storage.location] = try ArchiveWriter.open(
        place.storage, key: old, context: place.context)
    }
    let new = try KeyFile(path: file.path + Self.newSuffix).loadOrCreate()
    var failed = 0
    var opened: [StatePlace] = []
    for place in try places.flatMap(archives) {
      do throws(ArchiveError) {
        let writer = try writer(for: place, states)
        if writer.slots != nil { try writer.addSlot(.key(new)) }
        opened.append(place)
      } catch {
        // Nothing opens these with the old key, so the new one loses nothing of them. Whatever
        // else is wrong, both keys must stay.
        guard [.noKey, .damaged].contains(ExitStatus(error)) else { throw error }
        failed += 1
        Output.complain("\(place.fileName.escaped) stays as it is: \(error.phrase)")
      }
    }
    try replaceKeyFile()
    var sealed = 0
    for place in opened {
      do throws(ArchiveError) {
        let writer = try writer(for: place, states)
        if writer.slots != nil { try writer.rotate(slots: [.key(new)]) }
        sealed += 1
      } catch {
        failed += 1
        Output.complain(
          "\(place.fileName.escaped) opens with both keys, and is not sealed anew: \(error.phrase)")
      }
    }
    for name in names where name.hasSuffix(".launch") {
      // It counts the crashes of a version that is not there any more.
      try directory.storage(named: name).remove()
    }
    if asJSON {
      try output.json { json in
        try json.object {
          try json.field("sealed", sealed)
          try json.field("failed", failed)
        }
      }
    } else {
      try output.line("Sealed under the new key \(file.path.escaped): \(sealed).")
    }
    return failed == 0 ? .done : .damaged
  }

  private func writer(
    for place: StatePlace, _ states: [String: ArchiveWriter]
  ) throws(ArchiveError) -> ArchiveWriter {
    if let writer = states[place.storage.location] { return writer }
    return try ArchiveWriter.open(place.storage, key: old, context: place.context)
  }

  /// A state with its generations and what was set aside of it.
  private func archives(of place: StatePlace) throws -> [StatePlace] {
    let storage = place.stateStorage
    let beside = try storage.generations() + storage.setAsideArchives()
    return (try storage.open() == nil ? [] : [place]) + beside.map { place.at($0) }
  }

  private func replaceKeyFile() throws {
    guard rename(file.path + Self.newSuffix, file.path) == 0 else {
      throw Failure(
        .systemFailed,
        "The new key cannot take the place of the old one: system error \(errno)."
          + " Both open the states.")
    }
    let folder = URL(filePath: file.path).deletingLastPathComponent()
    let descriptor = open(folder.path(percentEncoded: false), O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }
}
