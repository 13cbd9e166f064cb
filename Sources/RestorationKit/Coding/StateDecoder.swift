public import ArchiveCodec
public import RestorationFoundation

/// Gives back the state of one node, or of the application.
///
/// For an absent key `decodeIfPresent` gives nil, and `decode` throws, also for an
/// optional type. Both throw for a value of another type. A decoder is read-only, and
/// the factory that makes the node sees the same values as the node's own decoding. A
/// decoder is for the call that it is given to: after that it may find nothing. Keep no
/// reference to it, nor a weak one.
public final class StateDecoder {
  // The marked properties are set for each object, and most are read for each value.
  // The check for exclusive access would take longer than the access (benchmark:
  // restore nodes). A decoder stays on the actor that restores, so nobody else has
  // access meanwhile.
  @safe @exclusivity(unchecked) private(set) var now: (isOpen: Bool, slot: Int32, read: ReadKeys)
  /// Over no values if the element has none.
  @usableFromInline @safe @exclusivity(unchecked) var cursor: FieldCursor
  let restored: RestoredElements

  /// Creates a coder that serves one element after the other, or the values of one of its containers.
  init(
    _ restored: RestoredElements, _ values: KeyedDecoder? = nil, at slot: Int32 = Document.tree
  ) {
    (self.restored, now) = (restored, (true, slot, ReadKeys()))
    cursor = values.map { FieldCursor($0) } ?? FieldCursor()
  }

  /// The path of the node; empty for the application.
  public var path: RestorationPath { restored.paths[now.slot] }

  /// The nodes that this node contained and that are back, in saved order.
  ///
  /// - Complexity: O(*n*) in their number.
  public var restoredChildren: [any RestorableNode] { restored.nodes(below: now.slot, .child) }

  /// The node that this node presented, if it is back.
  public var restoredPresented: (any RestorableNode)? {
    restored.nodes(below: now.slot, .presented).first
  }

  /// What the library has stored of the object besides.
  var builtIn: KeyedDecoder? {
    // The app may have a value of its own under the key.
    try? restored.state(at: now.slot)?.container(forKey: BuiltInKey.container)
  }

  /// The values of the element, opened at the first question of a factory; none if they cannot be opened.
  var values: KeyedDecoder {
    if !now.isOpen { try? open() }
    return cursor.values
  }

  /// Whether a ``RestorableList`` was saved by the positions of its rows, and not by
  /// the identifiers of its model: other rows may have these positions by now.
  public var hasRawListPositions: Bool {
    [BuiltInKey.selected, BuiltInKey.firstVisible].contains {
      builtIn?.contains($0.paths) == true
    }
  }

  /// The keys that were encoded.
  public var keys: [String] { values.keys.filter { $0 != BuiltInKey.container } }

  /// Whether there is a value for the key.
  ///
  /// - Parameter key: The key of the value.
  /// - Returns: Whether the key is there.
  public func contains(_ key: String) -> Bool {
    state(with: key).contains(key)
  }

  // Inlinable for the same reason as in the encoder: the type is known where it is called.
  /// Reads a value that must be there.
  ///
  /// - Parameters:
  ///   - type: The type that was encoded; integers may differ in width.
  ///   - key: The key that the value was encoded with.
  /// - Returns: The value.
  /// - Throws: ``/ArchiveCodec/ArchiveError`` with `keyNotFound`,
  ///   `typeMismatch` or `numberOutOfRange`.
  @inlinable
  public func decode<Value: ArchiveValue>(
    _ type: Value.Type = Value.self, forKey key: String
  ) throws(ArchiveError) -> Value {
    guard let value = try decodeIfPresent(type, forKey: key) else { throw missing(key) }
    return value
  }

  @usableFromInline
  func missing(_ key: String) -> ArchiveError {
    ArchiveError(.keyNotFound, path: [key])
  }

  /// Reads a value, nil if there is none.
  ///
  /// - Parameters:
  ///   - type: The type that was encoded; integers may differ in width.
  ///   - key: The key that the value was encoded with.
  /// - Returns: The value, or nil if the key is absent.
  /// - Throws: ``/ArchiveCodec/ArchiveError`` with `typeMismatch` or
  ///   `numberOutOfRange`. An absent key is not an error.
  @inlinable
  public func decodeIfPresent<Value: ArchiveValue>(
    _ type: Value.Type = Value.self, forKey key: String
  ) throws(ArchiveError) -> Value? {
    guard let offset = try offset(of: key) else { return nil }
    return try cursor.decode(type, at: offset, forKey: key)
  }

