extension KeyedDecoder {
  /// Reads a value of any decodable type that must be there.
  ///
  /// - Parameters:
  ///   - type: The type that was encoded, or one that decodes the same form.
  ///   - key: The key that the value was encoded with.
  ///   - userInfo: Values for the value's `init(from:)`.
  /// - Returns: The value.
  /// - Throws: The errors of the value's `init(from:)`; `DecodingError` if the key is
  ///   absent or the stored value does not fit, with a coding path that begins at the
  ///   key.
  /// - Complexity: O(*n*) in the size of the value.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self, forKey key: String,
    userInfo: [CodingUserInfoKey: any Sendable] = [:]
  ) throws -> Value {
    try decode(value: type, forKey: key, path: [PathKey.name(key)], userInfo: userInfo)
  }

  func decode<Value: Decodable>(
    value type: Value.Type, forKey key: String, path: [any CodingKey],
    userInfo: [CodingUserInfoKey: any Sendable]
  ) throws -> Value {
    guard let session = try session(key, path, userInfo) else {
      throw DecodingError.keyNotFound(
        PathKey.name(key),
        DecodingError.Context(codingPath: [], debugDescription: "There is no value for this key."))
    }
    return try session.decodeRoot(type)
  }

  /// Reads a value of any decodable type, nil if there is none.
  ///
  /// - Parameters:
  ///   - type: The type that was encoded, or one that decodes the same form.
  ///   - key: The key that the value was encoded with.
  ///   - userInfo: Values for the value's `init(from:)`.
  /// - Returns: The value, or nil if the key is absent.
  /// - Throws: As ``decode(_:forKey:userInfo:)`` does; an absent key is not an
  ///   error.
  public func decodeIfPresent<Value: Decodable>(
    _ type: Value.Type = Value.self, forKey key: String,
    userInfo: [CodingUserInfoKey: any Sendable] = [:]
  ) throws -> Value? {
    contains(key) ? try decode(type, forKey: key, userInfo: userInfo) : nil
  }

  /// Reads a value as it is stored.
  ///
  /// If that fails, reads it again with a field of another value in the place of one
  /// that does not fit or is not stored, and so on for each field.
  ///
  /// A part that does not fit is replaced with the whole field of the value that it
  /// lies in. A field that is not stored is added alone, if it is an entry of keyed
  /// containers only, and otherwise with the whole field, too. An optional that is not
  /// stored is nil. Entries of dictionaries are no fields.
  ///
  /// - Parameters:
  ///   - key: The key that the value was encoded with.
  ///   - other: The value whose fields stand in.
  /// - Returns: The value and the fields that were taken, or nil if the key is absent.
  /// - Throws: As ``decode(_:forKey:userInfo:)`` does, the first error, if it names no
  ///   field or no field helps.
  /// - Complexity: O(*n*) in the size of both values, and as much for each field that
  ///   is taken.
  package func decodeIfPresent<Value: Codable>(
    forKey key: String, standIn other: @autoclosure () -> Value
  ) throws -> MendedValue<Value>? {
    guard let session = try session(key, [PathKey.name(key)], .init()) else { return nil }
    do {
      return MendedValue(value: try session.decodeRoot(Value.self))
    } catch let first as DecodingError {
      var mending = FieldMending(key, of: self, from: other())
      var latest = first
      while mending?.take(latest) == true {
        do {
          guard let value = try mending?.record().decode(Value.self, forKey: key) else { break }
          return mending?.result(value)
        } catch {
          // The first error is about the stored value, so it is the one that counts.
          guard let next = error as? DecodingError else { throw first }
          latest = next
        }
      }
      throw first
    }
  }

  private func session(
    _ key: String, _ path: [any CodingKey], _ userInfo: [CodingUserInfoKey: any Sendable]
  ) throws(ArchiveError) -> DecodingSession? {
    try reader(of: key).map {
      DecodingSession(block, record, at: $0.offset, path: path, userInfo: userInfo)
    }
  }
}
