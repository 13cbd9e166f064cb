public import ArchiveCodec

/// The state of one object while it is brought to a newer version: a copy.
///
/// Values that a migration does not touch stay as they are, also references to nodes
/// and objects. Use the state only in the call that it is given to.
public final class MigratingState {
  /// Where the value of each key is, by the key that it is stored under.
  private var entries: [String: (place: Int, record: KeyedDecoder, key: String)] = .init()
  private var nextPlace = 0

  init(_ state: KeyedDecoder) {
    for key in state.keys { set(key, state, key) }
  }

  /// The keys that have a value, in stored order, then in the order in which they were added.
  ///
  /// - Complexity: O(*n* log *n*) in the number of keys.
  public var keys: [String] {
    entries.ordered { $0.value.place < $1.value.place }.map(\.key)
      .filter { $0 != BuiltInKey.container }
  }

  /// Whether there is a value for the key.
  ///
  /// - Parameter key: The key.
  /// - Returns: Whether the key is there.
  public func contains(_ key: String) -> Bool { entries[key] != nil }

  /// Moves the value of a key, of any type, to another; an absent value stays absent.
  ///
  /// - Parameters:
  ///   - key: The key that has the value.
  ///   - newKey: The key to have it.
  /// - Throws: ``RestorationError`` with `keyTaken` if there is a value for the
  ///   new key, or if the library has that key.
  public func rename(_ key: String, to newKey: String) throws(RestorationError) {
    guard key != newKey, key != BuiltInKey.container, let entry = entries[key] else { return }
    try refuseTaken(newKey)
    guard entries[newKey] == nil else {
      throw RestorationError(.keyTaken, "“\(key)” cannot be renamed, “\(newKey)” has a value.")
    }
    entries[key] = nil
    set(newKey, entry.record, entry.key)
  }

  /// Removes the value of a key; an absent one is not an error.
  ///
  /// - Parameter key: The key.
  public func remove(_ key: String) { if key != BuiltInKey.container { entries[key] = nil } }

  private func refuseTaken(_ key: String) throws(RestorationError) {
    guard key == BuiltInKey.container else { return }
    throw RestorationError.taken(key)
  }

  /// Reads a value, nil if there is none.
  ///
  /// - Parameters:
  ///   - type: The type that was encoded; integers may differ in width.
  ///   - key: The key.
  /// - Returns: The value, or nil if the key is absent.
  /// - Throws: ``/ArchiveCodec/ArchiveError`` with `typeMismatch` or
  ///   `numberOutOfRange`.
  public func decodeIfPresent<Value: ArchiveValue>(
    _ type: Value.Type = Value.self, forKey key: String
  ) throws -> Value? {
    guard let entry = entries[key] else { return nil }
    return try entry.record.decodeIfPresent(type, forKey: entry.key)
  }

  /// Reads a value of any decodable type, nil if there is none.
  ///
  /// - Parameters:
  ///   - type: The type that was encoded, or one that decodes the same form.
  ///   - key: The key.
  /// - Returns: The value, or nil if the key is absent.
  /// - Throws: The errors of the value's `init(from:)`; `DecodingError` if the value
  ///   does not fit.
  public func decodeIfPresent<Value: Decodable>(
    _ type: Value.Type = Value.self, forKey key: String
  ) throws -> Value? {
    guard let entry = entries[key] else { return nil }
    return try entry.record.decodeIfPresent(type, forKey: entry.key)
  }

  /// Reads a value that must be there.
  ///
  /// - Parameters:
  ///   - type: The type that was encoded; integers may differ in width.
  ///   - key: The key.
  /// - Returns: The value.
  /// - Throws: ``/ArchiveCodec/ArchiveError`` with `keyNotFound`, `typeMismatch` or
  ///   `numberOutOfRange`.
  public func decode<Value: ArchiveValue>(
    _ type: Value.Type = Value.self, forKey key: String
  ) throws -> Value {
    guard let value = try decodeIfPresent(type, forKey: key) else { throw missing(key) }
    return value
  }

  /// Reads a value of any decodable type that must be there.
  ///
  /// - Parameters:
  ///   - type: The type that was encoded, or one that decodes the same form.
  ///   - key: The key.
  /// - Returns: The value.
  /// - Throws: The errors of the value's `init(from:)`; `DecodingError` if the value
  ///   does not fit; ``/ArchiveCodec/ArchiveError`` with `keyNotFound`.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self, forKey key: String
  ) throws -> Value {
    guard let value = try decodeIfPresent(type, forKey: key) else { throw missing(key) }
    return value
  }

  private func missing(_ key: String) -> ArchiveError { ArchiveError(.keyNotFound, path: [key]) }

  /// Sets a value; nil removes it.
  ///
  /// - Parameters:
  ///   - value: A value that a ``StateEncoder`` takes.
  ///   - key: Any name of up to 1 KiB.
  /// - Throws: ``/ArchiveCodec/ArchiveError`` with `limitExceeded` if the value is too
  ///   large.
  public func encode<Value: ArchiveValue>(_ value: Value?, forKey key: String) throws {
    try set(key, value) { $0.encode(value, forKey: key) }
  }

  /// Sets a value of any encodable type; nil removes it.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - key: Any name of up to 1 KiB.
  /// - Throws: The errors of the value's `encode(to:)`, and
  ///   ``/ArchiveCodec/ArchiveError`` with `limitExceeded` if the value is too large.
  public func encode<Value: Encodable>(_ value: Value?, forKey key: String) throws {
    try set(key, value) { try $0.encode(value, forKey: key) }
  }

  /// Changes the values of a container, which is made if the key is absent.
  ///
  /// - Parameters:
  ///   - key: The key of the container.
  ///   - change: Changes the values of the container.
  /// - Throws: The errors of `change`; ``/ArchiveCodec/ArchiveError`` with
  ///   `typeMismatch` if the key holds something else.
  public func changeContainer(
    forKey key: String, _ change: (_ container: MigratingState) throws -> Void
  ) throws {
    try refuseTaken(key)
    let stored = try entries[key].flatMap { try $0.record.container(forKey: $0.key) }
    let container = MigratingState(stored ?? .empty)
    try change(container)
    try set(key, container) { try $0.encodeContainer(forKey: key, container.write) }
  }

  private func set<Value>(
    _ key: String, _ value: Value?, _ encode: (KeyedEncoder) throws -> Void
  ) throws {
    try refuseTaken(key)
    guard value != nil else { return remove(key) }
    set(key, try KeyedDecoder.encoding(encode), key)
  }

  private func set(_ key: String, _ record: KeyedDecoder, _ stored: String) {
    entries[key] = (entries[key]?.place ?? nextPlace, record, stored)
    nextPlace += 1
  }

  /// Writes the present values.
  func write(to encoder: KeyedEncoder) throws {
    for (key, entry) in entries.ordered(by: { $0.value.place < $1.value.place }) {
      try encoder.copy(entry.key, from: entry.record, as: key)
    }
  }
}

@available(*, unavailable, message: "a state is valid only during the call it was made for")
extension MigratingState: Sendable {}
