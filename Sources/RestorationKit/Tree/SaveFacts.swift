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
  }

  let applicationVersion: String?
  let userInterfaceIdiom: String?
  let systemVersion: String?
  let timestamp: Date?

  init(_ values: KeyedDecoder) throws(ArchiveError) {
    applicationVersion = try values.decodeIfPresent(forKey: Key.applicationVersion)
    userInterfaceIdiom = try values.decodeIfPresent(forKey: Key.userInterfaceIdiom)
    systemVersion = try values.decodeIfPresent(forKey: Key.systemVersion)
    timestamp = try values.decodeIfPresent(forKey: Key.timestamp)
  }
}
