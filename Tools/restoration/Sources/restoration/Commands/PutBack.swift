import ArchiveCodec
import ArgumentParser
import Foundation
import RestorationInspection
import RestorationKit

struct PutBack: Inspection {
  static let configuration = CommandConfiguration(
    commandName: "put-back",
    abstract: "Puts back what was set aside, a generation or a session.",
    discussion: """
      What is in its place is set aside, with the reason “replaced”, and can be put back in turn. \
      A session is put back with all its states: that of the app and those of its windows, which \
      the next launch opens; --state names one of them. The session itself stays. Windows that \
      are not in the session stay as they are.

      All that is put back is read whole first, and nothing is changed if a part of it is \
      damaged. It takes the lock of the state, and refuses while an app has it. Columns: the \
      state, what was put back, and the file that was set aside for it.
      """)

  @Argument(help: "The file or the session, as history names it, or its path.")
  var what: String

  @Option(help: "The identifier of the app; the folder of the file by default.")
  var app: String?

  @Option(help: "The only state of a session to put back; all of them by default.")
  var state: String?

  @Option(help: "The directory of the app's states.")
  var directory: String?

  @OptionGroup var keys: KeyOptions

  @OptionGroup var format: FormatOptions

  @OptionGroup var table: TableOptions

  func inspect(_ output: Output) throws -> ExitStatus {
    let target = try target()
    let place = target.place
    guard FileManager.default.fileExists(atPath: place.directory.path) else {
      throw place.nothingStored
    }
    let lock = try lock(place)
    defer { withExtendedLifetime(lock) {} }
    let sources = try target.sources()
    let credential = try keys.credential(for: place)
    let versions = try sources.map { try $0.version(credential) }
    for source in sources { try source.place.requireNoStore() }
    let list = try ListOfScenes(sources, credential)
    var lines: [Line] = []
    do {
      for (source, version) in zip(sources, versions) where !source.place.isListOfScenes {
        lines.append(try source.putBack(version, credential))
      }
      // The list comes last, so that it names no window without a state.
      if let line = try list.putBack(credential) { lines.append(line) }
    } catch {
      // What is done is told first.
      try write(lines, output)
      throw error
    }
    try write(lines, output)
    return .done
  }

  /// Keeps the app away; says who has the state.
  private func lock(_ place: StatePlace) throws -> any ArchiveLock {
    do {
      return try place.lock()
    } catch let error as ArchiveError where error.code == .locked {
      let holder = error.subject.map { " by \($0.escaped)" } ?? ""
      throw Failure(
        .inUse,
        "The state \(place.claimName.escaped) is in use\(holder), so nothing was changed. End the"
          + " app, and then put it back.")
    }
  }

  /// What has become of one state.
  struct Line {
    let place: StatePlace
    let from: String
    /// Nil if nothing was in its place, or the same.
    let setAside: String?
  }

  private func write(_ lines: [Line], _ output: Output) throws {
    if format.json {
      return try output.json { json in
        try json.array {
          for line in lines {
            try json.object {
              try json.field("state", line.place.name)
              try json.field("from", line.from)
              try json.field("setAside", line.setAside)
            }
          }
        }
      }
    }
    output.table(["state", "from", "set aside"], widths: [20, 40], table)
    for line in lines {
      try output.columns(
        [line.place.name.escaped, line.from.escaped, (line.setAside ?? "").escaped],
        widths: [20, 40])
    }
  }
}

// MARK: - What is meant

extension PutBack {
  private static let sessionsSuffix = ".sessions"

  /// What the argument names.
  private struct Target {
    let place: StatePlace
    let fileName: String
    let isSession: Bool
    /// The only state of a session that is meant.
    let only: String?

    func sources() throws -> [Source] {
      guard isSession else { return [try archive()] }
      let session = try PutBack.session(fileName, of: place)
      let names = try session.stateNames(in: place.directory).filter { only == nil || $0 == only }
      let sources = try names.compactMap { name in
        try place.beside(named: name).inSession(session).map {
          Source(place: place.beside(named: name), source: $0, archive: nil)
        }
      }
      guard !sources.isEmpty else {
        throw Failure(
          .nothingStored,
          "The session has no state \((only ?? place.claimName).escaped).")
      }
      return sources
    }

