#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
internal import ArchiveCodec

/// What ``ApplicationEnvironment`` and the clock of the save say, read once for
/// all coders of a restore.
final class SaveFacts: Sendable {
  /// What they are stored under, apart from all keys of the app.
  enum Key {
    static let applicationVersion = "RestorationKit.applicationVersion"
    static let userInterfaceIdiom = "RestorationKit.userInterfaceIdiom"
    static let systemVersion = "RestorationKit.systemVersion"
    static let timestamp = "RestorationKit.timestamp"
    static let deviceName = "RestorationKit.deviceName"
  }

  let applicationVersion: String?
  let userInterfaceIdiom: String?
  let systemVersion: String?
  let timestamp: Date?
  let deviceName: String?

  /// Reads the facts of a save, and when the last change of what it stored was saved.
  init(_ values: KeyedDecoder, of archive: Archive) throws(ArchiveError) {
    applicationVersion = try values.decodeIfPresent(forKey: Key.applicationVersion)
    userInterfaceIdiom = try values.decodeIfPresent(forKey: Key.userInterfaceIdiom)
    systemVersion = try values.decodeIfPresent(forKey: Key.systemVersion)
    deviceName = try values.decodeIfPresent(forKey: Key.deviceName)
    let whole: Date? = try values.decodeIfPresent(forKey: Key.timestamp)
    let isLast = archive.schema == 0 || whole.map(Self.number) == archive.schema
    timestamp =
      isLast ? whole : Date(timeIntervalSinceReferenceDate: TimeInterval(archive.schema))
  }

  /// The number by which the commit of a save says when that was: the whole seconds
  /// since 2001, or 0 if these are not from 2001 to 2137.
  ///
  /// So a change need not write the record of the application for the sake of the time.
  static func number(of time: Date) -> UInt32 {
    UInt32(exactly: time.timeIntervalSinceReferenceDate.rounded(.down)) ?? 0
  }
}
