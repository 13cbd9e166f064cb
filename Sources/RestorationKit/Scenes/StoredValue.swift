internal import ArchiveCodec

/// A Codable value in its stored form, for one whose type is known later.
///
/// It survives launches that do not ask for it, and equal values have equal
/// forms.
struct StoredValue: Hashable, Codable, Sendable {
  private let map: [UInt8]
  private let symbols: [UInt8]

  private static let key = "value"

  init(_ value: some Encodable) throws {
    let builder = RecordBuilder()
    try builder.append(record: 1) { try $0.encode(value, forKey: Self.key) }
    let batch = try builder.finish().unsealed
    map = batch.maps[0]
    symbols = batch.symbols
  }

  init(_ content: ValueContent) {
    (map, symbols) = (Array(content.map), Array(content.symbols))
  }

  var content: ValueContent { ValueContent(symbols: symbols, map: map) }

  var byteCount: Int { map.count + symbols.count }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try KeyedDecoder(unsealed: map, symbols: symbols).decode(type, forKey: Self.key)
  }
}
