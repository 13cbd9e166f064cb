internal import RestorationLibc
package import RestorationFoundation

/// What some archives of a directory contained at one time, although saves go on appending to them.
///
/// A snapshot is a directory with a second name of each file. That name ends with the number of bytes the
/// file had, and only these are read. A snapshot appears with one rename, and goes with one. It takes no
/// space until an archive is replaced, and is no protection against damage, since the bytes are those of the
/// archive itself.
///
/// Two writers must not change the snapshots at one time; anybody may read them.
package struct FileSnapshots: Sendable {
  /// One of the snapshots.
  package struct Snapshot: Hashable, Sendable {
    /// The name of its directory.
    package let identifier: String
    /// When one of its files was written last.
    package let date: Date
    /// The number of bytes of each file, by its name.
    package let byteCounts: [String: Int]

    package var byteCount: Int { byteCounts.values.reduce(0) { $0.addingClamped($1) } }
  }

  private let source: Directory
  private let directory: Directory
  /// Called before each call that changes something; a test ends the process there.
  private let beforeChange: @Sendable () throws(ArchiveError) -> Void

  /// Names the snapshots of a directory.
  ///
  /// - Parameters:
  ///   - path: The directory of the snapshots, which need not exist, on the file system of the files.
  ///   - source: The directory of the files.
  ///   - beforeChange: Called before each call that changes something.
  package init(
    _ path: String, of source: String,
    beforeChange: @escaping @Sendable () throws(ArchiveError) -> Void = {
      () throws(ArchiveError) in
    }
  ) {
    directory = Directory(path)
    self.source = Directory(source)
    self.beforeChange = beforeChange
  }

  /// Where the snapshots are.
  package var location: String { directory.path }

  private func change(_ call: () -> CInt) throws(ArchiveError) {
    try beforeChange()
    try SystemCall.check { call() }
  }

  private func located<Value>(
    _ body: () throws(ArchiveError) -> Value
  ) throws(ArchiveError) -> Value {
    do throws(ArchiveError) { return try body() } catch { throw error.located(at: directory.path) }
  }
}

// MARK: - Keeping

extension FileSnapshots {
  /// Keeps what files contain now, unless the same is kept already.
  ///
  /// - Parameters:
  ///   - names: The names of the files; one that is not there, or is no file, is left out.
  ///   - others: Files that belong to a snapshot, and make no other one of it if they alone have
  ///     changed.
  /// - Returns: Whether there is one more snapshot.
  /// - Throws: ``ArchiveError`` of the system, also if the file system has no links; then no snapshot
  ///   was made.
  @discardableResult
  package func keep(_ names: [String], with others: [String] = []) throws(ArchiveError) -> Bool {
    try located { () throws(ArchiveError) in
      let (files, others) = (try files(named: names), try files(named: others))
      let mark = Self.mark(of: files)
      let known = try identifiers()
      guard !files.isEmpty, !known.contains(where: { $0.hasSuffix(mark) }) else { return false }
      let time = Self.time(of: files + others)
      // The newest one comes last, also if a clock was set back or a file was put back.
      let identifier = "\(known.last.map { max(time, Self.time(after: $0)) } ?? time)-\(mark)"
      try sweep()
      let temporary = Directory(directory.child(Self.temporaryMark + identifier))
      try directory.created { () throws(ArchiveError) in
        try beforeChange()
        try Directory.makeNew(temporary.path)
      }
      do throws(ArchiveError) {
        for (name, status) in files + others {
          let kept = temporary.child("\(name).\(status.st_size)")
          try change { unsafe link(source.child(name), kept) }
        }
        try change { unsafe rename(temporary.path, directory.child(identifier)) }
      } catch {
        // What is left of it goes with the next change, and the first error says more.
        do throws(ArchiveError) { try remove(temporary) } catch {}
        throw error
      }
      return true
    }
  }

  private func files(
    named names: [String]
  ) throws(ArchiveError) -> [(name: String, status: stat)] {
    var files: [(name: String, status: stat)] = []
    for name in names.sorted() {
      guard let status = try Directory.status(of: source.child(name)),
        status.isRegularFile, status.st_size > 0
      else { continue }
      files.append((name, status))
    }
    return files
  }

