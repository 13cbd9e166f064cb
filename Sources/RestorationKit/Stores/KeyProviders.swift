public import ArchiveCodec
internal import Synchronization

/// The key in a file of its own, readable by the owner alone.
///
/// The file is outside the directory of the states, so that a copy of that
/// directory does not contain the key.
public struct FileKeyProvider: KeyProvider {
  /// The file that holds the key.
  public let file: KeyFile
  private let lastKey = LastKey()

  /// Creates a provider for a file, which need not exist.
  ///
  /// - Parameter path: The path of the file.
  public init(path: String) {
    file = KeyFile(path: path)
  }

  /// Creates a provider for the application's file in the user's data directory.
  ///
  /// The file is `restoration-keys/APPLICATION.key` in `$XDG_DATA_HOME`, or in
  /// `~/.local/share` if the variable is not set or not absolute, and on Apple systems
  /// in Application Support. The home directory is as for ``FileStateDirectory``.
  ///
  /// - Parameter application: The identifier of the application.
  public init(application: String) {
    self.init(path: BaseDirectories.current.keyFile(of: application))
  }

  /// The path of the file.
  public var location: String? { file.path }

  /// Reads the key, or makes the file.
  public func key(creating: Bool) throws(ArchiveError) -> ArchiveKey? {
    creating ? try file.loadOrCreate() : try file.load()
  }

  /// The key with the stamp of the file; nil if there is no file.
  ///
  /// The file tells whether its key has changed, without giving the key again. So the key is not read
  /// as long as anybody has the one that was read last.
  func currentKey() throws(ArchiveError) -> CurrentKey? {
    if let known = lastKey.current, try file.stamp() == known.stamp { return known }
    guard let (key, stamp) = try file.loadStamped() else { return nil }
    let current = CurrentKey(key: key, stamp: stamp)
    lastKey.current = current
    return current
  }
}

/// The key that was read last from a file, if anybody still has it.
private final class LastKey: Sendable {
  private struct Content {
    weak var key: ArchiveKey?
    var stamp: KeyFile.Stamp?
  }

  private let content = Mutex(Content())

  var current: CurrentKey? {
    get {
      content.withLock { content in
        content.key.map { CurrentKey(key: $0, stamp: content.stamp) }
      }
    }
    set { content.withLock { $0 = Content(key: newValue?.key, stamp: newValue?.stamp) } }
  }
}

/// A key that the application has from elsewhere: a keyring, a server, a test.
public struct FixedKeyProvider: KeyProvider {
  private let fixed: ArchiveKey

  /// Creates a provider that always gives this key.
  ///
  /// - Parameter key: The key.
  public init(_ key: ArchiveKey) {
    fixed = key
  }

  /// The key.
  public func key(creating: Bool) throws(ArchiveError) -> ArchiveKey? { fixed }
}

extension KeyProvider where Self == FixedKeyProvider {
  /// Makes a provider of a new random key, for tests and previews.
  ///
  /// The key lives as long as the provider and the archives that it opened, and is
  /// stored nowhere: only this provider or a copy of it opens what the key has sealed.
  ///
  ///     let keeper = try StateKeeper(
  ///       application: "org.example.test", directory: MemoryStateDirectory(), keys: .ephemeral())
  ///
  /// - Returns: A provider that always gives this key.
  /// - Throws: ``/ArchiveCodec/ArchiveError`` with `cryptographyUnavailable`.
  public static func ephemeral() throws(ArchiveError) -> FixedKeyProvider {
    FixedKeyProvider(try ArchiveKey())
  }
}
