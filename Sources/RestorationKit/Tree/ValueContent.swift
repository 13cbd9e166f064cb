internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// One value of any form, in bytes of its own.
///
/// The bytes depend neither on the key nor on the record, so equal encodings have equal bytes.
struct ValueContent {
  /// The length of the names, the names, and the map of a record.
  let bytes: [UInt8]

  /// The one key of the record.
  static let key = "value"
  private static let lengthByteCount = 4

  init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// The value that the body encodes under a key, which errors name.
  init(
    forKey key: String, limits: ArchiveLimits = .standard,
    _ encode: (KeyedEncoder) throws -> Void
  ) throws {
    try self.init(copying: key, from: KeyedDecoder.encoding(limits: limits, encode), limits)
  }

  /// The value of a key, which must be there.
  init(
    copying key: String, from record: KeyedDecoder, _ limits: ArchiveLimits = .standard,
    reference: @escaping (UInt64) -> UInt64? = { $0 }
  ) throws {
    let builder = RecordBuilder(limits: limits)
    try builder.append(record: 1) {
      try $0.copy(key, from: record, as: Self.key, reference: reference)
    }
    let (maps, symbols) = try builder.finish().unsealed
    self.init(symbols: symbols, map: maps[0])
  }

  /// The value of a record that has it under ``key`` and nothing else.
  init(symbols: [UInt8], map: [UInt8]) {
    let length = UInt32(truncatingIfNeeded: symbols.count)
    bytes =
      (0..<Self.lengthByteCount).map { UInt8(truncatingIfNeeded: length >> UInt32(8 * $0)) }
      + symbols + map
  }

  /// The names of the record; empty if the bytes are not whole.
  var symbols: ArraySlice<UInt8> { parts?.symbols ?? [] }

  /// The map of the record; empty if the bytes are not whole.
  var map: ArraySlice<UInt8> { parts?.map ?? [] }

  private var parts: (symbols: ArraySlice<UInt8>, map: ArraySlice<UInt8>)? {
    guard bytes.count >= Self.lengthByteCount else { return nil }
    let length = bytes.prefix(Self.lengthByteCount).reversed().reduce(0) { $0 << 8 | Int($1) }
    let rest = bytes.dropFirst(Self.lengthByteCount)
    guard length <= rest.count else { return nil }
    return (rest.prefix(length), rest.dropFirst(length))
  }

  /// A record that has the value under ``key``.
  func open() throws(ArchiveError) -> KeyedDecoder {
    guard let parts else { throw ArchiveError(.truncated) }
    return try KeyedDecoder(unsealed: Array(parts.map), symbols: Array(parts.symbols))
  }

  var fingerprint: RecordFingerprint { RecordFingerprint(bytes.span) }
}
