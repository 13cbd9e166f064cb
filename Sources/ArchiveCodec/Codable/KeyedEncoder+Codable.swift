extension KeyedEncoder {
  /// Writes a value of any encodable type; nil writes nothing.
  ///
  /// A type with a form of its own, see ``ArchiveValue``, is written in that
  /// form wherever it lies inside the value. Sets and dictionaries are written
  /// in an order that depends on their content alone, so equal values have equal bytes.
  /// One case is different: if a value calls the `encode(to:)` of a set or dictionary
  /// with its own encoder, the elements come in the order of iteration. Encode the set
  /// or dictionary in a single value container instead.
  ///
  /// - Parameters:
  ///   - value: The value; it must not use this encoder while it is encoded.
  ///   - key: At most 1 KiB of UTF-8.
  ///   - userInfo: Values for the value's `encode(to:)`.
  /// - Throws: The errors of the value's `encode(to:)`; `EncodingError` with a coding
  ///   path and an ``ArchiveError`` as the underlying error if something in the value
  ///   cannot be stored. After an error nothing of the value remains, and encoding may
  ///   go on.
  /// - Complexity: O(*n*) in the size of the value; O(*n* log *n*) for sets
  ///   and dictionaries.
  public func encode<Value: Encodable>(
    _ value: Value?, forKey key: String, userInfo: [CodingUserInfoKey: any Sendable] = [:]
  ) throws {
    guard let value else { return }
    try encode(value: value, forKey: key, path: PathKey.name(key), userInfo: userInfo)
  }

  func encode<Value: Encodable>(
    value: Value, forKey key: String, path: (any CodingKey)?,
    userInfo: [CodingUserInfoKey: any Sendable]
  ) throws {
    let failureBefore = writer.failure
    writer.failure = nil
    defer { writer.failure = failureBefore ?? writer.failure }
    try undoing {
      guard begin(key) else { return }
      // Nothing may be written between the key and the end of the value.
      isOpen = false
      defer { isOpen = true }
      let encoder = ValueEncoder(EncodingSession(writer, userInfo: userInfo), writer, key: path)
      try encoder.writeSingle(value) { try encoder.write(value) }
    }
  }
}
