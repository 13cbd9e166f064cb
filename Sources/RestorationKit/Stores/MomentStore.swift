package import ArchiveCodec
internal import RestorationLibc
package import RestorationFoundation

/// The moments of one state, each in a storage of its own.
///
/// Where states are files, a moment is a second name of the file, in a directory beside it. Its name says
/// how many bytes the file had, and only these are read. So it takes no space until the file is replaced,
/// though saves go on appending to it. Elsewhere moments are copies, beside the state.
package struct MomentStore: Sendable {
  /// Makes the stored bytes a moment of this name, too, for good; false where they have to be copied.
  package typealias Link = @Sendable (_ id: String) throws(ArchiveError) -> Bool

  /// The storage of the state itself.
  package let main: any ArchiveStorage
  private let directory: any StateDirectory
  private let prefix: String
  /// Called before a moment is copied.
  package var putLink: Link = { _ in false }
  /// Called when a moment was removed.
  package var removed: @Sendable (Moment) -> Void = { _ in }
  /// The identifiers of moments that another place has.
  package var elsewhere: @Sendable () -> [String] = { [] }
  /// A moment that another place has and a call needs; nil for any other.
  package var held: @Sendable (Moment) -> (any ArchiveStorage)? = { _ in nil }

  /// - Parameters:
  ///   - main: The storage of the state itself.
  ///   - directory: Has the moments, among others.
  ///   - prefix: What the names of moments begin with there.
  package init(of main: any ArchiveStorage, in directory: any StateDirectory, prefix: String) {
    (self.main, self.directory, self.prefix) = (main, directory, prefix)
  }

  /// Moments as second names.
  ///
  /// - Parameters:
  ///   - main: The path of the file of the state.
  ///   - path: The path of the directory of its moments, on the same file system.
  ///   - synchronize: The system's call for an open directory; a test gives one that fails.
  ///   - linking: The system's call that gives a file a second name; a test gives one that fails.
  package init(
    linking main: String, in path: String,
    synchronizingDirectory synchronize: @escaping Directory.Synchronize = { fsync($0) },
    by linking: @escaping @Sendable (String, String) -> CInt = { unsafe link($0, $1) }
  ) {
    let directory = Directory(path, synchronize: synchronize)
    var moments = FileStateDirectory(path: path)
    moments.fileExtension = ""
    self.init(of: FileStorage(path: main), in: moments, prefix: "")
    putLink = { id throws(ArchiveError) in
      let handle = try directory.created(directory.open)
      let name = directory.child(id)
      guard linking(main, name) == 0 else { return false }
      do throws(ArchiveError) {
        try handle.synchronize()
      } catch {
        _ = unsafe unlink(name)
        throw error
      }
      return true
    }
    // The call does nothing while there are others.
    removed = { _ in _ = unsafe rmdir(path) }
  }

  /// The storage of a moment, which need not be there.
  package func storage(of moment: Moment) -> any ArchiveStorage {
    held(moment) ?? directory.storage(named: prefix + moment.id)
  }

  /// Removes moments; one that is not there is not an error.
  package func remove(_ moments: [Moment]) throws(ArchiveError) {
    for moment in moments {
      try storage(of: moment).remove()
      removed(moment)
    }
  }

  /// All moments, the oldest first.
  package func all() throws(ArchiveError) -> [Moment] {
    var all = try listed()
    let stored = all.isEmpty ? nil : try start(of: main)
    for place in all.indices {
      let own = try start(of: storage(of: all[place]))
      all[place].isOfMain = stored != nil && own == stored
    }
    return all
  }

  /// All moments as ``all()`` has them, without a look at their bytes.
  package func listed() throws(ArchiveError) -> [Moment] {
    let here = try directory.names().filter { $0.hasPrefix(prefix) }
      .map { String($0.dropFirst(prefix.count)) }
    return Set(here + elsewhere()).compactMap { Moment(id: $0) }.ordered { $0.id < $1.id }
  }

  /// The beginning of an archive, which has random bytes that only its copies share; nil for a file
  /// that this user may not read, which is no copy of one that the user has written.
  private func start(of storage: any ArchiveStorage) throws(ArchiveError) -> [UInt8]? {
    do throws(ArchiveError) {
      return try storage.open().map { (file) throws(ArchiveError) in
        try file.read(at: 0, count: min(file.byteCount, 128))
      }
    } catch {
      guard error.code == .permissionDenied else { throw error }
      return nil
    }
  }

  /// Keeps the bytes that are stored now; they are there for good when the call returns.
  ///
  /// - Returns: The moment, which may be an earlier one of the same bytes and reason; nil if
  ///   nothing is stored.
  /// - Throws: Why they cannot be kept; never `notDurable`.
  package func keep(_ reason: Moment.Reason, at date: Date) throws(ArchiveError) -> Moment? {
    guard let file = try main.open(), file.byteCount > 0 else { return nil }
    let (known, count) = (try all(), file.byteCount)
    let same = known.last { $0.isOfMain && $0.reason == reason && $0.byteCount == count }
    // Two files that went on from one moment may have as many bytes, and others.
    if let same,
      try self.file(of: same)?.read(at: 0, count: count) == file.read(at: 0, count: count)
    {
      return same
    }
    var moment = Moment(reason, at: date, after: known.last, byteCount: count)
    moment.isOfMain = true
    do throws(ArchiveError) {
      if try !putLink(moment.id) {
        try storage(of: moment).replace { sink throws(ArchiveError) in
          try sink.write(0..<count, of: file)
        }
      }
    } catch {
      throw error.beforeAChange
    }
    return moment
  }

  /// The bytes of a moment, or as many of them as are there; nil if it is gone.
  ///
  /// A name may say any number of bytes, so they are read as an archive is.
  package func file(of moment: Moment) throws(ArchiveError) -> (any ArchiveFile)? {
    try storage(of: moment).open().map {
      BeginningOfFile(file: $0, byteCount: min($0.byteCount, moment.byteCount))
    }
  }
}

/// The first bytes of a file, which somebody may have continued.
private struct BeginningOfFile: ArchiveFile {
  let file: any ArchiveFile
  let byteCount: Int

  func read(at offset: Int, count: Int) throws(ArchiveError) -> [UInt8] {
    guard offset >= 0, offset <= byteCount, count <= byteCount - offset else {
      throw ArchiveError(.truncated, offset: byteCount)
    }
    return try file.read(at: offset, count: count)
  }
}
