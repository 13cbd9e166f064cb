/// Turns one encodable value into the bytes of a sealed archive.
///
///     let bytes = try ArchiveEncoder().encode(draft, key: key, context: context)
///
/// Equal values give equal content in every process; the bytes differ each
/// time, because every archive has a random key of its own.
public struct ArchiveEncoder: Sendable {
  static let record: UInt64 = 1
  static let valueKey = "value"

  /// The limits of the value.
  public let limits: ArchiveLimits

  /// Values for the value's `encode(to:)`.
  public let userInfo: [CodingUserInfoKey: any Sendable]

  /// Creates an encoder.
  ///
  /// - Parameters:
  ///   - limits: The limits of the value.
  ///   - userInfo: Values for the value's `encode(to:)`.
  public init(
    limits: ArchiveLimits = .standard, userInfo: [CodingUserInfoKey: any Sendable] = [:]
  ) {
    self.limits = limits
    self.userInfo = userInfo
  }

  /// Encodes and seals a value under one key; see ``encode(_:slots:context:)``.
  ///
  /// - Parameters:
  ///   - value: The value; its encoding takes less than 16 MiB.
  ///   - key: The key that opens the archive later.
  ///   - context: The context that opens the archive later.
  /// - Returns: The bytes of an archive with one record.
  /// - Throws: As the other form does.
  public func encode<Value: Encodable>(
    _ value: Value, key: ArchiveKey, context: ArchiveContext
  ) throws -> [UInt8] {
    try encode(value, slots: [.key(key)], context: context)
  }

  /// Encodes and seals a value.
  ///
  /// - Parameters:
  ///   - value: The value; its encoding takes less than 16 MiB.
  ///   - slots: The keys and passphrases that open the archive later: 1 to 8, and at
  ///     most 2 passphrases.
  ///   - context: The context that opens the archive later.
  /// - Returns: The bytes of an archive with one record.
  /// - Throws: `EncodingError` and the errors of the value's `encode(to:)`, if the
  ///   value cannot be encoded; ``ArchiveError`` with `limitExceeded` if the value is
  ///   too large as a whole or there are too many slots, `lastSlot` for none, or
  ///   `cryptographyUnavailable`.
  /// - Complexity: O(*n*) in the size of the value, O(*n* log *n*) for sets and
  ///   dictionaries, and the cost of each passphrase.
  public func encode<Value: Encodable>(
    _ value: Value, slots: [NewSlot], context: ArchiveContext
  ) throws -> [UInt8] {
    let builder = RecordBuilder(limits: limits)
    try builder.append(record: Self.record) {
      try $0.encode(value: value, forKey: Self.valueKey, path: nil, userInfo: userInfo)
    }
    let storage = MemoryStorage()
    _ = try Archive.write(builder.finish(), to: storage, slots: slots, context: context)
    guard let bytes = storage.bytes else { throw ArchiveError(.inputOutput) }
    return bytes
  }
}
