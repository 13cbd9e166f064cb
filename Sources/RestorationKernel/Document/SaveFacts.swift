internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What the app said of itself in a save.
package struct SaveFacts: Hashable, Sendable {
  enum Key: String, CaseIterable {
    case applicationVersion, userInterfaceIdiom, systemVersion, deviceName
  }

  private var words: [Key: String] = [:]

  package init() {}

  init(_ environment: ApplicationEnvironment) {
    words[.applicationVersion] = environment.applicationVersion
    words[.userInterfaceIdiom] = environment.userInterfaceIdiom
    words[.systemVersion] = environment.systemVersion
    words[.deviceName] = environment.deviceName
  }

  init(_ record: KeyedDecoder) throws(ArchiveError) {
    for key in Key.allCases { words[key] = try record.decodeIfPresent(forKey: key.rawValue) }
  }

  func encode(with encoder: KeyedEncoder) {
    for key in Key.allCases { encoder.encode(words[key], forKey: key.rawValue) }
  }

  subscript(key: Key) -> String? { words[key] }

  /// The time of a save, which its commit has; nil if there is none.
  static func time(_ number: UInt32) -> Date? {
    number == 0 ? nil : Date(timeIntervalSinceReferenceDate: TimeInterval(number))
  }

  /// The seconds since 2001 that a commit has for a time; 0 for one before that.
  static func number(of time: Date) -> UInt32 {
    UInt32(exactly: time.timeIntervalSinceReferenceDate.rounded(.down)) ?? 0
  }
}
