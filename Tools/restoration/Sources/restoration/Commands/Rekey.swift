import ArchiveCodec
import ArgumentParser
import Foundation
import RestorationInspection
import RestorationKit

struct Rekey: Inspection {
  static let configuration = CommandConfiguration(
    abstract: "Seals all states of an app under a new key.",
    discussion: """
      First every archive is opened to both keys, the history too. Then the new key file takes the \
      place of the old one. Then every archive is sealed anew for the new key alone. So whenever the tool is \
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
    let file = keyFile.map { KeyFile(path: $0) } ?? KeyFile(application: app)
    let names = try names(in: directory)
    guard !names.isEmpty else {
      throw Failure(.nothingStored, "Nothing is stored in \(directory.path.escaped).")
    }
    guard let old = try file.key(creating: false) else {
      throw ArchiveError(.keyMissing, location: file.location)
    }
    return try KeyChange(
      application: app, directory: directory, names: names, file: file, old: old
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
      [StatePlace.suffix, StatePlace.historySuffix].first { file.hasSuffix($0) }
        .map { String(file.dropLast($0.count)) }
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
    let places = names.map {
      StatePlace(application: application, name: $0, directory: directory)
    }
    // Each writer has the lock of its state until the end.
    let writers = try places.map { place throws(ArchiveError) in
      try ArchiveWriter.open(place.storage, key: old, context: place.context)
    }
    let new = try KeyFile(path: file.path + Self.newSuffix).loadOrCreate()
    var failed = 0
    var opened: [(place: StatePlace, moment: Moment?, writer: ArchiveWriter)] = []
    for (place, writer) in zip(places, writers) {
      for moment in [nil] + (try place.history().all()) {
        do throws(ArchiveError) {
          guard let moment else {
            guard writer.slots != nil else { continue }
            try writer.addSlot(.key(new))
            opened.append((place, nil, writer))
            continue
          }
          opened.append((place, try place.reseal(moment, old, for: [old, new]), writer))
        } catch {
          // Nothing opens these with the old key, so the new one loses nothing of them. Whatever
          // else is wrong, both keys must stay.
          guard [.noKey, .damaged].contains(ExitStatus(error)) else { throw error }
          failed += 1
          let name = moment?.id ?? place.fileName
          Output.complain("\(name.escaped) stays as it is: \(error.phrase)")
        }
      }
    }
    try replaceKeyFile()
    var sealed = 0
    for (place, moment, writer) in opened {
      do throws(ArchiveError) {
        if let moment {
          try place.reseal(moment, new, for: [new])
        } else {
          try writer.rotate(slots: [.key(new)])
        }
        sealed += 1
      } catch {
        failed += 1
        let name = moment?.id ?? place.fileName
        Output.complain(
          "\(name.escaped) opens with both keys, and is not sealed anew: \(error.phrase)")
      }
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

extension StatePlace {
  /// Seals an older state anew for some keys, and returns the moment that it is then.
  ///
  /// Its name says how many bytes it has. The old one goes when the new one is there.
  @discardableResult
  fileprivate func reseal(
    _ moment: Moment, _ key: ArchiveKey, for keys: [ArchiveKey]
  ) throws(ArchiveError) -> Moment {
    let storage = FileStorage(path: "\(historyPath)/\(moment.id)")
    guard let file = try storage.open() else { return moment }
    let memory = MemoryStorage()
    memory.bytes = try file.read(at: 0, count: min(file.byteCount, moment.byteCount))
    try ArchiveWriter.open(memory, key: key, context: context).rotate(slots: keys.map { .key($0) })
    let bytes = memory.bytes ?? []
    let name = (moment.id.split(separator: "-").dropLast() + ["\(bytes.count)"])
      .joined(separator: "-")
    try FileStorage(path: "\(historyPath)/\(name)").replace { sink throws(ArchiveError) in
      try sink.write(bytes)
    }
    if name != moment.id { try storage.remove() }
    return try history().all().first { $0.id == name } ?? moment
  }
}