    private func archive() throws -> Source {
      let storage = place.stateStorage
      let all = try storage.setAsideArchives() + storage.generations()
      guard let archive = all.first(where: { place.at($0).fileName == fileName }) else {
        throw Failure(
          .nothingStored,
          "There is no \(fileName.escaped) in \(place.directory.path.escaped) that could be put"
            + " back; see history.")
      }
      return Source(place: place, source: place.at(archive), archive: archive)
    }
  }

  private func target() throws -> Target {
    // Without an app the folder says which it is; a name alone is one in the app's directory.
    let isPath = app == nil || what.hasPrefix("/") || what.hasPrefix(".")
    let url = URL(filePath: what).absoluteURL
    let (name, folder) = (url.lastPathComponent, url.deletingLastPathComponent())
    let isSession = Self.isSession(name)
    guard !isPath || directory == nil else {
      throw ValidationError("--directory is for --app, not for a path.")
    }
    let kept = folder.lastPathComponent
    let isInSessions = isSession && kept.hasSuffix(Self.sessionsSuffix)
    let states = isInSessions ? folder.deletingLastPathComponent() : folder
    guard
      let state = isSession
        ? (isInSessions ? String(kept.dropLast(Self.sessionsSuffix.count)) : state ?? "main")
        : name.range(of: StatePlace.suffix).map({ String(name[..<$0.lowerBound]) })
    else {
      throw ValidationError(
        "“\(name)” is neither a file beside a state nor a session; see history.")
    }
    let place = StatePlace(
      application: app ?? states.lastPathComponent, name: state,
      directory: isPath
        ? FileStateDirectory(path: states.path)
        : directory.map { FileStateDirectory(path: $0) }
          ?? FileStateDirectory(application: app ?? ""),
      isNamedByFolder: app == nil)
    guard !isSession else {
      return Target(
        place: place.beside(named: place.claimName), fileName: name, isSession: true,
        only: self.state)
    }
    guard self.state == nil || self.state == state else {
      throw ValidationError("“\(name)” is a file of \(state), not of \(self.state ?? "").")
    }
    return Target(place: place, fileName: name, isSession: false, only: nil)
  }

  /// Whether a text could be the identifier of a session.
  private static func isSession(_ text: String) -> Bool {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    return parts.map(\.count) == [12, 9, 16]
  }

  /// The session with an identifier, as history names it.
  static func session(_ identifier: String, of place: StatePlace) throws -> SavedSession {
    let name = URL(filePath: identifier).lastPathComponent
    let all = try SavedSession.all(in: place.directory, ofStateNamed: place.claimName)
    guard let session = all.first(where: { $0.id == name }) else {
      throw Failure(
        .nothingStored,
        "There is no session \(name.escaped) of \(place.claimName.escaped); see history.")
    }
    return session
  }
}

// MARK: - One state

/// One state that is put back.
private struct Source {
  /// The state itself.
  let place: StatePlace
  let source: StatePlace
  /// What was set aside; nil for a session, which stays.
  let archive: SetAsideArchive?

  var name: String {
    archive == nil
      ? "\(URL(filePath: source.storage.location).deletingLastPathComponent().lastPathComponent)"
      : source.fileName
  }

  /// Reads it whole: what cannot be read must not take the place of what can be.
  func version(_ credential: ArchiveCredential) throws -> ArchiveVersion {
    let state = try source.open(credential)
    let failure = try StateReading(of: state, at: source).failure
    // The end that a session leaves out is that of a save which came later.
    let dropped = archive == nil ? nil : state.archive.dropped
    if let error = failure ?? dropped {
      throw Failure(
        .damaged,
        "\(source.fileName.escaped) cannot be read whole (\(error.phrase)), so nothing was"
          + " changed.")
    }
    return state.archive.version
  }

