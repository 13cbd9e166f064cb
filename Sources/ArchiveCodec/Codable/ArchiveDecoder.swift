/// Opens the bytes of a sealed archive and decodes the value in it.
///
///     let draft = try ArchiveDecoder().decode(Draft.self, from: bytes, key: key, context: context)
///
/// Nothing is decoded before it is authenticated, and no bytes, also of
/// somebody who has the key, can do more than make it throw.
public struct ArchiveDecoder: Sendable {
  /// What the value may hold.
  public let limits: ArchiveLimits

  /// What the value's `init(from:)` may look up.
  public let userInfo: [CodingUserInfoKey: any Sendable]

  /// Creates a decoder.
  ///
  /// - Parameters:
  ///   - limits: What the value may hold.
  ///   - userInfo: What the value's `init(from:)` may look up.
  public init(
    limits: ArchiveLimits = .standard, userInfo: [CodingUserInfoKey: any Sendable] = [:]
  ) {
    self.limits = limits
    self.userInfo = userInfo
  }

  /// Opens and decodes a value.
  ///
  /// - Parameters:
  ///   - type: The type that was encoded, or one that decodes the same form.
  ///   - bytes: What ``ArchiveEncoder`` returned.
  ///   - key: The key that it was sealed with.
  ///   - context: The context that it was sealed with.
  /// - Returns: The value.
  /// - Throws: ``ArchiveError`` as ``Archive/open(_:key:context:limits:)`` does
  ///   if the bytes do not open, and with `keyNotFound` if they hold no value;
  ///   `DecodingError` and what the value throws, if they hold something else.
  /// - Complexity: O(*n*) in the number of bytes.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self, from bytes: [UInt8], key: ArchiveKey, context: ArchiveContext
  ) throws -> Value {
    let archive = try Archive.open(
      MemoryStorage(bytes), key: key, context: context, limits: limits)
    guard let archive, let record = try archive.record(ArchiveEncoder.record) else {
      throw ArchiveError(.keyNotFound, path: [ArchiveEncoder.valueKey])
    }
    return try record.decode(
      value: type, forKey: ArchiveEncoder.valueKey, path: [], userInfo: userInfo)
  }
}
