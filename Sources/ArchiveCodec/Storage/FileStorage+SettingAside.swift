internal import RestorationLibc
public import RestorationFoundation

extension FileStorage {
  /// Renames the file to a free name beside it, with the reason `unreadable`.
  public func setAside() throws(ArchiveError) -> String? {
    try setAside(.unreadable, at: Date())
  }

  /// Renames the file to `NAME.REASON-SECONDS-NUMBER` beside it.
  ///
  /// The seconds are counted from 1970. The name has them because a file itself says
  /// only when it was written. The number begins with the fraction of the second and
  /// goes on at random, so that the name is free without a check.
  public func setAside(_ reason: SetAsideReason, at date: Date) throws(ArchiveError) -> String? {
    try located { () throws(ArchiveError) in
      guard try isStored() else { return nil }
      // Moved with one rename, since another process may put a good file there at any moment.
      let kept = "\(path).\(SetAsideName(reason, at: date))"
      // Not synced: after a power cut the file is under one of its names, and the
      // writer of the next file syncs the directory.
      try SystemCall.check { unsafe rename(path, kept) }
      return kept
    }
  }

  /// Writes a new file as ``replace(_:)`` does, and keeps the old one under the name
  /// that ``setAside(_:at:)`` would give it.
  ///
  /// On a file system without hard links the old file is moved, so for a moment only
  /// the other name exists. If the old file cannot be kept, a generation is replaced
  /// all the same; for any other reason nothing is replaced.
  public func replace(
    settingAside reason: SetAsideReason, at date: Date,
    _ body: (any ArchiveSink) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    let kept = "\(path).\(SetAsideName(reason, at: date))"
    try replace(body) { temporary, final in
      let keeping = keep(final, as: kept)
      if keeping == .failed, !reason.isGeneration { return -1 }
      let result = unsafe rename(temporary, final)
      guard result != 0 else { return result }
      let failure = errno
      switch keeping {
      case .linked: _ = unsafe unlink(kept)
      case .moved: _ = unsafe rename(kept, final)
      case .nothing, .failed: break
      }
      errno = failure
      return result
    }
  }

  private enum Keeping {
    case nothing, linked, moved, failed
  }

  /// Gives a file a second name, or, where that is not possible, only the new one.
  private func keep(_ path: String, as kept: String) -> Keeping {
    // EEXIST: an interrupted call had made the link already.
    if linking(path, kept) == 0 || errno == EEXIST { return .linked }
    if errno == ENOENT { return .nothing }
    return unsafe rename(path, kept) == 0 ? .moved : .failed
  }

  /// The files beside this one that were set aside, the oldest first.
  ///
  /// - Complexity: O(*n*) in the names in the directory, which are listed.
  public func setAsideArchives() throws(ArchiveError) -> [SetAsideArchive] {
    try archives { !$0.isGeneration }
  }

  /// The older generations beside this file, the oldest first.
  ///
  /// - Complexity: As ``setAsideArchives()``.
  public func generations() throws(ArchiveError) -> [SetAsideArchive] {
    try archives(where: \.isGeneration)
  }

  private func archives(
    where isIncluded: (SetAsideReason) -> Bool
  ) throws(ArchiveError) -> [SetAsideArchive] {
    try located { () throws(ArchiveError) in
      var found: [SetAsideArchive] = []
      let prefix = "\(name)."
      try directory.forEachName(beginningWith: prefix) { candidate throws(ArchiveError) in
        let identifier = String(candidate.dropFirst(prefix.count))
        guard let name = SetAsideName(identifier), isIncluded(name.reason) else { return }
        // Removing a generation does not wait for the disk: the next sync of the
        // state's directory covers it.
        let kept = FileStorage(
          path: "\(path).\(identifier)", isDurable: isDurable && !name.reason.isGeneration)
        guard try Directory.status(of: kept.path)?.isRegularFile == true else { return }
        found.append(
          SetAsideArchive(
            identifier: identifier, reason: name.reason, date: name.date, storage: kept))
      }
      return found.sorted { ($0.date, $0.identifier) < ($1.date, $1.identifier) }
    }
  }

  /// Renames the file that was set aside, so that at any moment either that file or the
  /// earlier one is in place.
  public func putBack(_ archive: SetAsideArchive) throws(ArchiveError) {
    try located { () throws(ArchiveError) in
      _ = try isStored()
      // The identifier is a part of a path, and comes from outside.
      guard SetAsideName(archive.identifier) != nil else { throw ArchiveError(.notAFile) }
      let handle = isDurable ? try directory.open() : nil
      try SystemCall.check { unsafe rename("\(path).\(archive.identifier)", path) }
      try handle?.synchronize()
    }
  }

  /// Removes the files, and the temporary files that killed writers have left beside them.
  ///
  /// For any number of files, the directory is listed once, and the disk is waited for once.
  ///
  /// - Complexity: O(*n*) in the archives and in the names in the directory.
  public func removeSetAside(_ archives: [SetAsideArchive]) throws(ArchiveError) {
    guard !archives.isEmpty else { return }
    try located { () throws(ArchiveError) in
      // The identifiers are parts of paths, and come from outside.
      guard archives.allSatisfy({ SetAsideName($0.identifier) != nil }) else {
        throw ArchiveError(.notAFile)
      }
      let names = Set(archives.map { "\(name).\($0.identifier)" })
      try directory.sweepTemporaries { names.contains($0) }
      guard try directory.isThere() else { return }
      let isDurable = isDurable && archives.contains { $0.reason?.isGeneration != true }
      let handle = isDurable ? try directory.open() : nil
      var failure: ArchiveError?
      for archive in archives {
        do throws(ArchiveError) {
          try unlinkFile(at: "\(path).\(archive.identifier)")
        } catch {
          failure = failure ?? error
        }
      }
      if let failure { throw failure }
      try handle?.synchronize()
    }
  }

  private func unlinkFile(at path: String) throws(ArchiveError) {
    do throws(ArchiveError) {
      guard let status = try Directory.status(of: path) else { return }
      guard status.isRegularFile else { throw ArchiveError(.notAFile) }
      try SystemCall.check { unsafe unlink(path) }
    } catch {
      throw error.located(at: path)
    }
  }
}

/// The part of a file's name that setting aside adds.
private struct SetAsideName: CustomStringConvertible {
  let description: String
  let reason: SetAsideReason
  let date: Date

  init(_ reason: SetAsideReason, at date: Date) {
    // An app may give any date.
    let time = date.timeIntervalSince1970
    let seconds = max(0, Int64(exactly: time.rounded(.down)) ?? 0)
    let part = UInt64(UInt32(exactly: ((time - time.rounded(.down)) * 1e9).rounded(.down)) ?? 0)
    let number = String(part << 32 | UInt64(UInt32.random(in: .min ... .max)), radix: 36)
    let zeros = String(repeating: "0", count: Self.numberLength - number.count)
    description = "\(reason.rawValue)-\(seconds)-\(zeros)\(number)"
    self.reason = reason
    self.date = date
  }

  /// The length of the greatest number, so that texts have the order of their numbers.
  private static let numberLength = String(UInt64.max, radix: 36).count

  /// Nil for any other text: a file that is found by its name may be removed.
  init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, let reason = SetAsideReason(rawValue: String(parts[0])),
      let seconds = Int64(parts[1]), let number = UInt64(parts[2], radix: 36)
    else { return nil }
    self.reason = reason
    date = Date(timeIntervalSince1970: TimeInterval(seconds) + TimeInterval(number >> 32) / 1e9)
    description = text
  }
}