  /// A text that the same contents have again.
  ///
  /// A file that was changed since has another inode, size or time.
  private static func mark(of files: [(name: String, status: stat)]) -> String {
    let facts = files.map { name, status in
      let time = status.modificationTime
      return "\(name)/\(status.st_ino)/\(status.st_size)/\(time.tv_sec)/\(time.tv_nsec)"
    }
    // The hash of Fowler, Noll and Vo: nobody gains by two contents with one mark.
    let mark = facts.joined(separator: "\n").utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
      ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3
    }
    return padded(mark, 16, radix: 16)
  }

  /// When one of the files was written last, as a text that has the order of times.
  private static func time(of files: [(name: String, status: stat)]) -> String {
    let last = files.map { file in
      let time = file.status.modificationTime
      return (UInt64(clamping: time.tv_sec), UInt64(clamping: time.tv_nsec))
    }.max(by: <)
    return "\(padded(last?.0 ?? 0, 12))-\(padded(last?.1 ?? 0, 9))"
  }

  /// The text of a time a nanosecond after that of a snapshot.
  private static func time(after identifier: String) -> String {
    let parts = identifier.split(separator: "-")
    guard parts.count == 3, let seconds = UInt64(parts[0]), let part = UInt64(parts[1]) else {
      return ""
    }
    // After the last time that such a text can have there is none: one that is planted stays the last one.
    let isLast = part == 999_999_999
    return
      "\(padded(min(seconds + (isLast ? 1 : 0), 999_999_999_999), 12))-\(padded(isLast ? 0 : part + 1, 9))"
  }

  private static func padded(_ number: UInt64, _ length: Int, radix: Int = 10) -> String {
    let digits = String(number, radix: radix)
    return String(repeating: "0", count: max(0, length - digits.count)) + digits
  }

  /// Nil for the name of any other file.
  private static func date(in identifier: String) -> Date? {
    let parts = identifier.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].count == 12, parts[1].count == 9, parts[2].count == 16,
      let seconds = UInt64(parts[0]), let part = UInt64(parts[1]),
      UInt64(parts[2], radix: 16) != nil
    else { return nil }
    return Date(timeIntervalSince1970: TimeInterval(seconds) + TimeInterval(part) / 1e9)
  }

  /// Begins the names of snapshots that are being made or removed.
  private static let temporaryMark = "."

  private static func isTemporary(_ name: String) -> Bool {
    name.hasPrefix(temporaryMark) && date(in: String(name.dropFirst())) != nil
  }
}

// MARK: - Reading

extension FileSnapshots {
  /// All snapshots, the oldest first; none if there is no such directory.
  ///
  /// - Throws: ``ArchiveError`` of the system.
  /// - Complexity: O(*n*) in the files of all snapshots.
  package func all() throws(ArchiveError) -> [Snapshot] {
    try located { () throws(ArchiveError) in
      var found: [Snapshot] = []
      for identifier in try identifiers() {
        if let snapshot = try snapshot(identifier) { found.append(snapshot) }
      }
      return found
    }
  }

  private func identifiers() throws(ArchiveError) -> [String] {
    var found: [String] = []
    guard try Self.isDirectory(directory.path) else { return [] }
    try directory.forEachName(beginningWith: "") { name in
      if Self.date(in: name) != nil { found.append(name) }
    }
    return found.sorted()
  }

  /// The file with a second name, and how many of its bytes count; nil for any other name.
  private static func file(named name: String) -> (name: String, byteCount: Int)? {
    guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex,
      let count = Int(name[name.utf8.index(after: dot)...]), count > 0
    else { return nil }
    return (String(name[..<dot]), count)
  }

  /// The snapshot with an identifier; nil if there is none.
  ///
  /// - Throws: ``ArchiveError`` of the system.
  package func snapshot(_ identifier: String) throws(ArchiveError) -> Snapshot? {
    // The identifier is a part of a path, and comes from outside.
    guard let date = Self.date(in: identifier) else { return nil }
    let path = directory.child(identifier)
    return try located { () throws(ArchiveError) in
      guard try Self.isDirectory(path) else { return nil }
      var byteCounts: [String: Int] = [:]
      try Directory(path).forEachName(beginningWith: "") { file in
        if let (name, count) = Self.file(named: file) { byteCounts[name] = count }
      }
      return Snapshot(identifier: identifier, date: date, byteCounts: byteCounts)
    }
  }

  /// The archive in a file of a snapshot, which can only be read; nil if the snapshot has no such file.
  package func storage(of name: String, in snapshot: Snapshot) -> (any ArchiveStorage)? {
    snapshot.byteCounts[name].map { byteCount in
      SnapshotStorage(
        file: FileStorage(
          path: Directory(directory.child(snapshot.identifier)).child("\(name).\(byteCount)")),
        byteCount: byteCount)
    }
  }
}

