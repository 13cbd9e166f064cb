package import RestorationFoundation
internal import ArchiveCodec

/// The facts of the ``ApplicationEnvironment`` and the time of the save, read once for
/// all coders of a restore.
package final class SaveFacts: Sendable {
  /// The keys of the facts, apart from all keys of the app.
  enum Key {
    static let applicationVersion = "RestorationKit.applicationVersion"
    static let userInterfaceIdiom = "RestorationKit.userInterfaceIdiom"
    static let systemVersion = "RestorationKit.systemVersion"
    static let timestamp = "RestorationKit.timestamp"
    static let deviceName = "RestorationKit.deviceName"
  }

  package let applicationVersion: String?
  package let userInterfaceIdiom: String?
  package let systemVersion: String?
  package let timestamp: Date?
  let deviceName: String?

  /// Reads the facts of a save, and the time of the last commit.
  init(_ values: KeyedDecoder, of archive: Archive) throws(ArchiveError) {
    applicationVersion = try values.decodeIfPresent(forKey: Key.applicationVersion)
    userInterfaceIdiom = try values.decodeIfPresent(forKey: Key.userInterfaceIdiom)
    systemVersion = try values.decodeIfPresent(forKey: Key.systemVersion)
    deviceName = try values.decodeIfPresent(forKey: Key.deviceName)
    let whole: Date? = try values.decodeIfPresent(forKey: Key.timestamp)
    let isLast = archive.schema == 0 || whole.map(Self.number) == archive.schema
    timestamp =
      isLast
      ? whole?.ifNumber : Date(timeIntervalSinceReferenceDate: TimeInterval(archive.schema))
  }

  /// The time of a save as a number in its commit: the whole seconds since 2001, or 0
  /// if the time is not from 2001 to 2137.
  ///
  /// So a change need not write the record of the application for the sake of the time.
  static func number(of time: Date) -> UInt32 {
    UInt32(exactly: time.timeIntervalSinceReferenceDate.rounded(.down)) ?? 0
  }
}

extension ApplicationEnvironment {
  func encode(with encoder: KeyedEncoder, timestamp: Date) {
    encoder.encode(applicationVersion, forKey: SaveFacts.Key.applicationVersion)
    encoder.encode(userInterfaceIdiom, forKey: SaveFacts.Key.userInterfaceIdiom)
    encoder.encode(systemVersion, forKey: SaveFacts.Key.systemVersion)
    encoder.encode(timestamp, forKey: SaveFacts.Key.timestamp)
    if let deviceName { encoder.encode(deviceName, forKey: SaveFacts.Key.deviceName) }
  }
}
