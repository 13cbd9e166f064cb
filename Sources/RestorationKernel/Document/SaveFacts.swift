internal import ArchiveCodec
#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// What the app said of itself in a save.
package struct SaveFacts: Hashable, Sendable {
  package var applicationVersion: String?
  package var userInterfaceIdiom: String?
  package var systemVersion: String?
  package var deviceName: String?
  /// The time of the save.
  package var timestamp: Date?

  enum Key {
    static let applicationVersion = "RestorationKit.applicationVersion"
    static let userInterfaceIdiom = "RestorationKit.userInterfaceIdiom"
    static let systemVersion = "RestorationKit.systemVersion"
    static let deviceName = "RestorationKit.deviceName"
    static let timestamp = "RestorationKit.timestamp"
  }

  package init() {}

  init(_ environment: ApplicationEnvironment) {
    applicationVersion = environment.applicationVersion
    userInterfaceIdiom = environment.userInterfaceIdiom
    systemVersion = environment.systemVersion
    deviceName = environment.deviceName
  }

  /// The facts without the time, which the commit of a save has.
  var withoutTime: SaveFacts {
    var facts = self
    facts.timestamp = nil
    return facts
  }

  /// Reads the facts; the time is that of the last commit.
  init(_ record: KeyedDecoder, savedAt number: UInt32) throws(ArchiveError) {
    applicationVersion = try record.decodeIfPresent(forKey: Key.applicationVersion)
    userInterfaceIdiom = try record.decodeIfPresent(forKey: Key.userInterfaceIdiom)
    systemVersion = try record.decodeIfPresent(forKey: Key.systemVersion)
    deviceName = try record.decodeIfPresent(forKey: Key.deviceName)
    timestamp =
      number == 0 ? nil : Date(timeIntervalSinceReferenceDate: TimeInterval(number))
  }

  func encode(with encoder: KeyedEncoder) {
    encoder.encode(applicationVersion, forKey: Key.applicationVersion)
    encoder.encode(userInterfaceIdiom, forKey: Key.userInterfaceIdiom)
    encoder.encode(systemVersion, forKey: Key.systemVersion)
    encoder.encode(deviceName, forKey: Key.deviceName)
  }

  /// The seconds since 2001 that a commit has for a time; 0 for one before that.
  static func number(of time: Date) -> UInt32 {
    UInt32(exactly: time.timeIntervalSinceReferenceDate.rounded(.down)) ?? 0
  }
}
