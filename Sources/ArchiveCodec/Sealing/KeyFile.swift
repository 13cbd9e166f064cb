internal import RestorationLibc
internal import Synchronization

/// A file that holds one key, readable by its owner alone.
///
/// Keep it away from the archives that it opens: in another directory, and in
/// another backup or none.
public struct KeyFile: Hashable, Sendable {
  /// The path of the file.
  public let path: String
  private let last = LastKey()

  /// Names a key file, which need not exist.
  ///
  /// - Parameter path: The path of the file.
  public init(path: String) {
    self.path = path
  }

  /// Reads the key, nil if there is no file.
  ///
  /// - Returns: The key, or nil.
  /// - Throws: ``ArchiveError``: `keyDamaged` if the file is not an intact key file,
  ///   `keyExposed` if another user owns the file or may read or change it, `notAFile`,
  ///   `permissionDenied`, `inputOutput`, and `notDurable` if whoever made the file did not
  ///   get it on stable storage, and this call does not either. An absent file is not an
  ///   error.
  public func load() throws(ArchiveError) -> ArchiveKey? { try load(in: directory) }

  package func load(in directory: Directory) throws(ArchiveError) -> ArchiveKey? {
    try loadStamped(in: directory)?.key
  }

  /// Finds the key, nil if there is no file.
  ///
  /// The file tells whether its key has changed, without giving the key again. So the key is not read
  /// as long as anybody has the one that was read last.
  package func current() throws(ArchiveError) -> ArchiveKey? {
    let (known, stamp) = last.content.withLock { ($0.key, $0.stamp) }
    do throws(ArchiveError) {
      // Reading the file costs many times more than asking for its status.
      if let known, try Directory.status(of: path).map(Self.stamp) == stamp { return known }
    } catch {
      throw error.located(at: path)
    }
    guard let (key, stamp) = try loadStamped(in: directory) else { return nil }
    last.content.withLock { ($0.key, $0.stamp) = (key, stamp) }
    return key
  }

  private func loadStamped(
    in directory: Directory
  ) throws(ArchiveError) -> (key: ArchiveKey, stamp: [Int])? {
    do throws(ArchiveError) {
      var status = stat()
      guard let file = try OpenFile.existing(path, checking: { status = $0 }) else { return nil }
      guard status.st_mode & 0o077 == 0, status.st_uid == geteuid() else {
        throw ArchiveError(.keyExposed)
      }
      guard status.st_size == ArchiveKey.fileByteCount else { throw ArchiveError(.keyDamaged) }
      if status.st_nlink > 1 {
        // The process that made the file was killed before it removed the temporary
        // name, or could not put the file on stable storage: a power cut would take
        // the key, with all that it has sealed by then. Now the name goes, so that the
        // key is gone once the key file is deleted.
        try directory.open().synchronize()
        try directory.sweepTemporaries(of: name, linkedTo: status.st_ino)
      }
      return (try ArchiveKey(readingKeyFile: file), Self.stamp(status))
    } catch {
      throw error.located(at: path)
    }
  }

  /// Numbers of which one differs if the file was written or replaced: its identity, size and mode, and when its
  /// content, and its name, owner or mode were changed last.
  private static func stamp(_ status: stat) -> [Int] {
    let (content, all) = (status.modificationTime, status.changeTime)
    return [
      Int(truncatingIfNeeded: status.st_dev), Int(truncatingIfNeeded: status.st_ino),
      Int(status.st_size), Int(status.st_mode), content.tv_sec, content.tv_nsec, all.tv_sec,
      all.tv_nsec,
    ]
  }

  /// Reads the key, or makes a new one if there is no file.
  ///
  /// The file appears whole or not at all. If another process makes one at the
  /// same time, both get the same key.
  ///
  /// - Returns: The key that the file holds now.
  /// - Throws: ``ArchiveError`` as ``load()`` does, and `storageFull`. A file
  ///   that cannot be used is never replaced.
  public func loadOrCreate() throws(ArchiveError) -> ArchiveKey {
    try loadOrCreate(in: directory)
  }

  package func loadOrCreate(in directory: Directory) throws(ArchiveError) -> ArchiveKey {
    if let key = try load(in: directory) { return key }
    let key = try ArchiveKey()
    var second: String?
    do throws(ArchiveError) {
      try directory.place(name) { file throws(ArchiveError) in
        try key.write(to: file)
      } publish: { temporary, final in
        second = temporary
        return Self.publish(temporary, final)
      }
      // As long as the file has its second name, it may not be on stable storage; see `load`.
      if let second { _ = unsafe unlink(second) }
      return key
    } catch {
      guard error.systemError == EEXIST, let other = try load(in: directory) else {
        throw error.located(at: path)
      }
      return other
    }
  }

  private var directory: Directory { Directory(parentOf: path) }

  private var name: String { Directory.name(of: path) }

  /// Gives the file its name with a link: unlike a rename, a link does not replace a
  /// key that another process has made.
  ///
  /// Some file systems have no links. There two processes that make the first key in
  /// the same instant may end up with different ones.
  private static func publish(_ temporary: String, _ final: String) -> CInt {
    if unsafe link(temporary, final) == 0 { return 0 }
    guard [EPERM, EOPNOTSUPP, ENOSYS, EMLINK].contains(errno) else { return -1 }
    if unsafe access(final, F_OK) == 0 {
      errno = EEXIST
      return -1
    }
    return unsafe rename(temporary, final)
  }
}

/// The key that was read last, if anybody still has it; copies of a key file share it.
private final class LastKey: Hashable, Sendable {
  struct Content {
    weak var key: ArchiveKey?
    var stamp: [Int]?
  }

  let content = Mutex(Content())

  // What was read makes no difference between two files.
  static func == (left: LastKey, right: LastKey) -> Bool { true }

  func hash(into hasher: inout Hasher) {}
}