// MARK: - Removing

extension FileSnapshots {
  /// Removes snapshots; one that is not there is not an error.
  ///
  /// - Throws: The first ``ArchiveError`` of the system, when all were tried. A snapshot is whole, or is not among
  ///   ``all()`` any more and its rest goes with the next change.
  package func remove(_ snapshots: [Snapshot]) throws(ArchiveError) {
    try located { () throws(ArchiveError) in
      try sweep()
      var failure: ArchiveError?
      for snapshot in snapshots {
        do throws(ArchiveError) {
          guard try self.snapshot(snapshot.identifier) != nil else { continue }
          let kept = Directory(directory.child(snapshot.identifier))
          let temporary = Directory(directory.child(Self.temporaryMark + snapshot.identifier))
          try change { unsafe rename(kept.path, temporary.path) }
          try remove(temporary)
        } catch {
          failure = failure ?? error
        }
      }
      if let failure { throw failure }
    }
  }

  /// Removes all snapshots, and their directory if nothing else is in it.
  ///
  /// - Throws: As ``remove(_:)``.
  package func removeAll() throws(ArchiveError) {
    guard try located({ () throws(ArchiveError) in try Self.isDirectory(directory.path) }) else {
      return
    }
    try remove(try all())
    try located { () throws(ArchiveError) in try removeEmpty(directory) }
  }

  /// Removes what ended processes have left half made or half removed.
  private func sweep() throws(ArchiveError) {
    guard try Self.isDirectory(directory.path) else { return }
    var left: [String] = []
    try directory.forEachName(beginningWith: Self.temporaryMark) { name in
      if Self.isTemporary(name) { left.append(name) }
    }
    for name in left { try remove(Directory(directory.child(name))) }
  }

  /// Removes a directory with the names in it that are those of a snapshot; anything else stays.
  private func remove(_ temporary: Directory) throws(ArchiveError) {
    // A link would lead to the files of somebody else.
    guard try Self.isDirectory(temporary.path) else { return }
    var names: [String] = []
    try temporary.forEachName(beginningWith: "") { name in
      if Self.file(named: name) != nil { names.append(name) }
    }
    for name in names where try Directory.status(of: temporary.child(name))?.isFolder == false {
      try change { unsafe unlink(temporary.child(name)) }
    }
    try removeEmpty(temporary)
  }

  /// Removes a directory unless something is in it.
  private func removeEmpty(_ directory: Directory) throws(ArchiveError) {
    do throws(ArchiveError) {
      try change { unsafe rmdir(directory.path) }
    } catch {
      guard error.systemError == ENOTEMPTY || error.systemError == EEXIST else { throw error }
    }
  }

  private static func isDirectory(_ path: String) throws(ArchiveError) -> Bool {
    try Directory.status(of: path)?.isFolder == true
  }
}

extension Int {
  fileprivate func addingClamped(_ other: Int) -> Int {
    let (sum, isOver) = addingReportingOverflow(other)
    return isOver ? .max : sum
  }
}

/// The first bytes of a file, as an archive that cannot be changed.
private struct SnapshotStorage: ArchiveStorage {
  let file: FileStorage
  let byteCount: Int

  var location: String { file.path }

  func open() throws(ArchiveError) -> (any ArchiveFile)? {
    guard let whole = try file.open() else { return nil }
    return Part(whole: whole, byteCount: Swift.min(byteCount, whole.byteCount))
  }

  private struct Part: ArchiveFile {
    let whole: any ArchiveFile
    let byteCount: Int

    func read(at offset: Int, count: Int) throws(ArchiveError) -> [UInt8] {
      guard offset >= 0, count >= 0, offset <= byteCount, count <= byteCount - offset else {
        throw ArchiveError(.truncated, offset: byteCount)
      }
      return try whole.read(at: offset, count: count)
    }
  }

  private var isReadOnly: ArchiveError { ArchiveError(.permissionDenied, location: location) }

  func replace(
    _ body: (any ArchiveSink) throws(ArchiveError) -> Void
  ) throws(ArchiveError) { throw isReadOnly }

  func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)? { throw isReadOnly }

  func lock() throws(ArchiveError) -> any ArchiveLock { throw isReadOnly }

  func isLocked() throws(ArchiveError) -> Bool { false }

  func remove() throws(ArchiveError) { throw isReadOnly }

  func setAside() throws(ArchiveError) -> String? { throw isReadOnly }
}
