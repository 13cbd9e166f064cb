internal import RestorationLibc

/// Puts another file in the place of one that this process must not write to.
extension FileLock {
  /// Opens the file, and makes it if there is none; nil if it is to be opened again, since it is
  /// another one now.
  ///
  /// - Throws: `ArchiveError` with `locked` if another user has the file locked, or may have.
  static func open(_ path: String) throws(ArchiveError) -> OpenFile? {
    do throws(ArchiveError) {
      return try OpenFile(path, O_RDWR | O_CREAT, mode: 0o600)
    } catch {
      guard [EACCES, EPERM].contains(error.systemError),
        let status = try Directory.status(of: path), status.isRegularFile
      else { throw error }
      guard status.st_uid == geteuid() else {
        try replaceFileOfAnotherUser(at: path, FileIdentity(status), error)
        return nil
      }
      // It was made under a umask that took its bits away.
      guard status.st_mode & 0o600 != 0o600 else { throw error }
      try SystemCall.check { unsafe chmod(path, 0o600) }
      return nil
    }
  }

  /// Puts a copy in the place of a locked file that has another name, too.
  ///
  /// The lock is held until then, so nobody else has replaced the file.
  static func replaceFileWithOtherNames(
    at path: String, _ file: borrowing OpenFile, _ status: stat
  ) throws(ArchiveError) {
    let content = try file.bytes(
      at: 0, count: LockFile.hasRecord(status) ? LockFile.byteCount : 0)
    try replace(path, with: content) { _ throws(ArchiveError) in }
  }

  /// Puts an empty file in the place of one that another user has left behind.
  ///
  /// - Throws: `denial` if this user may not change the directory either.
  private static func replaceFileOfAnotherUser(
    at path: String, _ identity: FileIdentity, _ denial: ArchiveError
  ) throws(ArchiveError) {
    do throws(ArchiveError) {
      #if !canImport(Darwin)
      // No other file gets the number of the old one while the old one is open, if only by its name.
      let old = try OpenFile(path, byName)
      guard FileIdentity(try old.status()) == identity else { return }
      defer { _ = old.descriptor }
      #endif
      try replace(path, with: []) { own throws(ArchiveError) in
        guard let isHeld = try isHeld(identity, besides: own) else {
          throw ArchiveError(
            .locked, subject: "the lock file of another user, \(Directory.name(of: path)),")
        }
        if isHeld { throw ArchiveError(.locked, subject: "a process of another user") }
      }
    } catch {
      // The other user may have removed the file meanwhile.
      if error.systemError != ENOENT { throw error.code == .locked ? error : denial }
    }
  }

  /// Puts a new file in the place of another one, unless a check throws.
  ///
  /// The check is called with the new file, which is locked, before it has its name and after that:
  /// somebody may have locked the other file in that moment, and finds out with the next write that the
  /// lock keeps nobody out.
  private static func replace(
    _ path: String, with content: [UInt8],
    unless check: (borrowing OpenFile) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    let name = Directory.name(of: path)
    let temporary = try TemporaryFile(
      in: Directory(parentOf: path), for: LockFile.archive(lockedBy: name) ?? name)
    do throws(ArchiveError) {
      try temporary.file.write(content, at: 0)
      try check(temporary.file)
      try SystemCall.check { unsafe rename(temporary.path, path) }
    } catch {
      _ = unsafe unlink(temporary.path)
      throw error
    }
    try check(temporary.file)
  }

  // MARK: Locks of files that cannot be opened

  /// Whether anybody has locked a file that cannot be opened here; nil if that cannot be found out.
  ///
  /// The system lists all locks of this machine, also of other users and containers. A file system
  /// that other machines share has locks that are in no list.
  ///
  /// The own file is one of the same directory that is locked here: where the list does not have this
  /// lock, it says nothing of the other file.
  private static func isHeld(
    _ identity: FileIdentity, besides own: borrowing OpenFile
  ) throws(ArchiveError) -> Bool? {
    #if canImport(Darwin)
    return nil
    #else
    let locks = try listedLocks()
    let number = FileIdentity(try own.status()).number
    let devices = Set(locks.filter { $0.number == number }.map(\.device))
    guard !devices.isEmpty, try areLocal(devices) else { return nil }
    return locks.contains { $0.number == identity.number && devices.contains($0.device) }
    #endif
  }

  #if !canImport(Darwin)
  /// The devices and numbers of all locked files; empty if the system does not say.
  private static func listedLocks() throws(ArchiveError) -> [(device: String, number: UInt64)] {
    try lines(of: "/proc/locks").compactMap { line in
      // 6: OFDLCK ADVISORY  WRITE -1 fe:00:16222020 0 EOF
      for field in line.split(separator: " ") {
        let parts = field.split(separator: ":")
        guard parts.count == 3, let major = Int(parts[0], radix: 16),
          let minor = Int(parts[1], radix: 16), let number = UInt64(parts[2])
        else { continue }
        return (device: "\(major):\(minor)", number: number)
      }
      return nil
    }
  }

  /// Whether no other machine can lock files on some devices.
  private static func areLocal(_ devices: Set<String>) throws(ArchiveError) -> Bool {
    // 29 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
    let kinds = try lines(of: "/proc/self/mountinfo").compactMap { line -> Substring? in
      let fields = line.split(separator: " ")
      guard fields.count > 2, devices.contains(String(fields[2])),
        let mark = fields.firstIndex(of: "-"), mark + 1 < fields.count
      else { return nil }
      return fields[mark + 1]
    }
    return !kinds.isEmpty && kinds.allSatisfy { localKinds.contains($0) }
  }

  private static let localKinds: Set<Substring> = [
    "ext2", "ext3", "ext4", "xfs", "btrfs", "tmpfs", "overlay", "f2fs", "zfs", "bcachefs",
  ]

  /// The lines of a file of the system; none if there is no such file.
  private static func lines(of path: String) throws(ArchiveError) -> [Substring] {
    guard let file = try OpenFile.existing(path) else { return [] }
    let text = try file.bytes(at: 0, count: largestList)
    // A part of a list says nothing of what is not in it.
    guard text.count < largestList else { return [] }
    return String(decoding: text, as: UTF8.self).split(separator: "\n")
  }

  /// Opens a file that may be neither read nor written: `O_PATH`, which Swift does not import.
  private static let byName: CInt = 0o10_000_000

  /// More than ten thousand locks.
  private static let largestList = 1 << 20
  #endif
}