  /// Where the value of a key begins.
  ///
  /// The key counts as asked for.
  @usableFromInline
  func offset(of key: String) throws(ArchiveError) -> Int? {
    if !now.isOpen { try? open() }
    var place = 0
    guard let offset = try cursor.offset(of: key, place: &place) else { return nil }
    now.read.insert(place)
    return offset
  }

  /// Reads a value of any decodable type that must be there.
  ///
  /// - Parameters:
  ///   - type: The type that was encoded, or one that decodes the same form.
  ///   - key: The key that the value was encoded with.
  /// - Returns: The value.
  /// - Throws: The errors of the value's `init(from:)`; `DecodingError` if the stored
  ///   value does not fit; ``/ArchiveCodec/ArchiveError`` with `keyNotFound`.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self, forKey key: String
  ) throws -> Value {
    guard let value = try decodeIfPresent(type, forKey: key) else { throw missing(key) }
    return value
  }

  /// Reads a value of any decodable type, nil if there is none.
  ///
  /// - Parameters:
  ///   - type: The type that was encoded, or one that decodes the same form.
  ///   - key: The key that the value was encoded with.
  /// - Returns: The value, or nil if the key is absent.
  /// - Throws: The errors of the value's `init(from:)`; `DecodingError` if the stored
  ///   value does not fit. An absent key is not an error.
  public func decodeIfPresent<Value: Decodable>(
    _ type: Value.Type = Value.self, forKey key: String
  ) throws -> Value? {
    try state(with: key).decodeIfPresent(type, forKey: key)
  }

  /// Reads a value; nil if there is none.
  ///
  /// Fields that are not stored or do not fit come from another value.
  func decodeIfPresent<Value: Codable>(
    forKey key: String, standIn other: @autoclosure () -> Value
  ) throws -> Value? {
    let mended = try state(with: key).decodeIfPresent(forKey: key, standIn: other())
    if let mended { restored.note(mended, at: now.slot) }
    return mended?.value
  }

  /// Reads a reference; nil if there is none, or its object is not back.
  ///
  /// While nodes and objects are being made, a reference finds only objects that were
  /// made before. Parents are made before their children, and views are found when all
  /// nodes are made.
  ///
  /// - Parameters:
  ///   - type: The type that the object must have.
  ///   - key: The key that the reference was encoded with.
  /// - Returns: The object, the same instance for every reference to it, or nil.
  /// - Throws: ``RestorationError`` with `nodeTypeMismatch` if the object is back with
  ///   another type; ``/ArchiveCodec/ArchiveError`` with `typeMismatch` if the key
  ///   holds something else.
  public func decodeObject<Object>(
    _ type: Object.Type = Object.self, forKey key: String
  ) throws -> Object? {
    try state(with: key).reference(forKey: key).flatMap { try object($0, type, key) }
  }

  /// Reads references in saved order, without the objects that are not back.
  ///
  /// - Parameters:
  ///   - type: The type that the objects must have.
  ///   - key: The key that the references were encoded with.
  /// - Returns: The objects; none if the key is absent.
  /// - Throws: As ``decodeObject(_:forKey:)``.
  public func decodeObjects<Object>(
    _ type: Object.Type = Object.self, forKey key: String
  ) throws -> [Object] {
    try state(with: key).references(forKey: key)?.compactMap { try object($0, type, key) } ?? []
  }

  /// Reads references by name, without the objects that are not back.
  ///
  /// - Parameters:
  ///   - type: The type that the objects must have.
  ///   - key: The key that the references were encoded with.
  /// - Returns: The objects; none if the key is absent.
  /// - Throws: As ``decodeObject(_:forKey:)``.
  public func decodeObjectDictionary<Object>(
    _ type: Object.Type = Object.self, forKey key: String
  ) throws -> [String: Object] {
    guard let names = try state(with: key).container(forKey: key) else { return .init() }
    return try names.dictionaryKeys.reduce(into: .init()) { objects, name in
      objects[name] = try names.reference(forKey: name).flatMap { try object($0, type, key) }
    }
  }

  /// Opens the values that were written under one key, nil if there are none.
  ///
  /// - Parameter key: The key that the container was encoded with.
  /// - Returns: A coder for the values of the container, or nil.
  /// - Throws: ``/ArchiveCodec/ArchiveError`` with `typeMismatch` if the key
  ///   holds something else.
  public func container(forKey key: String) throws(ArchiveError) -> StateDecoder? {
    try state(with: key).container(forKey: key).map { StateDecoder(restored, $0, at: now.slot) }
  }

  /// The keys that were stored and not asked for; nil if there are none.
  var unreadNote: ReportNote? {
    let keys = now.read.missing(in: values).filter { $0 != BuiltInKey.container }
    return keys.isEmpty ? nil : .unreadKeys(keys)
  }

  /// The values.
  ///
  /// The key counts as asked for.
  private func state(with key: String) -> KeyedDecoder {
    // The caller reads the key next, and throws the error itself.
    _ = try? offset(of: key)
    return values
  }

  private func object<Object>(
    _ record: UInt64, _ type: Object.Type, _ key: String
  ) throws -> Object? {
    guard let object = restored.object(ofRecord: record) else { return nil }
    guard let typed = object as? Object else {
      throw RestorationError(
        .nodeTypeMismatch, "\(path), key \(key): \(Swift.type(of: object)) is not a \(type)")
    }
    return typed
  }
}

