import ArchiveCodec
import ArgumentParser
import Foundation
import RestorationInspection
import RestorationKit

/// Where a state is, and what it belongs to.
struct StatePlace {
  let application: String
  let name: String
  let directory: FileStateDirectory
  /// The file that was asked for: the state, or something that lies beside it.
  let storage: any ArchiveStorage
  /// Whether nobody has named the app, so that the folder of the file counts.
  var isNamedByFolder = false

  static let suffix = ".rka"

  init(
    application: String, name: String, directory: FileStateDirectory, isNamedByFolder: Bool = false
  ) {
    self.init(
      application: application, name: name, directory: directory,
      storage: FileStorage(path: "\(directory.path)/\(name)\(Self.suffix)"))
    self.isNamedByFolder = isNamedByFolder
  }

  private init(
    application: String, name: String, directory: FileStateDirectory,
    storage: any ArchiveStorage
  ) {
    self.application = application
    self.name = name
    self.directory = directory
    self.storage = storage
  }

  /// Names the state that a file belongs to: `…/APPLICATION/NAME.rka`, and what follows that.
  init(file: String, application: String?, name: String?) throws {
    let url = URL(filePath: file).absoluteURL
    let folder = url.deletingLastPathComponent()
    let fileName = url.lastPathComponent
    guard
      let name = name ?? fileName.range(of: Self.suffix).map({ String(fileName[..<$0.lowerBound]) })
    else {
      throw ValidationError("“\(fileName)” is not NAME.rka: name the state with --state.")
    }
    self.init(
      application: application ?? folder.lastPathComponent, name: name,
      directory: FileStateDirectory(path: folder.path),
      storage: FileStorage(path: url.path))
    isNamedByFolder = application == nil
  }

  var context: ArchiveContext { StoredState.context(of: name, in: application) }

  /// The file of the state itself.
  var stateStorage: FileStorage { FileStorage(path: "\(directory.path)/\(name)\(Self.suffix)") }

  /// Whether it says which windows there are.
  var isListOfScenes: Bool { name.hasSuffix(".scenes") }

  /// Another state of the same app.
  func beside(named name: String) -> StatePlace {
    StatePlace(application: application, name: name, directory: directory)
  }

  /// What was set aside of the state, or is kept as a generation of it.
  func at(_ archive: SetAsideArchive) -> StatePlace {
    StatePlace(
      application: application, name: name, directory: directory,
      storage: FileStorage(path: archive.storage.location))
  }

  /// The state as it is in a session; nil if the session does not have it.
  func inSession(_ session: SavedSession) throws -> StatePlace? {
    try session.storage(ofStateNamed: name, in: directory).map {
      StatePlace(application: application, name: name, directory: directory, storage: $0)
    }
  }

  /// The sessions that have the state, newest first; all of them for the state of the app.
  func sessions() throws -> [SavedSession] {
    try SavedSession.all(in: directory, ofStateNamed: claimName).filter {
      try name == claimName || $0.stateNames(in: directory).contains(name)
    }
  }

  /// The list of the app's windows.
  var listOfScenes: StatePlace { beside(named: "\(claimName).scenes") }

  /// The names of all states of the app, without what lies beside them.
  func stateNames() throws -> [String] {
    try directory.names().filter { !$0.hasSuffix(".launch") }.sorted()
  }

  var fileName: String { URL(filePath: storage.location).lastPathComponent }

  /// Opens the state; says so if nothing is stored.
  func open(_ credential: ArchiveCredential) throws -> StoredState {
    let state: StoredState?
    do throws(ArchiveError) {
      state = try StoredState.open(storage, named: name, of: application, with: credential)
    } catch {
      throw explained(error)
    }
    guard let state else { throw nothingStored }
    return state
  }

  /// A failure of the key or the app that the folder stands for, as what a person can do.
  func explained(_ error: ArchiveError) -> any Error {
    guard isNamedByFolder, [.keyMissing, .wrongKey, .wrongContext].contains(error.code) else {
      return error
    }
    let location = error.location.map { ", \($0)" } ?? ""
    return Failure(
      .noKey,
      "The state cannot be opened (\(error.phrase)\(location)). \(folderHint)")
  }

  /// What a person should know if nobody has named the app.
  var folderHint: String {
    "Its app was taken to be “\(application.escaped)”, the folder of the file; if it is another one,"
      + " name it with --app."
  }

  /// Throws if nothing is stored.
  func requireStored() throws {
    guard try storage.open() != nil else { throw nothingStored }
  }

  var nothingStored: Failure {
    let others = ((try? stateNames()) ?? []).filter { $0 != name }
    let hint =
      others.isEmpty
      ? ""
      : " Stored beside it, for --state: "
        + "\(others.prefix(20).map(\.escaped).joined(separator: ", "))."
        + (others.contains { $0.contains(".scene") } ? " The windows are named by windows." : "")
    return Failure(.nothingStored, "Nothing is stored at \(storage.location.escaped).\(hint)")
  }

  /// Whether an app, or another tool, has the state.
  func isInUse() throws -> Bool { try claimStorage.isLocked() }

  /// Keeps all others from changing the state; throws if an app has it.
  func lock() throws -> any ArchiveLock { try claimStorage.lock() }

  /// Scenes are claimed with the state of their app.
  var claimStorage: FileStorage { beside(named: claimName).stateStorage }

  /// The name of the state that an app has when it has this one.
  var claimName: String {
    name.range(of: ".scene").map { String(name[..<$0.lowerBound]) } ?? name
  }
}

/// Says which state is meant.
struct PlaceOptions: ParsableArguments {
  @Argument(help: "The file of the state, of a generation, or one that was set aside.")
  var file: String?

  @Option(help: "The identifier of the app; the folder of the file by default.")
  var app: String?

  @Option(help: "The name of the state; by default “main”, or that of the file.")
  var state: String?

  @Option(help: "The directory of the app's states.")
  var directory: String?

  func validate() throws {
    if file == nil, app == nil {
      throw ValidationError("Name a file, or an app with --app.")
    }
    if app?.isEmpty == true || state?.isEmpty == true {
      throw ValidationError("The name of an app or of a state has a letter at least.")
    }
    if file != nil, directory != nil {
      throw ValidationError("--directory is for --app, not for a file.")
    }
  }

  func place() throws -> StatePlace {
    if let file { return try StatePlace(file: file, application: app, name: state) }
    guard let app else { throw ValidationError("Name a file, or an app with --app.") }
    return StatePlace(
      application: app, name: state ?? "main",
      directory: directory.map { FileStateDirectory(path: $0) }
        ?? FileStateDirectory(application: app))
  }
}
