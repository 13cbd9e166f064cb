public import ArchiveCodec
internal import Synchronization

/// The key in a file of its own, readable by the owner alone.
///
/// The file is outside the directory of the states, so that a copy of that
/// directory does not contain the key.
public struct FileKeyProvider: KeyProvider {
  /// The file that holds the key.
  public let file: KeyFile
  private let last = LastKey()

  /// Creates a provider for a file, which need not exist.
  ///
  /// - Parameter path: The path of the file.
  public init(path: String) {
    file = KeyFile(path: path)
  }

  /// Creates a provider for the application's file in the user's data directory.
  ///
  /// The file is `restoration-keys/APPLICATION.key` in `$XDG_DATA_HOME`, or in
  /// `~/.local/share` if that variable or `$XDG_STATE_HOME` is not set or not absolute, and
  /// on Apple systems in Application Support. The home directory is as for
  /// ``FileStateDirectory``. So the terminal of a snap, which sets `XDG_DATA_HOME` alone, has
  /// the same key and the same state as any other.
  ///
  /// - Parameter application: The identifier of the application.
  public init(application: String) {
    self.init(path: BaseDirectories.current.keyFile(of: application))
  }

  /// The path of the file.
  public var location: String? { file.path }

  /// Reads the key, or makes the file.
  ///
  /// The file tells whether its key has changed, without giving the key again. So the key is not read
  /// as long as anybody has the one that was read last.
  public func key(creating: Bool) throws(ArchiveError) -> ArchiveKey? {
    let (known, stamp) = last.content.withLock { ($0.key, $0.stamp) }
    if let known, let stamp, try file.stamp() == stamp { return known }
    guard let (key, stamp) = try file.loadStamped() else {
      return creating ? try file.loadOrCreate() : nil
    }
    last.content.withLock { ($0.key, $0.stamp) = (key, stamp) }
    return key
  }
}

/// The key that was read last, if anybody still has it.
private final class LastKey: Sendable {
  struct Content {
    weak var key: ArchiveKey?
    var stamp: KeyFile.Stamp?
  }

  let content = Mutex(Content())
}

/// A key that the application has from elsewhere: a keyring, a server, a test.
public struct FixedKeyProvider: KeyProvider {
  private let fixed: ArchiveKey

  /// Creates a provider that always gives this key.
  ///
  /// - Parameter key: The key.
  public init(_ key: ArchiveKey) { fixed = key }

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
