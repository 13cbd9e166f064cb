#if canImport(Glibc)
package import Glibc
#elseif canImport(Musl)
package import Musl
#elseif canImport(Darwin)
package import Darwin
#endif

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
      path.lastIndex(of: "/").map { String(path[...$0]) } ?? ".", synchronize: synchronize)
  }

  package static func name(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
  }

  package func child(_ name: String) -> String {
    path.hasSuffix("/") ? path + name : "\(path)/\(name)"
  }

  /// Makes the directory and its parents, open to the owner alone.
  ///
  /// What exists is left as it is; what is new is put on stable storage.
  package func create() throws(ArchiveError) {
    var made = path.hasPrefix("/") ? "/" : ""
    for component in path.split(separator: "/") {
      made = made.isEmpty ? String(component) : Directory(made).child(String(component))
      do {
        try SystemCall.check { unsafe mkdir(made, 0o700) }
      } catch {
        guard try Self.status(of: made, following: true) != nil else { throw error }
        continue
      }
      do {
        try Directory(made).parent.open().synchronize()
      } catch {
        // Nothing is written yet that could be said to be there.
        throw ArchiveError(.inputOutput, systemError: error.systemError)
      }
    }
  }

  private var parent: Directory { Directory(child("..")) }

  /// An open directory, whose entries can be put on stable storage.
  package struct Handle: ~Copyable {
    private let file: OpenFile
    private let call: Directory.Synchronize

    fileprivate init(_ file: consuming OpenFile, _ call: @escaping Directory.Synchronize) {
      self.file = file
      self.call = call
    }

    /// Puts new, renamed and removed entries on stable storage.
    ///
    /// Some file systems have no such call for directories; there it does
    /// nothing, and the entries are as durable as the system makes them.
    ///
    /// - Throws: ``ArchiveError`` with `notDurable`: the entries are changed,
    ///   but a power cut may undo it.
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

  /// Opens the directory, before anything in it changes: what fails here has
  /// changed nothing.
  package func open() throws(ArchiveError) -> Handle {
    // With the dot, a link to a directory is as good as the directory.
    Handle(try OpenFile(child("."), O_RDONLY | O_DIRECTORY), synchronize)
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
  /// gives it its name.
  ///
  /// If anything fails before the last step, no trace is left. The error is
  /// `notDurable` if only what comes after it failed.
  ///
  /// - Parameters:
  ///   - name: The final name.
  ///   - durably: Whether to wait until it is on stable storage.
  ///   - write: Writes the content.
  ///   - publish: Gives the file at the first path the second path.
  /// - Throws: What `write` throws, and what the system calls report.
  package func place(
    _ name: String, durably: Bool = true,
    _ write: (borrowing OpenFile) throws(ArchiveError) -> Void,
    publish: (_ temporary: String, _ final: String) -> CInt
  ) throws(ArchiveError) {
    try sweepTemporaries(of: name)
    let handle = durably ? try open() : nil
    let temporary = child(
      Self.temporaryPrefix(name) + String(UInt64.random(in: .min ... .max), radix: 36)
        + Self.temporarySuffix)
    do {
      let file = try OpenFile(temporary, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
      // Whatever the umask has taken away.
      try SystemCall.check { fchmod(file.descriptor, 0o600) }
      try write(file)
      if durably { try file.synchronize() }
      try SystemCall.check { publish(temporary, child(name)) }
    } catch {
      _ = unsafe unlink(temporary)
      throw error
    }
    try handle?.synchronize()
  }

  private static let temporarySuffix = ".tmp"

  private static func temporaryPrefix(_ name: String) -> String { ".\(name)." }

  /// Removes what writers that were killed left behind.
  ///
  /// Only files of this user that are older than any write can take, since
  /// another process may be writing now; and with an inode, only second names
  /// of that file, of any age.
  func sweepTemporaries(of name: String, linkedTo inode: ino_t? = nil) throws(ArchiveError) {
    guard let stream = unsafe opendir(path) else { throw ArchiveError(systemError: errno) }
    defer { unsafe closedir(stream) }
    while let entry = unsafe readdir(stream) {
      let candidate = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe pointer.withMemoryRebound(
          to: CChar.self, capacity: MemoryLayout.size(ofValue: entry.pointee.d_name)
        ) { unsafe String(cString: $0) }
      }
      guard Self.isTemporary(candidate, of: name),
        let status = try Self.status(of: child(candidate)), status.st_uid == geteuid(),
        inode.map({ $0 == status.st_ino })
          ?? (status.modificationTime < time(nil) - Self.longestWrite)
      else { continue }
      _ = unsafe unlink(child(candidate))
    }
  }

  private static func isTemporary(_ candidate: String, of name: String) -> Bool {
    guard candidate.hasPrefix(temporaryPrefix(name)), candidate.hasSuffix(temporarySuffix) else {
      return false
    }
    let number = candidate.dropFirst(temporaryPrefix(name).count).dropLast(temporarySuffix.count)
    return UInt64(number, radix: 36) != nil
  }

  /// In seconds.
  private static let longestWrite = 600
}

extension stat {
  fileprivate var modificationTime: time_t {
    #if canImport(Darwin)
    st_mtimespec.tv_sec
    #else
    st_mtim.tv_sec
    #endif
  }
}
