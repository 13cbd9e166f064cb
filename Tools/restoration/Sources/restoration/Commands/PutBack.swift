import ArchiveCodec
import ArgumentParser
import Foundation
import RestorationInspection
import RestorationKit

struct PutBack: Inspection {
  static let configuration = CommandConfiguration(
    commandName: "put-back",
    abstract: "Makes an older state the stored one again.",
    discussion: """
      The state that is stored becomes a part of the history, with the reason “putBack”, and can be \
      put back in turn. The older state stays there, too. The windows of the app are in its state, \
      so they are put back with it.

      The older state is read whole first, and nothing is changed if a part of it is damaged. It \
      takes the lock of the state, and refuses while an app has it. Columns: the state, what was put \
      back, and what the state that was stored is now.
      """)

  @Argument(help: "The older state, as history names it, or its path.")
  var what: String

  @Option(help: "The identifier of the app; the folder of the state by default.")
  var app: String?

  @Option(help: "The name of the state; “main” by default.")
  var state: String?

  @Option(help: "The directory of the app's states.")
  var directory: String?

  @OptionGroup var keys: KeyOptions

  @OptionGroup var format: FormatOptions

  @OptionGroup var table: TableOptions

  func inspect(_ output: Output) throws -> ExitStatus {
    let source = try source()
    let place = source.beside(named: source.name)
    guard let moment = source.moment else { throw place.nothingStored }
    let credential = try keys.credential(for: source)
    let version = try wholeVersion(of: source, credential)
    try place.requireNoStore()
    let key: ArchiveKey? = if case .key(let key) = credential { key } else { nil }
    let history = place.history(key)
    let before = Set(try history.all().map(\.id))
    if try place.storedVersion(credential) != version { try putBack(moment, history, place) }
    let kept = try history.all().first { !before.contains($0.id) }
    if format.json {
      try output.json { json in
        try json.object {
          try json.field("state", place.name)
          try json.field("from", moment.id)
          try json.field("kept", kept?.id)
        }
      }
    } else {
      output.table(["state", "from", "kept"], widths: [10, 44], table)
      try output.columns([place.name.escaped, moment.id, kept?.id ?? ""], widths: [10, 44])
    }
    return .done
  }

  /// Where the older state is.
  private func source() throws -> StatePlace {
    if what.contains("/") {
      guard directory == nil else {
        throw ValidationError("--directory is for --app, not for a path.")
      }
      return try StatePlace(file: what, application: app, name: state)
    }
    guard let app else { throw ValidationError("Name the app with --app, or give a path.") }
    let place = StatePlace(
      application: app, name: state ?? "main",
      directory: directory.map { FileStateDirectory(path: $0) }
        ?? FileStateDirectory(application: app))
    return place.at(try place.moment(what))
  }

  /// Reads it whole: what cannot be read must not take the place of what can be.
  private func wholeVersion(
    of source: StatePlace, _ credential: ArchiveCredential
  ) throws -> ArchiveVersion {
    let state = try source.open(credential)
    if let error = try StateReading(of: state, at: source).failure ?? state.archive.dropped {
      throw Failure(
        .damaged,
        "\(source.fileName.escaped) cannot be read whole (\(error.phrase)), so nothing was changed."
      )
    }
    return state.archive.version
  }

  private func putBack(_ moment: Moment, _ history: StateHistory, _ place: StatePlace) throws {
    do throws(ArchiveError) {
      try history.putBack(moment)
    } catch {
      throw error.code == .locked ? place.inUse(error) : error
    }
  }
}

extension StatePlace {
  /// What a person should know of an app that has the state.
  func inUse(_ error: ArchiveError) -> Failure {
    let holder = error.subject.map { " by \($0.escaped)" } ?? ""
    return Failure(
      .inUse,
      "The state \(name.escaped) is in use\(holder), so nothing was changed. End the app, and try again."
    )
  }

  /// The version of the state that is stored, which is that of an older one after a run that was killed;
  /// nil if none is stored, or it cannot be read.
  fileprivate func storedVersion(_ credential: ArchiveCredential) throws -> ArchiveVersion? {
    do throws(ArchiveError) {
      let state = try StoredState.open(
        stateStorage, named: name, of: application, with: credential)
      return state?.archive.dropped == nil ? state?.archive.version : nil
    } catch {
      // What cannot be read is kept in the history.
      return nil
    }
  }

  /// Throws if the state is also elsewhere, where this tool cannot put it back.
  fileprivate func requireNoStore() throws {
    let note = FileStorage(path: "\(directory.path)/\(name).remote.launch\(Self.suffix)")
    guard try note.open() == nil else {
      throw Failure(
        .systemFailed,
        "The state \(name.escaped) is also in a store that machines share, so nothing was changed."
          + " Let the app put it back.")
    }
  }
}