// MARK: - One element after the other

extension StateDecoder {
  /// Begins a call for an element.
  ///
  /// The factory may have read some of its keys before.
  func begin(_ slot: Int32) { now = (false, slot, restored[slot].read) }

  /// Ends the call for an element.
  func end() { restored[now.slot].read = now.read }

  /// Opens the values of the element, unless somebody has asked for one.
  func open() throws(ArchiveError) {
    if now.isOpen { return }
    now.isOpen = true
    do throws(ArchiveError) {
      cursor = FieldCursor(try restored.state(at: now.slot) ?? .empty)
    } catch {
      // None, and not those of the element before.
      cursor = FieldCursor()
      throw error
    }
    now.read.keyCount = cursor.values.keyCount
  }
}

/// Facts about the save, the same in every coder of a restore.
extension StateDecoder {
  /// The version of the application that saved, nil if it gave none.
  public var applicationVersion: String? { restored.document.head.facts["applicationVersion"] }

  /// The kind of interface of the application that saved.
  public var userInterfaceIdiom: String? { restored.document.head.facts["userInterfaceIdiom"] }

  /// The version of the operating system at the save.
  public var systemVersion: String? { restored.document.head.facts["systemVersion"] }

  /// When a save last wrote a part of the state, by the clock of the keeper that saved, in whole seconds.
  public var timestamp: Date? { restored.document.head.savedAt }
}

@available(*, unavailable, message: "a coder belongs to the actor that restores")
extension StateDecoder: Sendable {}

/// Which keys of a record were asked for.
struct ReadKeys {
  /// A bit for each of the first 64 keys of the record, in stored order.
  private var places: UInt64 = 0
  /// Nil as long as there are none, so that copies count no reference (benchmark: restore 10,000 nodes).
  private var others: Set<Int>?
  /// The number of keys of the record; -1 as long as nobody has opened it.
  var keyCount = -1

  /// Notes a key of the record; the place counts its keys in stored order.
  @inline(__always)
  mutating func insert(_ place: Int) {
    if place < UInt64.bitWidth { return places |= 1 << place }
    if others == nil { others = [] }
    others?.insert(place)
  }

  /// Whether every key was asked for, as is usual.
  var isWhole: Bool { places.nonzeroBitCount == keyCount }

  /// The stored keys that were not asked for, in stored order; a container that was opened counts as read.
  ///
  /// - Complexity: O(1) if all of up to 64 keys were read, as is usual; otherwise O(*n*).
  func missing(in values: KeyedDecoder) -> [String] {
    guard places.nonzeroBitCount < values.keyCount else { return [] }
    return values.keys.enumerated().filter { place, _ in
      place < UInt64.bitWidth ? places & 1 << place == 0 : others?.contains(place) != true
    }.map(\.element)
  }
}
