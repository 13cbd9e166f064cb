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
  /// The file that was asked for: the state, or an older one of its history.
  let storage: any ArchiveStorage
  /// The older state that was asked for; nil for the state itself.
  private(set) var moment: Moment?
  /// Whether nobody has named the app, so that the folder of the file counts.
  var isNamedByFolder = false

  static let suffix = ".rka"
  static let historySuffix = ".history"

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

  /// Names the state that a file belongs to: `…/APPLICATION/NAME.rka`, or one of its history,
  /// `…/APPLICATION/NAME.history/MOMENT`.
  init(file: String, application: String?, name: String?) throws {
    let url = URL(filePath: file).absoluteURL
    let (folder, fileName) = (url.deletingLastPathComponent(), url.lastPathComponent)
    let kept = folder.lastPathComponent
    if kept.hasSuffix(Self.historySuffix) {
      let states = folder.deletingLastPathComponent()
      self.init(
        application: application ?? states.lastPathComponent,
        name: name ?? String(kept.dropLast(Self.historySuffix.count)),
        directory: FileStateDirectory(path: states.path), isNamedByFolder: application == nil)
      self = at(try moment(fileName))
      return
    }
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

  /// Another state of the same app.
  func beside(named name: String) -> StatePlace {
    StatePlace(application: application, name: name, directory: directory)
  }

  // MARK: History

  /// The older states beside the state.
  func history(_ key: ArchiveKey? = nil) -> StateHistory {
    StateHistory(of: name, in: application, at: directory, key: key)
  }

  var historyPath: String { "\(directory.path)/\(name)\(Self.historySuffix)" }

  /// The older state with a name that history prints.
  func moment(_ id: String) throws -> Moment {
    if let moment = try history().all().first(where: { $0.id == id }) { return moment }
    throw Failure(
      .nothingStored, "There is no older state \(id.escaped) of \(name.escaped); see history.")
  }

  /// An older state of the state.
  func at(_ moment: Moment) -> StatePlace {
    var place = StatePlace(
      application: application, name: name, directory: directory,
      storage: FileStorage(path: "\(historyPath)/\(moment.id)"))
    (place.moment, place.isNamedByFolder) = (moment, isNamedByFolder)
    return place
  }

  /// The names of all states of the app, without what lies beside them.
  func stateNames() throws -> [String] {
    try directory.names().filter { !$0.hasSuffix(".launch") }.sorted()
  }

  var fileName: String { URL(filePath: storage.location).lastPathComponent }

  /// Opens the state; says so if nothing is stored.
  func open(_ credential: ArchiveCredential) throws -> StoredState {
    let state: StoredState?
    do throws(ArchiveError) {
      state =
        if let moment {
          try history().state(at: moment, with: credential)
        } else {
          try StoredState.open(storage, named: name, of: application, with: credential)
        }
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
    return Failure(.nothingStored, "Nothing is stored at \(storage.location.escaped).\(hint)")
  }

  /// Whether an app, or another tool, has the state.
  func isInUse() throws -> Bool { try stateStorage.isLocked() }
}

/// Says which state is meant.
struct PlaceOptions: ParsableArguments {
  @Argument(help: "The file of the state, or of an older one of its history.")
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
