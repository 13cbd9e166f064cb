internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The subkeys that open the secrets of a state.
protocol Subkeys: Sendable {
  /// The subkey that a stored value names; nil if it is forgotten.
  subscript(id: UInt64) -> ValueSubkey? { get }
}

/// A value with a sensitivity, as it lies in a record beside the state.
struct StoredSensitiveValue: Codable, Sendable {
  /// The keys that lead to the value in the state.
  let keys: [String]
  /// The bytes of a ``ValueContent``; sealed if the value is a secret.
  let content: Data
  /// When a save first stored the value, and how many seconds the value lasts from then on.
  var since: Date?
  var seconds: Double?
  /// The subkey that opens the value, see ``Subkeys``; nil if the value is no secret.
  var subkey: UInt64?

  /// The age of the value; nil if the value never expires.
  ///
  /// A value whose end is no number has expired.
  var age: ValueAge? {
    guard let since, let seconds else { return nil }
    let age = ValueAge(since: since, seconds: seconds)
    return age.end.ifNumber == nil ? ValueAge(since: .distantPast, seconds: 0) : age
  }

  /// The values in a container that ``encode(_:with:)`` wrote.
  static func all(in values: KeyedDecoder) throws -> [StoredSensitiveValue] {
    try values.decodeIfPresent(forKey: NodeRecord.valuesKey) ?? []
  }

  /// The container with values that were stored some seconds earlier.
  static func older(_ values: KeyedDecoder, by seconds: TimeInterval) throws -> KeyedDecoder? {
    let older = try all(in: values).map { value in
      var value = value
      value.since = value.since?.addingTimeInterval(-seconds)
      return value
    }
    return try KeyedDecoder.encoding { try encode(older, with: $0) }
      .container(forKey: NodeRecord.sensitiveKey)
  }

  /// The size and fingerprint of the values beside a state.
  struct Written {
    let fingerprint: RecordFingerprint
    let byteCount: Int
  }

  /// Writes values beside the state of the record that is open.
  ///
  /// - Returns: The size and the fingerprint; nil if there are no values.
  @discardableResult
  static func encode(
    _ values: [StoredSensitiveValue], with encoder: KeyedEncoder
  ) throws -> Written? {
    guard !values.isEmpty else { return nil }
    let container = encoder.beginContainer(forKey: NodeRecord.sensitiveKey)
    do {
      try encoder.encode(values, forKey: NodeRecord.valuesKey)
    } catch {
      encoder.undoContainer(container)
      throw error
    }
    encoder.endContainer(container)
    return Written(
      fingerprint: encoder.fingerprint(of: container), byteCount: encoder.byteCount(of: container))
  }
}

/// How old a value is, and how old it may become.
struct ValueAge: Sendable {
  let since: Date
  let seconds: Double

  var end: Date { since.addingTimeInterval(seconds) }
}

/// The values with a sensitivity of one element, as a restore found them.
struct OpenedValues {
  struct Aged {
    let keys: [String]
    let since: Date
    let fingerprint: RecordFingerprint
  }

  /// The expiring values that were given back, under their keys after migrations.
  var aged: [Aged] = []
  /// The keys of expired values, with dots between them.
  var expired: [String] = []
  /// The subkeys of the secrets that were given back.
  var subkeys: [UInt64] = []
  /// The keys of the secrets whose subkeys are missing.
  var forgotten: [String] = []
  /// The keys of values that cannot be read.
  var unreadable: [String] = []
}

extension StoredTree {
  /// The subkeys to which the values of the tree refer.
  ///
  /// - Throws: Why a record cannot be read.
  func referredSubkeys() throws -> Set<UInt64> {
    Set(try sensitiveValues.flatMap { try StoredSensitiveValue.all(in: $0) }.compactMap(\.subkey))
  }
}
