package import RestorationLibc

/// A directory into which files are put so that they survive a power cut.
package struct Directory: Sendable {
  package let path: String
  private let synchronize: Synchronize

  /// The system's call for an open directory; a test gives one that fails.
  package typealias Synchronize = @Sendable (_ descriptor: CInt) -> CInt

  package init(_ path: String, synchronize: @escaping Synchronize = { fsync($0) }) {
    self.path = path
    self.synchronize = synchronize
  }

  package init(parentOf path: String, synchronize: @escaping Synchronize = { fsync($0) }) {
    self.init(
      Self.nameStart(in: path).map { String(path[..<$0]) } ?? ".", synchronize: synchronize)
  }

  package static func name(of path: String) -> String {
    nameStart(in: path).map { String(path[$0...]) } ?? path
  }

  /// Where the name of the last component begins; nil if there is no other.
  ///
  /// Looked for in the bytes: to look for a character takes twenty times as long.
  private static func nameStart(in path: String) -> String.Index? {
    path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8.index(after: $0) }
  }

  package func child(_ name: String) -> String {
    path.utf8.last == UInt8(ascii: "/") ? path + name : "\(path)/\(name)"
  }

  /// Makes the directory and its parents, open to the owner alone.
  ///
  /// Existing directories stay as they are; new ones are put on stable storage.
  package func create() throws(ArchiveError) {
    // From the last one up to the first that is there, which in most cases is the next.
    let paths = prefixes
    var missing = paths.endIndex
    while missing > paths.startIndex {
      missing -= 1
      if try Self.make(paths[missing]) { break }
    }
    for path in paths[missing...].dropFirst() { _ = try Self.make(path) }
  }

  /// The directory and its parents, the first one first.
  private var prefixes: [String] {
    var made = path.hasPrefix("/") ? "/" : ""
    return path.split(separator: "/").map { component in
      made = made.isEmpty ? String(component) : Directory(made).child(String(component))
      return made
    }
  }

  /// Makes a directory, unless it is there; false if its parent is missing.
  private static func make(_ path: String) throws(ArchiveError) -> Bool {
    do throws(ArchiveError) {
      try makeNew(path)
    } catch {
      guard error.systemError != ENOENT else { return false }
      guard try status(of: path, following: true) == nil else { return true }
      guard try status(of: path) == nil else {
        throw ArchiveError(.notAFile, subject: "a link that leads nowhere", location: path)
      }
      throw error
    }
    do throws(ArchiveError) {
      try Directory(path).parent.open().synchronize()
    } catch {
      // The error must not be `notDurable`, which would say that something was written.
      throw ArchiveError(.inputOutput, systemError: error.systemError)
    }
    return true
  }

  /// Makes a directory with the mode 0700.
  static func makeNew(_ path: String) throws(ArchiveError) {
    try SystemCall.check { unsafe mkdir(path, 0o700) }
    // The umask may have taken bits away, without which nothing can be put into the directory.
    guard let status = try status(of: path), status.st_mode & 0o777 != 0o700 else { return }
    do throws(ArchiveError) {
      try SystemCall.check { unsafe chmod(path, status.st_mode & 0o7000 | 0o700) }
    } catch {
      _ = unsafe rmdir(path)
      throw error
    }
  }

  private var parent: Directory { Directory(child("..")) }

  /// Runs a body that needs the directory; if there is none, makes it and runs the body again.
  ///
  /// Nearly always the directory is there, and asking first takes two calls for each of its parents.
  package func created<Result: ~Copyable>(
    _ body: () throws(ArchiveError) -> Result
  ) throws(ArchiveError) -> Result {
    do throws(ArchiveError) {
      return try body()
    } catch {
      guard error.systemError == ENOENT else { throw error }
      try create()
      return try body()
    }
  }

  /// An open directory, whose entries can be put on stable storage.
  package struct Handle: ~Copyable {
    fileprivate let file: OpenFile
    fileprivate let call: Directory.Synchronize

    /// Puts new, renamed and removed entries on stable storage.
    ///
    /// Some file systems have no such call for directories; there the method does
    /// nothing, and the entries are as durable as the system makes them.
    ///
    /// - Throws: ``ArchiveError`` with `notDurable`: the entries are changed, but a
    ///   power cut may undo the change.
    package func synchronize() throws(ArchiveError) {
      do throws(ArchiveError) {
        try SystemCall.check { call(file.descriptor) }
      } catch {
        guard !Self.notImplemented.contains(error.systemError) else { return }
        throw ArchiveError(.notDurable, systemError: error.systemError)
      }
    }

    private static let notImplemented: [CInt?] = [EINVAL, ENOSYS, ENOTSUP, EOPNOTSUPP]
  }

  /// Opens the directory, before anything in it changes: an error of this call leaves
  /// everything as it was.
  package func open() throws(ArchiveError) -> Handle {
    // With the dot, a link to a directory works like the directory.
    Handle(file: try OpenFile(child("."), O_RDONLY | O_DIRECTORY), call: synchronize)
  }

  /// The status of a path, nil if nothing is there.
  package static func status(
    of path: String, following: Bool = false
  ) throws(ArchiveError) -> stat? {
    var status = stat()
    do {
      try SystemCall.check {
        unsafe following ? stat(path, &status) : lstat(path, &status)
      }
    } catch  where error.systemError == ENOENT {
      return nil
    }
    return status
  }

  /// Writes a file under a temporary name, puts it on stable storage, and then
  /// gives it its name; makes the directory if there is none.
  ///
  /// Temporary files of the name that killed writers left behind are removed before.
  /// If anything fails before the last step, no trace is left. The error is
  /// `notDurable` if only the sync after the last step failed.
  ///
  /// - Parameters:
  ///   - name: The final name.
  ///   - durably: Whether to wait until the file is on stable storage.
  ///   - write: Writes the content.
  ///   - publish: Gives the file at the first path the second path.
  /// - Throws: The errors of `write`, and of the system calls.
  package func place(
    _ name: String, durably: Bool = true,
    _ write: (borrowing OpenFile) throws(ArchiveError) -> Void,
    publish: (_ temporary: String, _ final: String) -> CInt
  ) throws(ArchiveError) {
    try sweepTemporaries(of: name)
    let handle = durably ? try created(open) : nil
    let temporary = try created { () throws(ArchiveError) in
      try TemporaryFile(in: self, for: name)
    }
    do {
      try write(temporary.file)
      if durably { try temporary.file.synchronize() }
      try SystemCall.check { publish(temporary.path, child(name)) }
    } catch {
      _ = unsafe unlink(temporary.path)
      throw error
    }
    // The lock goes with the descriptor, and not before the name has changed.
    _ = consume temporary
    try handle?.synchronize()
  }

  /// Removes temporary files that killed writers left behind.
  ///
  /// Only files of this user that nobody writes any more are removed; see
  /// ``TemporaryFile``. A missing directory is not an error.
  ///
  /// - Parameters:
  ///   - name: The final name of the files.
  ///   - inode: The file that has its final name already: only its other names are removed.
  /// - Throws: ``ArchiveError``: `permissionDenied`, `notAFile`, `inputOutput`.
  /// - Complexity: O(*n*) in the names in the directory.
  package func sweepTemporaries(
    of name: String, linkedTo inode: ino_t? = nil
  ) throws(ArchiveError) {
    try forEachName(beginningWith: ".") { candidate throws(ArchiveError) in
      guard TemporaryFile.finalName(of: candidate) == name else { return }
      let path = child(candidate)
      guard let inode else { return try TemporaryFile.sweep(path) }
      if try Self.status(of: path)?.st_ino == inode { _ = unsafe unlink(path) }
    }
  }

  /// Calls a body for every name in the directory with a prefix; for none if there is no directory.
  ///
  /// - Throws: The errors of the body, and of the system calls. The body may have been
  ///   called for some of the names then.
  package func forEachName(
    beginningWith prefix: String, _ body: (String) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    guard let stream = unsafe opendir(path) else {
      guard errno != ENOENT else { return }
      throw ArchiveError(systemError: errno)
    }
    defer { unsafe closedir(stream) }
    while true {
      // At the end of the directory `readdir` leaves `errno` as it was.
      errno = 0
      guard let entry = unsafe readdir(stream) else {
        guard errno == 0 else { throw ArchiveError(systemError: errno) }
        return
      }
      let name: String? = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe pointer.withMemoryRebound(
          to: CChar.self, capacity: MemoryLayout.size(ofValue: entry.pointee.d_name)
        ) {
          // Compared before a String is made, since most names are of other files.
          unsafe strncmp($0, prefix, prefix.utf8.count) == 0 ? String(cString: $0) : nil
        }
      }
      if let name { try body(name) }
    }
  }
}
