import Foundation

/// JSON as this server writes it.
enum JSON {
  static func bytes(_ value: some Encodable) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .iso8601
    return Array(try encoder.encode(value))
  }

  static func value<Value: Decodable>(_ type: Value.Type, _ bytes: [UInt8]) throws -> Value {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    return try decoder.decode(type, from: Data(bytes))
  }

  /// An object on one line.
  static func text(_ object: some Encodable) -> String {
    (try? bytes(object)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }
}
