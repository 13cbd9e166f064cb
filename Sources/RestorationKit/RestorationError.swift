public import ArchiveCodec
public import RestorationFoundation

/// A failure to save or restore as a whole, or to set a keeper up.
///
/// A failure of one node only is an entry of the report and not an error.
public struct RestorationError: Error, Hashable, Sendable {
  /// The kind of a failure.
  ///
  /// More kinds may come; handle unknown ones.
  public struct Code: Hashable, Sendable {
    fileprivate let name: String

    package init(_ name: String) { self.name = name }

    /// The archive, its key or its place cannot be used; see ``archive``.
    public static let archive = Code("archive")

    /// The place where the directory keeps its states cannot be reached, as a store that several
    /// machines share; the description says why.
    public static let store = Code("store")

    /// A value is no property list value, so user info cannot hold it.
    public static let unsupportedValue = Code("unsupportedValue")

    /// A scene's configuration has another role than its session, or there is none.
    public static let noConfiguration = Code("noConfiguration")

    /// A scene's delegate could not be made, or it follows another scene.
    public static let noDelegate = Code("noDelegate")

    /// A scene is not connected, or a session is none of the host's.
    public static let notConnected = Code("notConnected")

    /// A node that a reference names is back with another type.
    public static let nodeTypeMismatch = Code("nodeTypeMismatch")

    /// A name was registered for two types or storyboards.
    public static let nameTaken = Code("nameTaken")

    /// An application or state name cannot be the name of a file.
    public static let invalidName = Code("invalidName")

    /// Migrations do not lead from version to version up to the one they are
    /// registered with, or the version is below 1.
    public static let invalidMigrations = Code("invalidMigrations")

    /// A migration renamed a key to one that has a value, or a value has the key of the library.
    public static let keyTaken = Code("keyTaken")

    /// The trees have more nodes than ``StatePolicy/nodeLimit``.
    public static let tooManyNodes = Code("tooManyNodes")

    /// Another instance of the app has the state, or windows are connected that go on with it.
    public static let inUse = Code("inUse")

    /// ``Restoration/begin(_:version:signals:roots:prepare:)`` was called a second time.
    public static let alreadyBegun = Code("alreadyBegun")
  }

  /// The kind of failure.
  public let code: Code

  /// The error of the archive, if that is the cause.
  public let archive: ArchiveError?

  /// What happened and what to do, in plain words; the text may change.
  public let description: String

  package init(_ code: Code, _ description: String, archive: ArchiveError? = nil) {
    (self.code, self.archive, self.description) = (code, archive, description)
  }

  /// Wraps a failure of the archive, or says who has the state.
  package init(_ error: ArchiveError) {
    switch error.code {
    case .locked:
      let process = error.subject ?? "another instance of the app"
      self.init(.inUse, "The state is in use by \(process). Close that one first.")
    case .storeUnavailable: self.init(.store, error.subject ?? error.description, archive: error)
    default: self.init(.archive, error.description, archive: error)
    }
  }
}

extension RestorationError {
  /// Says what to do after a failure to read what was to be restored; the app goes on by itself.
  static func notRestored(_ error: ArchiveError, makesKey: Bool) -> any Error {
    guard error.isAboutContent || error.code == .keyMissing else { return error }
    let advice =
      switch error.code {
      case .keyMissing where !makesKey:
        "This provider makes none: put the key there and launch again; until then nothing is saved."
      case .keyMissing:
        "End the app and put the key back; else the next save makes a new key and sets aside"
          + " what is stored."
      case .wrongKey:
        "If you have the key that it was written with, end the app and put that back;"
          + " else the next save sets aside what is stored."
      case .limitExceeded:
        "Raise the limit and launch again; else the next save sets aside what is stored."
      default: "Let the app go on; its next save sets aside what is stored."
      }
    return RestorationError(.archive, "\(error.finding) \(advice)", archive: error)
  }

  static func taken(_ key: String) -> RestorationError {
    RestorationError(.keyTaken, "“\(key)” is a key of the library. Use another one.")
  }

  /// The way to where the walk was, as far as anybody wants to read it.
  static func tooManyNodes(_ path: RestorationPath, _ limit: Int) -> RestorationError {
    let shown = 8
    let start = RestorationPath(Array(path.components.prefix(shown)))
    return RestorationError(
      .tooManyNodes,
      "There are more than \(limit) nodes; the walk was at “\(start)\(path.count > shown ? "/…" : "")”."
        + " Let restorationChildren return the nodes that are there and make none,"
        + " or raise the keeper's policy.nodeLimit.")
  }
}

extension RestorationError: CustomStringConvertible, LocalizedError {
  /// The same as the description; it is not translated.
  public var errorDescription: String? { description }
}
