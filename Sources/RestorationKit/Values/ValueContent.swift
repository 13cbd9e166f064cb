internal import ArchiveCodec

/// One Codable value of any form, in bytes of its own, whose type may be known later.
///
/// The bytes depend neither on the key nor on the record, so equal encodings have equal bytes.
struct ValueContent: Equatable, Codable, Sendable {
  /// A record that has the value under ``key`` and nothing else, and the names in it.
  let map: [UInt8]
  let symbols: [UInt8]

  /// The one key of the record.
  static let key = "value"

  init(_ value: some Encodable) throws {
    try self.init { try $0.encode(value, forKey: Self.key) }
  }

  /// The value that the body encodes under ``key``.
  init(encoding encode: (KeyedEncoder) throws -> Void) throws {
    try self.init(copying: Self.key, from: KeyedDecoder.encoding(encode))
  }

  /// The value of a key, which must be there.
  init(
    copying key: String, from record: KeyedDecoder,
    reference: @escaping (UInt64) -> UInt64? = { $0 }
  ) throws {
    let builder = RecordBuilder()
    try builder.append(record: 1) {
      try $0.copy(key, from: record, as: Self.key, reference: reference)
    }
    let (maps, symbols) = try builder.finish().unsealed
    (map, self.symbols) = (maps[0], symbols)
  }

  var byteCount: Int { map.count + symbols.count }

  /// A record that has the value under ``key``.
  func open() throws(ArchiveError) -> KeyedDecoder {
    try KeyedDecoder(unsealed: map, symbols: symbols)
  }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try open().decode(type, forKey: Self.key)
  }

  var fingerprint: RecordFingerprint { RecordFingerprint((symbols + map).span) }
}
