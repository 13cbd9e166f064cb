extension KeyedDecoder {
  /// Reads a value of any decodable type that must be there.
  ///
  /// - Parameters:
  ///   - type: The type that was encoded, or one that decodes the same form.
  ///   - key: The key that the value was encoded with.
  ///   - userInfo: What the value's `init(from:)` may look up.
  /// - Returns: The value.
  /// - Throws: What the value throws; `DecodingError` if the key is absent or
  ///   the stored value does not fit, with a coding path that begins at the key.
  /// - Complexity: O(*n*) in the size of the value.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self, forKey key: String,
    userInfo: [CodingUserInfoKey: any Sendable] = [:]
  ) throws -> Value {
    try decode(value: type, forKey: key, path: [NameKey(key)], userInfo: userInfo)
  }

  func decode<Value: Decodable>(
    value type: Value.Type, forKey key: String, path: [any CodingKey],
    userInfo: [CodingUserInfoKey: any Sendable]
  ) throws -> Value {
    guard let session = try session(key, path, userInfo) else {
      throw DecodingError.keyNotFound(
        NameKey(key),
        DecodingError.Context(codingPath: [], debugDescription: "There is no value for this key."))
    }
    return try session.decodeRoot(type)
  }

  /// Reads a value of any decodable type, nil if there is none.
  ///
  /// - Parameters:
  ///   - type: The type that was encoded, or one that decodes the same form.
  ///   - key: The key that the value was encoded with.
  ///   - userInfo: What the value's `init(from:)` may look up.
  /// - Returns: The value, or nil if the key is absent.
  /// - Throws: As ``decode(_:forKey:userInfo:)`` does; an absent key is not an
  ///   error.
  public func decodeIfPresent<Value: Decodable>(
    _ type: Value.Type = Value.self, forKey key: String,
    userInfo: [CodingUserInfoKey: any Sendable] = [:]
  ) throws -> Value? {
    try session(key, [NameKey(key)], userInfo)?.decodeRoot(type)
  }

  /// Reads a value as it is stored, and if a field is missing in it once more, with the
  /// fields of another one in the place of those that are missing.
  ///
  /// A field is an entry of a keyed container, and of none that is an element of an
  /// array or a dictionary. An optional that is not stored is nil.
  ///
  /// - Parameters:
  ///   - key: The key that the value was encoded with.
  ///   - other: The value whose fields stand in.
  /// - Returns: The value, or nil if the key is absent.
  /// - Throws: As ``decode(_:forKey:userInfo:)`` does.
  /// - Complexity: O(*n*) in the size of both values, and for each field that is missing
  ///   in the fields of the containers that it lies in.
  package func decodeIfPresent<Value: Codable>(
    forKey key: String, standIn other: Value
  ) throws -> Value? {
    guard let session = try session(key, [NameKey(key)], [:]) else { return nil }
    do {
      return try session.decodeRoot(Value.self)
    } catch DecodingError.keyNotFound(let missing, let context) {
      let other = try KeyedDecoder.encoding { try $0.encode(other, forKey: key) }
      // It has counted what was read, and this is another time.
      let again = try self.session(key, [NameKey(key)], [:])
      again?.standIn = try other.session(key, [NameKey(key)], [:])
      do {
        return try again?.decodeRoot(Value.self)
      } catch DecodingError.keyNotFound {
        // What the stored value lacks is what counts.
        throw DecodingError.keyNotFound(missing, context)
      }
    }
  }

  private func session(
    _ key: String, _ path: [any CodingKey], _ userInfo: [CodingUserInfoKey: any Sendable]
  ) throws(ArchiveError) -> DecodingSession? {
    try offset(of: key).map {
      DecodingSession(block, record, at: $0, path: path, userInfo: userInfo)
    }
  }
}
