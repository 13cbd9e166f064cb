public import RestorationFoundation

/// Why an archive was set aside.
public enum SetAsideReason: String, Hashable, Codable, Sendable, CaseIterable {
  /// The archive could not be read whole, or must not be written by this
  /// version.
  case unreadable

  /// The archive had not been read when another one was to replace it.
  case unread

  /// The archive can be read, but restoring it ended the process too often.
  case crashed

  /// The archive was read, but the app could not decode all of it before another one
  /// was to replace it.
  case undecoded

  /// An archive that had been set aside before was put back in its place.
  case replaced

  /// Another machine had changed the archive as well, and the other change was
  /// to stay.
  case conflict

  /// A newer archive replaced it; this one stands in if the newer one is damaged one
  /// day.
  case previous

  /// An archive that a newer version of the app wrote replaced it.
  case upgraded

  /// Whether the archive was good when it was set aside, so that it can stand
  /// in for a newer one that cannot be read.
  public var isGeneration: Bool { self == .previous || self == .upgraded }
}

/// An archive that was set aside.
public struct SetAsideArchive: Sendable {
  /// A text that no other set-aside archive of the storage has.
  public let identifier: String

  /// Why the archive was set aside; nil if it is not known.
  public let reason: SetAsideReason?

  /// When the archive was set aside.
  public let date: Date

  /// The storage that opens and removes the archive.
  public let storage: any ArchiveStorage

  /// Creates the description of an archive, in a storage of your own.
  ///
  /// - Parameters:
  ///   - identifier: A text that no other set-aside archive of the storage has.
  ///   - reason: Why the archive was set aside; nil if it is not known.
  ///   - date: When the archive was set aside.
  ///   - storage: The storage that opens and removes the archive.
  public init(
    identifier: String, reason: SetAsideReason?, date: Date, storage: any ArchiveStorage
  ) {
    self.identifier = identifier
    self.reason = reason
    self.date = date
    self.storage = storage
  }
}

extension ArchiveStorage {
  /// Sets the archive aside without noting the reason and the date.
  public func setAside(
    _ reason: SetAsideReason, at date: Date
  ) throws(ArchiveError) -> String? {
    try setAside()
  }

  /// None: by default a storage cannot tell.
  public func setAsideArchives() throws(ArchiveError) -> [SetAsideArchive] { [] }

  /// Keeps no generation; for any other reason, sets the old archive aside
  /// first.
  public func replace(
    settingAside reason: SetAsideReason, at date: Date,
    _ body: (any ArchiveSink) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    if !reason.isGeneration { _ = try setAside(reason, at: date) }
    try replace(body)
  }

  /// None: no generation is kept by default.
  public func generations() throws(ArchiveError) -> [SetAsideArchive] { [] }

  /// Copies the archive, and then removes it from where it was set aside.
  public func putBack(_ archive: SetAsideArchive) throws(ArchiveError) {
    let file = try file(of: archive)
    try replace { sink throws(ArchiveError) in try sink.write(0..<file.byteCount, of: file) }
    try archive.storage.remove()
  }

  /// Makes an archive that was set aside the stored one again, and sets the stored one aside.
  ///
  /// Whenever the process ends, one of the two is in its place. The archive is copied; if it cannot be
  /// removed from where it was set aside, it is there, too.
  ///
  /// - Parameters:
  ///   - archive: One of ``setAsideArchives()`` or ``generations()``.
  ///   - reason: The reason for setting the stored archive aside.
  ///   - date: The time, by the clock of the caller.
  ///   - keepingIt: Whether the archive also stays where it is.
  /// - Throws: ``ArchiveError`` as ``replace(settingAside:at:_:)`` does.
  package func putBack(
    _ archive: SetAsideArchive, settingAside reason: SetAsideReason, at date: Date,
    keepingIt: Bool = false
  ) throws(ArchiveError) {
    let file = try file(of: archive)
    try replace(settingAside: reason, at: date) { sink throws(ArchiveError) in
      try sink.write(0..<file.byteCount, of: file)
    }
    guard !keepingIt else { return }
    do throws(ArchiveError) {
      try removeSetAside([archive])
    } catch {
      // It has come back, which is what the caller has asked for.
    }
  }

  private func file(of archive: SetAsideArchive) throws(ArchiveError) -> any ArchiveFile {
    guard let file = try archive.storage.open() else {
      throw ArchiveError(.inputOutput, location: archive.storage.location)
    }
    return file
  }

  /// Does nothing: by default no storage waits for a disk.
  public func synchronize() throws(ArchiveError) {}

  /// Lets each archive be removed by its own storage.
  public func removeSetAside(_ archives: [SetAsideArchive]) throws(ArchiveError) {
    var failure: ArchiveError?
    for archive in archives {
      do throws(ArchiveError) {
        try archive.storage.remove()
      } catch {
        // An archive that is still there says more than one that may come back.
        if failure == nil || failure?.code == .notDurable { failure = error }
      }
    }
    if let failure { throw failure }
  }
}

private let copiedAtOnce = 1 << 16

extension ArchiveSink {
  /// Writes a part of a file in pieces, so that the file need not fit into memory.
  package func write(_ range: Range<Int>, of file: any ArchiveFile) throws(ArchiveError) {
    var offset = range.lowerBound
    while offset < range.upperBound {
      let count = min(copiedAtOnce, range.upperBound - offset)
      try write(try file.read(at: offset, count: count))
      offset += count
    }
  }
}
