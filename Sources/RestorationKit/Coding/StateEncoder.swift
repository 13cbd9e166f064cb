public import ArchiveCodec

/// Takes the state of one node, or of the application.
///
/// Each node has keys of its own, so names cannot collide. An encoder is write-only,
/// and open only during the call that it is given to: after that it writes nothing. Keep
/// no reference to it, nor a weak one.
public final class StateEncoder {
  /// The path of the node; empty for the application, and after the call.
  public var path: RestorationPath { isOpen ? walk.path(of: slot) : RestorationPath() }

  let walk: any StateEncoding
  let encoder: KeyedEncoder
  @usableFromInline let writer: ValueWriter
  // Set for each object and read for each value, as the properties of the decoder.
  @safe @exclusivity(unchecked) private var isOpen = false
  /// Whether somebody wanted to write under the key of what the library stores.
  private(set) var hasMetTakenKey = false
  /// Whether fields were written as they are stored, and others that did not fit were replaced.
  var unfitFields = (areKept: false, areReplaced: false)
  private(set) var slot: Int32 = 0

  /// Creates a coder that writes into the records of an encoder.
  init(_ walk: any StateEncoding, _ encoder: KeyedEncoder) {
    self.walk = walk
    self.encoder = encoder
    writer = encoder.writer
  }

  /// Begins the call for an element, by its place in the document.
  func open(_ slot: Int32) {
    self.slot = slot
    (isOpen, hasMetTakenKey, unfitFields) = (true, false, (false, false))
  }

  func close() { isOpen = false }

  /// Notes a fact of the element for the report.
  func note(_ note: ReportNote) { walk.note(note, slot) }

  // Inlinable, so that the compiler knows the type: looking up its conformance at run
  // time took a quarter of a save (benchmark: save nodes).
  /// Writes a value; nil writes nothing.
  ///
  /// The last value of a key stays. A value that is too large to store makes the
  /// encoding fail, as an error of the hook does.
  ///
  /// - Parameters:
  ///   - value: A Bool, number, String, Data, Date, UUID or URL, an array of
  ///     them, or a dictionary from String to them.
  ///   - key: Any name of up to 1 KiB.
  @inlinable
  public func encode<Value: ArchiveValue>(_ value: Value?, forKey key: String) {
    guard let value else {
      _ = isWritable(key)
      return
    }
    if begin(key) { value.write(to: writer) }
  }

  /// Writes a value of any encodable type; nil writes nothing.
  ///
  /// - Parameters:
  ///   - value: The value; it must not use this coder while it is encoded.
  ///   - key: Any name of up to 1 KiB.
  /// - Throws: The errors of the value's `encode(to:)`, and `EncodingError` if
  ///   something in it cannot be stored. Nothing of the value remains then, and
  ///   encoding may go on.
  public func encode<Value: Encodable>(_ value: Value?, forKey key: String) throws {
    guard isWritable(key) else { return }
    try encoder.encode(value, forKey: key)
  }

  /// Writes a reference to an object that is also encodable; nil writes nothing.
  ///
  /// - Parameters:
  ///   - object: A node, a view or a registered object.
  ///   - key: Any name of up to 1 KiB.
  public func encode<Object: StateRestoring & Encodable>(_ object: Object?, forKey key: String) {
    encode(object as (any StateRestoring)?, forKey: key)
  }

  /// Writes a reference to a node, a view or a registered object; nil writes
  /// nothing.
  ///
  /// The object is preserved too, once, even if no node contains it. After a restore,
  /// every reference to the object yields the same instance. A view must belong to a
  /// node that is preserved. An object without an identifier cannot be the target of a
  /// reference; the report says so.
  ///
  /// - Parameters:
  ///   - object: A node, a view or a registered object.
  ///   - key: Any name of up to 1 KiB.
  public func encode(_ object: (any StateRestoring)?, forKey key: String) {
    guard isWritable(key), let object,
      let target = walk.reference(to: object, from: slot, key: key)
    else { return }
    encoder.encodeReference(to: target, forKey: key)
  }

