#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
internal import ArchiveCodec

/// What ``ApplicationEnvironment`` and the clock of the save say, read once for
/// all coders of a restore.
final class SaveFacts: Sendable {
  let values: KeyedDecoder
  let applicationVersion: String?
  let userInterfaceIdiom: String?
  let systemVersion: String?
  let timestamp: Date?

  init(_ values: KeyedDecoder) throws(ArchiveError) {
    self.values = values
    applicationVersion = try values.decodeIfPresent(forKey: ReservedKey.applicationVersion)
    userInterfaceIdiom = try values.decodeIfPresent(forKey: ReservedKey.userInterfaceIdiom)
    systemVersion = try values.decodeIfPresent(forKey: ReservedKey.systemVersion)
    timestamp = try values.decodeIfPresent(forKey: ReservedKey.timestamp)
  }
}
