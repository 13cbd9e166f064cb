extension KeyedEncoder {
  /// Writes a value of any encodable type; nil writes nothing.
  ///
  /// Types with a form of their own, see ``ArchiveValue``, are written in it
  /// wherever they are inside the value. Sets and dictionaries are written in
  /// an order of their content, so equal values have equal bytes. Only a set or
  /// dictionary whose `encode(to:)` a value calls with its own encoder comes in
  /// the order of its iteration: encode it in a single value container.
  ///
  /// - Parameters:
  ///   - value: The value; it must not use this encoder while it is encoded.
  ///   - key: At most 1 KiB of UTF-8.
  ///   - userInfo: What the value's `encode(to:)` may look up.
  /// - Throws: What the value throws; `EncodingError` with a coding path and
  ///   an ``ArchiveError`` as the underlying error if something in it cannot
  ///   be stored. Nothing of the value remains then, and encoding may go on.
  /// - Complexity: O(*n*) in the size of the value; O(*n* log *n*) for sets
  ///   and dictionaries.
  public func encode<Value: Encodable>(
    _ value: Value?, forKey key: String, userInfo: [CodingUserInfoKey: any Sendable] = [:]
  ) throws {
    guard let value else { return }
    try encode(value: value, forKey: key, path: NameKey(key), userInfo: userInfo)
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
      // Nothing else may come between the key and the end of the value.
      isOpen = false
      defer { isOpen = true }
      let encoder = ValueEncoder(EncodingSession(writer, userInfo: userInfo), writer, key: path)
      try encoder.writeSingle(value) { try encoder.write(value) }
    }
  }
}