  /// Writes references in order, without the objects that have no identifier.
  ///
  /// - Parameters:
  ///   - objects: Nodes, views and registered objects.
  ///   - key: Any name of up to 1 KiB.
  public func encode(_ objects: [any StateRestoring], forKey key: String) {
    guard isWritable(key) else { return }
    let targets = objects.compactMap { walk.reference(to: $0, from: slot, key: key) }
    encoder.encodeReferences(to: targets, forKey: key)
  }

  /// Writes references by name, as a container of them; objects that have no identifier are left out.
  ///
  /// - Parameters:
  ///   - objects: Nodes, views and registered objects.
  ///   - key: Any name of up to 1 KiB.
  /// - Complexity: O(*n* log *n*) in their number.
  public func encode(_ objects: [String: any StateRestoring], forKey key: String) {
    encodeContainer(forKey: key) { coder in
      for name in Array(objects.keys).sorted() { coder.encode(objects[name], forKey: name) }
    }
  }

  /// Writes a group of values with keys of their own under one key.
  ///
  /// - Parameters:
  ///   - key: Any name of up to 1 KiB.
  ///   - body: Encodes the values of the container, with this coder.
  /// - Throws: The error of `body`; nothing of the container remains then.
  public func encodeContainer<Failure: Error>(
    forKey key: String, _ body: (StateEncoder) throws(Failure) -> Void
  ) throws(Failure) {
    guard isWritable(key) else { return }
    try encoder.encodeContainer(forKey: key) { _ throws(Failure) in try body(self) }
  }

  /// Begins the value of a key; false if the coder is closed or cannot take the key.
  @usableFromInline
  func begin(_ key: String) -> Bool {
    isWritable(key) && encoder.begin(key)
  }

  // In line for each value (benchmark: save nodes).
  @inline(__always) @usableFromInline
  func isWritable(_ key: String) -> Bool {
    // Of most keys only the length is compared.
    if key.utf8.count == BuiltInKey.containerByteCount, key == BuiltInKey.container {
      hasMetTakenKey = true
      return false
    }
    return isOpen
  }
}

/// The state of an object that the library writes and reads for it, beside its hooks.
extension StateEncoder {
  func encodeAll(of object: any StateRestoring, _ traits: TypeTraits) throws {
    if traits.contains(.hasBuiltInState) {
      encoder.encodeBuiltIn(of: object) { walk.reference(toTab: $0, of: slot) }
    }
    try using {
      if traits.contains(.stateful) { try encodeOwnState(of: object, traits) }
      try object.encodeRestorableState(with: self)
    }
  }

  /// Calls a hook; what it encoded goes if it throws, and a note says why.
  func ask(_ hook: () throws -> Void) {
    do {
      try encoder.attempt { try using(hook) }
    } catch {
      walk.note(.encodeFailed(error.reason), slot)
    }
  }

  /// Runs code of the app that writes with the coder.
  ///
  /// - Throws: The error of the body; `keyTaken` if it has used the key of what the library stores.
  private func using(_ body: () throws -> Void) throws {
    try body()
    guard hasMetTakenKey else { return }
    throw RestorationError.taken(BuiltInKey.container)
  }
}

/// The questions of a ``StateEncoder`` to the walk that it belongs to.
protocol StateEncoding: AnyObject {
  /// The path of an element; empty for the application.
  func path(of slot: Int32) -> RestorationPath

  /// The record of a referenced object; nil, with a note, if it cannot be referred to.
  func reference(to object: any StateRestoring, from referrer: Int32, key: String) -> UInt64?

  /// The record of a selected tab; nil if that is none of the children.
  func reference(toTab tab: any RestorableNode, of slot: Int32) -> UInt64?

  func note(_ note: ReportNote, _ slot: Int32)
}

@available(*, unavailable, message: "a coder is valid only during the call it was made for")
extension StateEncoder: Sendable {}
