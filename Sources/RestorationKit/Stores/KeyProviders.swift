public import ArchiveCodec
internal import Synchronization

/// The key in a file of its own, readable by the owner alone.
///
/// The file is outside the directory of the states, so that a copy of that
/// directory does not contain the key.
public struct FileKeyProvider: KeyProvider {
  /// The file that holds the key.
  public var file: KeyFile { lastKey.file ?? first }
  /// The file that is made if there is no key.
  private let first: KeyFile
  /// The file of the user's data directory, which is looked at, too; nil for a provider with a path.
  private let usual: KeyFile?
  private let lastKey = LastKey()

  /// Creates a provider for a file, which need not exist.
  ///
  /// - Parameter path: The path of the file.
  public init(path: String) {
    first = KeyFile(path: path)
    usual = nil
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
    let directories = BaseDirectories.current
    first = KeyFile(path: directories.keyFile(of: application))
    usual = nil
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

// MARK: - Places

extension FileKeyProvider {
  /// Chooses the file of the key, unless it is chosen already.
  ///
  /// - Parameters:
  ///   - directory: The directory of the states.
  ///   - opens: Whether a key opens the stored state; nil if nothing is stored.
  /// - Throws: The failure of a read that may pass: another key must not be chosen for that.
  func chooseFile(
    for directory: any StateDirectory, _ opens: (ArchiveKey) throws(ArchiveError) -> Bool?
  ) throws(ArchiveError) {
    guard let usual, !lastKey.isChosen else { return }
    var candidates = [first]
    for other in [usual, notedFile(for: directory)].compactMap(\.self)
    where !candidates.contains(other) {
      candidates.append(other)
    }
    let found = candidates.filter(\.isThere)
    guard found.count > 1 else { return lastKey.choose(found.first ?? first, isLast: true) }
    var isStored = true
    for file in found {
      guard let key = try usableKey(in: file) else { continue }
      switch try opens(key) {
      case true?: return lastKey.choose(file, isLast: true)
      case false?: break
      case nil: isStored = false
      }
    }
    // Another state of the app may be stored.
    lastKey.choose(found[0], isLast: isStored)
  }

  /// The key of a file; nil if the file cannot be used here: if it is chosen, it is read again, and says
  /// why.
  private func usableKey(in file: KeyFile) throws(ArchiveError) -> ArchiveKey? {
    do throws(ArchiveError) {
      return try file.load()
    } catch {
      guard error.code != .inputOutput else { throw error }
      return nil
    }
  }

  /// Notes in the directory of the states where the key is, unless every process looks there.
  func noteFile(for directory: any StateDirectory) throws(ArchiveError) {
    guard let usual, file != usual, notedFile(for: directory) != file,
      let note = note(for: directory)
    else { return }
    try SystemCall.replaceLink(at: note, by: file.path)
  }

  /// The file that an earlier launch has noted.
  ///
  /// The note has no seal, since only the key could open it. So it names a file of the name that keys
  /// have, and none beside the states: whoever can write there has not written the key.
  private func notedFile(for directory: any StateDirectory) -> KeyFile? {
    guard let note = note(for: directory), let path = SystemCall.target(ofLink: note),
      path.hasPrefix("/"), path.hasSuffix(Self.ending(of: first.path)),
      let states = (directory as? FileStateDirectory)?.path, !path.hasPrefix("\(states)/")
    else { return nil }
    return KeyFile(path: path)
  }

  private func note(for directory: any StateDirectory) -> String? {
    (directory as? FileStateDirectory).map {
      "\($0.path)/." + (first.path.split(separator: "/").last ?? "")
    }
  }

  /// The last two names of a path.
  private static func ending(of path: String) -> String {
    path.split(separator: "/").suffix(2).map { "/\($0)" }.joined()
  }
}

/// The file that is chosen, and the key that was read last from it, if anybody still has it.
private final class LastKey: Sendable {
  private struct Content {
    var file: KeyFile?
    /// Whether the file stays the one of this process.
    var isChosen = false
    weak var key: ArchiveKey?
    var stamp: KeyFile.Stamp?
  }

  private let content = Mutex(Content())

  var file: KeyFile? { content.withLock(\.file) }

  var isChosen: Bool { content.withLock(\.isChosen) }

  func choose(_ file: KeyFile, isLast: Bool) {
    content.withLock { content in
      guard !content.isChosen else { return }
      if content.file != file { (content.key, content.stamp) = (nil, nil) }
      (content.file, content.isChosen) = (file, isLast)
    }
  }

  var current: CurrentKey? {
    get {
      content.withLock { content in
        content.key.map { CurrentKey(key: $0, stamp: content.stamp) }
      }
    }
    set { content.withLock { ($0.key, $0.stamp) = (newValue?.key, newValue?.stamp) } }
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
