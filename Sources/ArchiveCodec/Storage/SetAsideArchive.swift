#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Why an archive was set aside.
public enum SetAsideReason: String, Hashable, Codable, Sendable, CaseIterable {
  /// It could not be read whole, or must not be written by this version.
  case unreadable

  /// It had not been read when another one was to take its place.
  case unread

  /// It can be read, but restoring it ended the process too often.
  case crashed

  /// One that had been set aside before was put back in its place.
  case replaced

  /// A newer one took its place, and might be damaged one day.
  case previous

  /// One that a newer version of the app wrote took its place.
  case upgraded

  /// Whether it was good when it was set aside, so that it stands in for a newer one
  /// that cannot be read.
  public var isGeneration: Bool { self == .previous || self == .upgraded }
}

/// An archive that was set aside.
public struct SetAsideArchive: Sendable {
  /// Tells it from others of its storage.
  public let identifier: String

  /// Why it was set aside; nil for one of a version that did not say.
  public let reason: SetAsideReason?

  /// When it was set aside.
  public let date: Date

  /// Opens and removes it.
  public let storage: any ArchiveStorage

  /// Creates the description of an archive, in a storage of your own.
  ///
  /// - Parameters:
  ///   - identifier: Tells it from others of its storage.
  ///   - reason: Why it was set aside, if that is known.
  ///   - date: When it was set aside.
  ///   - storage: Opens and removes it.
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
  /// Sets it aside without a reason and a date.
  public func setAside(
    _ reason: SetAsideReason, at date: Date
  ) throws(ArchiveError) -> String? {
    try setAside()
  }

  /// Cannot tell.
  public func setAsideArchives() throws(ArchiveError) -> [SetAsideArchive] { [] }

  /// Keeps no generation, and sets anything else aside first.
  public func replace(
    settingAside reason: SetAsideReason, at date: Date,
    _ body: (any ArchiveSink) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    if !reason.isGeneration { _ = try setAside(reason, at: date) }
    try replace(body)
  }

  /// Keeps none.
  public func generations() throws(ArchiveError) -> [SetAsideArchive] { [] }

  /// Copies it, and then removes it.
  public func putBack(_ archive: SetAsideArchive) throws(ArchiveError) {
    guard let file = try archive.storage.open() else {
      throw ArchiveError(.inputOutput, location: archive.storage.location)
    }
    try replace { sink throws(ArchiveError) in
      var offset = 0
      while offset < file.byteCount {
        let count = min(copiedAtOnce, file.byteCount - offset)
        try sink.write(try file.read(at: offset, count: count))
        offset += count
      }
    }
    try archive.storage.remove()
  }
}

private let copiedAtOnce = 1 << 16
