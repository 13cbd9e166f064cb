/// Opens the bytes of a sealed archive and decodes the value in it.
///
///     let draft = try ArchiveDecoder().decode(Draft.self, from: bytes, key: key, context: context)
///
/// Nothing is decoded before it is authenticated. For bytes that do not fit the decoder
/// only throws, even if their author has the key.
public struct ArchiveDecoder: Sendable {
  /// The limits of the value.
  public let limits: ArchiveLimits

  /// Values for the value's `init(from:)`.
  public let userInfo: [CodingUserInfoKey: any Sendable]

  /// Creates a decoder.
  ///
  /// - Parameters:
  ///   - limits: The limits of the value.
  ///   - userInfo: Values for the value's `init(from:)`.
  public init(
    limits: ArchiveLimits = .standard, userInfo: [CodingUserInfoKey: any Sendable] = [:]
  ) {
    self.limits = limits
    self.userInfo = userInfo
  }

  /// Opens a value with a key and decodes it; see
  /// ``decode(_:from:with:context:)``.
  ///
  /// - Parameters:
  ///   - type: The type that was encoded, or one that decodes the same form.
  ///   - bytes: The bytes that ``ArchiveEncoder`` returned.
  ///   - key: One of the keys that the value was sealed with.
  ///   - context: The context that the value was sealed with.
  /// - Returns: The value.
  /// - Throws: As the other form does.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self, from bytes: [UInt8], key: ArchiveKey, context: ArchiveContext
  ) throws -> Value {
    try decode(type, from: bytes, with: .key(key), context: context)
  }

  /// Opens and decodes a value.
  ///
  /// - Parameters:
  ///   - type: The type that was encoded, or one that decodes the same form.
  ///   - bytes: The bytes that ``ArchiveEncoder`` returned.
  ///   - credential: One of the keys and passphrases that the value was sealed with.
  ///   - context: The context that the value was sealed with.
  /// - Returns: The value.
  /// - Throws: ``ArchiveError`` as ``Archive/open(_:with:context:limits:recovery:)``
  ///   does if the bytes do not open, and with `keyNotFound` if they hold no value;
  ///   `DecodingError` and the errors of `init(from:)`, if they hold another value.
  /// - Complexity: O(*n*) in the number of bytes, and the cost of a passphrase.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self, from bytes: [UInt8], with credential: ArchiveCredential,
    context: ArchiveContext
  ) throws -> Value {
    let archive = try Archive.open(
      MemoryStorage(bytes), with: credential, context: context, limits: limits)
    guard let archive, let record = try archive.record(ArchiveEncoder.record) else {
      throw ArchiveError(.keyNotFound, path: [ArchiveEncoder.valueKey])
    }
    return try record.decode(
      value: type, forKey: ArchiveEncoder.valueKey, path: [], userInfo: userInfo)
  }
}
