package import RestorationLibc

/// An open file descriptor that closes itself, with the few calls needed here.
package struct OpenFile: ~Copyable, Sendable {
  package let descriptor: CInt

  deinit {
    _ = close(descriptor)
  }

  /// Opens a path; never waits for the other end of a FIFO, and follows a link in the last component
  /// only if that is wanted.
  package init(
    _ path: String, _ flags: CInt, mode: mode_t = 0, following: Bool = false
  ) throws(ArchiveError) {
    let flags = flags | O_CLOEXEC | O_NONBLOCK | (following ? 0 : O_NOFOLLOW)
    descriptor = try SystemCall.moveAboveStandard(
      try SystemCall.check { unsafe open(path, flags, mode) })
  }

  /// Opens a regular file, nil if there is none; the body gets its status.
  package static func existing(
    _ path: String, _ access: CInt = O_RDONLY,
    checking check: (stat) throws(ArchiveError) -> Void = { _ in }
  ) throws(ArchiveError) -> OpenFile? {
    let file: OpenFile
    do {
      file = try OpenFile(path, access)
    } catch  where error.systemError == ENOENT {
      return nil
    }
    let status = try file.status()
    guard status.isRegularFile else { throw ArchiveError(.notAFile) }
    try check(status)
    return file
  }

  package func status() throws(ArchiveError) -> stat {
    var status = stat()
    try SystemCall.check { unsafe fstat(descriptor, &status) }
    return status
  }

  /// Gives a file of this user the mode 0600: the umask may have taken bits away when it was made.
  func openToOwnerAlone(_ status: stat) throws(ArchiveError) {
    guard status.st_mode & 0o777 != 0o600, status.st_uid == geteuid() else { return }
    try SystemCall.check { fchmod(descriptor, 0o600) }
  }

  package func write(_ bytes: [UInt8], at offset: Int) throws(ArchiveError) {
    try unsafe bytes.withUnsafeBufferPointer { (bytes) throws(ArchiveError) in
      try unsafe Self.write(UnsafeRawBufferPointer(bytes), at: offset, of: descriptor)
    }
  }

  /// Writes all of the bytes.
  static func write(
    _ bytes: UnsafeRawBufferPointer, at offset: Int, of descriptor: CInt
  ) throws(ArchiveError) {
    try SystemCall.withoutFileSizeSignal { () throws(ArchiveError) in
      var written = 0
      while written < bytes.count {
        let count = try SystemCall.check {
          let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
          return unsafe pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset + written))
        }
        guard count > 0 else { throw ArchiveError(.inputOutput, subject: "nothing was written") }
        written += count
      }
    }
  }

  /// Reads bytes from an offset, fewer at the end.
  func bytes(at offset: Int, count: Int) throws(ArchiveError) -> [UInt8] {
    try unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, read throws(ArchiveError) in
      try unsafe read = self.read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
    }
  }

  /// Fills the buffer from an offset; returns the number of bytes, which is smaller at the end.
  package func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws(ArchiveError) -> Int {
    var position = 0
    while position < buffer.count {
      let count = try SystemCall.check {
        let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[position...])
        return unsafe pread(descriptor, rest.baseAddress, rest.count, off_t(offset + position))
      }
      guard count > 0 else { break }
      position += count
    }
    return position
  }

  /// Puts the written bytes on stable storage, and of the file's status only the size.
  package func synchronizeData() throws(ArchiveError) {
    #if canImport(Darwin)
    try synchronize()
    #else
    try SystemCall.check { fdatasync(descriptor) }
    #endif
  }

  /// Puts the written bytes and the file's status on stable storage.
  package func synchronize() throws(ArchiveError) {
    #if canImport(Darwin)
    // On Darwin `fsync` leaves the data in the drive's cache.
    if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
    #endif
    try SystemCall.check { fsync(descriptor) }
  }
}

extension stat {
  package var isRegularFile: Bool { st_mode & S_IFMT == S_IFREG }

  /// When the content of the file was changed last.
  package var modificationTime: timespec {
    #if canImport(Darwin)
    st_mtimespec
    #else
    st_mtim
    #endif
  }

  /// When the content, a name, the owner or the mode of the file was changed last.
  package var changeTime: timespec {
    #if canImport(Darwin)
    st_ctimespec
    #else
    st_ctim
    #endif
  }
}
