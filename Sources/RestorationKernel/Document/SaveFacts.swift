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

  /// One for each key, in their order: each save compares them.
  var words: [String?]
  /// When what was read was saved last.
  var savedAt: Date?

  package init() { words = Key.allCases.map { _ in nil } }

  init(_ environment: ApplicationEnvironment) {
    words = [
      environment.applicationVersion, environment.userInterfaceIdiom, environment.systemVersion,
      environment.deviceName,
    ]
  }

  init(_ record: KeyedDecoder) throws(ArchiveError) {
    words = []
    for key in Key.allCases { words.append(try record.decodeIfPresent(forKey: key.rawValue)) }
  }

  func encode(with encoder: KeyedEncoder) {
    for (key, word) in zip(Key.allCases, words) { encoder.encode(word, forKey: key.rawValue) }
  }

  subscript(key: Key) -> String? { Key.allCases.firstIndex(of: key).flatMap { words[$0] } }

  /// The time of a save, which its commit has; nil if there is none.
  static func time(_ number: UInt32) -> Date? {
    number == 0 ? nil : Date(timeIntervalSinceReferenceDate: TimeInterval(number))
  }

  /// The seconds since 2001 that a commit has for a time; 0 for one before that.
  static func number(of time: Date) -> UInt32 {
    UInt32(exactly: time.timeIntervalSinceReferenceDate.rounded(.down)) ?? 0
  }
}

extension Date {
  /// The date; nil if it is no number, as one that an app or a file gives may be.
  ///
  /// The system ends the process that describes such a date, and it is neither before nor after any other.
  var ifNumber: Date? { timeIntervalSinceReferenceDate.isNaN ? nil : self }
}