  /// Makes it the stored state, and sets aside what is stored.
  ///
  /// Whenever the process ends, one of the two is in its place.
  func putBack(
    _ version: ArchiveVersion, _ credential: ArchiveCredential
  ) throws -> PutBack.Line {
    let storage = place.stateStorage
    if archive == nil, try isStored(version, credential) {
      return PutBack.Line(place: place, from: name, setAside: nil)
    }
    guard let file = try source.storage.open() else { throw source.nothingStored }
    let before = Set(try storage.setAsideArchives().map(\.identifier))
    try storage.replace(settingAside: .replaced, at: Date()) { sink throws(ArchiveError) in
      try sink.write(contentsOf: file)
    }
    let setAside = try storage.setAsideArchives().first { !before.contains($0.identifier) }
    do throws(ArchiveError) {
      if let archive { try storage.removeSetAside([archive]) }
      // Crashes of another state are not counted for this one.
      try place.directory.launchStorage(ofStateNamed: place.name).remove()
    } catch {
      Output.complain("\(place.name.escaped) is back, but \(error.description)")
    }
    return PutBack.Line(
      place: place, from: name, setAside: setAside.map { place.at($0).fileName })
  }

  /// Whether this very state is stored, as after a run that was killed.
  private func isStored(
    _ version: ArchiveVersion, _ credential: ArchiveCredential
  ) throws -> Bool {
    do throws(ArchiveError) {
      return try StoredState.open(
        place.stateStorage, named: place.name, of: place.application, with: credential)?
        .archive.version == version
    } catch {
      // What cannot be read is set aside.
      return false
    }
  }
}

extension StatePlace {
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

extension ArchiveSink {
  /// Writes all bytes of a file.
  fileprivate func write(contentsOf file: any ArchiveFile) throws(ArchiveError) {
    var offset = 0
    while offset < file.byteCount {
      let count = min(1 << 16, file.byteCount - offset)
      try write(try file.read(at: offset, count: count))
      offset += count
    }
  }
}

// MARK: - The list of windows

/// What becomes of the list of windows when windows are put back.
///
/// A window that the list calls closed would not be opened, and one that it calls discarded would be
/// removed by the next launch. Without a list a launch opens each window that has a state and is not
/// closed.
private struct ListOfScenes {
  /// The list of the session that is put back.
  private let source: Source?
  private let place: StatePlace
  /// Whether the stored list must not stay.
  private let mustGo: Bool

  init(_ sources: [Source], _ credential: ArchiveCredential) throws {
    place = sources[0].place.listOfScenes
    let prefix = "\(place.claimName).scene-"
    let windows = Set(sources.map(\.place.name).filter { $0.hasPrefix(prefix) })
    let list = sources.first { $0.place.isListOfScenes }
    /// Whether a list says of one of the windows what would keep it away.
    func hides(_ list: WindowList, _ names: Set<String>, _ entries: [WindowList.Entry]) -> Bool {
      entries.contains { names.contains(prefix + $0.identifier) }
    }
    if let list, list.archive != nil {
      // It was asked for by its name.
      (source, mustGo) = (list, false)
      return
    }
    let stored = try Self.read(place, credential)
    mustGo = stored.map { hides($0, windows, ($0.closed ?? []) + $0.discarded) } ?? true
    // What the session was about to remove may have been put back since.
    let states = Set(try place.stateNames())
    let old = try list.flatMap { try WindowList.read(at: $0.source, with: credential) }
    source = old.map { hides($0, states, $0.discarded) } == false ? list : nil
  }

  /// Nil for a list that is not stored, or cannot be read: a launch does without it.
  private static func read(
    _ place: StatePlace, _ credential: ArchiveCredential
  ) throws -> WindowList? {
    do {
      return try WindowList.read(at: place, with: credential)
    } catch is ArchiveError {
      return nil
    } catch is DecodingError {
      return nil
    }
  }

  /// Puts the list back, or sets the stored one aside; nil if it stays.
  func putBack(_ credential: ArchiveCredential) throws -> PutBack.Line? {
    if let source { return try source.putBack(try source.version(credential), credential) }
    let storage = place.stateStorage
    guard mustGo, try storage.open() != nil else { return nil }
    let before = Set(try storage.setAsideArchives().map(\.identifier))
    _ = try storage.setAside(.replaced, at: Date())
    let setAside = try storage.setAsideArchives().first { !before.contains($0.identifier) }
    return PutBack.Line(place: place, from: "", setAside: setAside.map { place.at($0).fileName })
  }
}
