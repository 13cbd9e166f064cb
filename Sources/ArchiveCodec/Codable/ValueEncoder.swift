/// The encoder that one call of `encode(to:)` gets; it writes one value.
///
/// A value that is encoded in one call goes straight to the end of the bytes.
/// Only nested containers and super encoders, which their owner may fill at
/// any time, get bytes of their own, and are put in their place at the end.
final class ValueEncoder {
  let session: EncodingSession
  let writer: ValueWriter
  private let parent: ValueEncoder?
  private let key: (any CodingKey)?

  private(set) var state = State.empty
  /// Valid while the state is `map`.
  private var map: OpenMap
  /// Valid while the state is `array`: where the first element begins.
  private var start = 0
  /// How many elements the array has.
  private(set) var count = 0
  private var nested: [(offset: Int, encoder: ValueEncoder)] = []
  /// The nested encoders that are containers of the map, by their keys: a second
  /// request for a key adds to its container.
  private var containers: [ByteName: ValueEncoder] = .init()
  /// The error of a call that cannot throw; closing throws it.
  private var postponed: (any Error)?

  func postpone(_ use: String) {
    postponed = postponed ?? misuse(use)
  }

  enum State {
    case empty, single, map, array
    /// A value inside this one is being encoded.
    case busy
    case closed
  }

  init(
    _ session: EncodingSession, _ writer: ValueWriter, parent: ValueEncoder? = nil,
    key: (any CodingKey)? = nil
  ) {
    self.session = session
    self.writer = writer
    self.parent = parent
    self.key = key
    map = OpenMap()
  }

  var codingPath: [any CodingKey] {
    (parent?.codingPath ?? []) + (key.map { [$0] } ?? [])
  }
}

// MARK: - Opening and closing

extension ValueEncoder {
  func openMap() {
    guard state != .map else { return }
    guard state == .empty else { return postpone("as a keyed container too") }
    map = OpenMap(in: writer)
    state = .map
  }

  func openArray() {
    guard state != .array else { return }
    guard state == .empty else { return postpone("as an unkeyed container too") }
    start = writer.openContainer()
    state = .array
  }

  /// Finishes the value; an encoder that encoded nothing writes an empty map.
  func close() throws {
    if let postponed { throw postponed }
    switch state {
    case .empty: OpenMap(in: writer).close(in: writer)
    case .single: break
    case .map:
      try placeNested()
      map.close(in: writer)
    case .array:
      try placeNested()
      writer.closeContainer(.array, count: count, from: start)
    case .busy, .closed: throw misuse("while or after it was finished")
    }
    state = .closed
    try checkFailure()
  }

  /// Makes later use of this encoder and its containers throw.
  ///
  /// Nested encoders refer to this one, so they are let go of, which breaks the cycle.
  /// The nesting is not deep, as it ends at the limit.
  func abandon() {
    state = .closed
    dropNested(after: 0)
  }

  /// Replaces the place holders by what nested containers hold now.
  private func placeNested() throws {
    guard let first = nested.first else { return }
    let tail = writer.output.bytes(from: first.offset)
    writer.output.truncate(to: first.offset)
    var position = 0
    for (offset, encoder) in nested {
      try encoder.close()
      writer.output.write(tail[position..<offset - first.offset])
      writer.output.write(encoder.writer.output.bytes)
      position = offset - first.offset + 1
    }
    writer.output.write(tail[position...])
    nested = []
    containers = .init()
  }
}

// MARK: - Writing

extension ValueEncoder {
  /// Writes a part of the value; after an error nothing of the part remains.
  // A copy for each type would be 20 KB of code.
  @_semantics("optimize.sil.specialize.generic.never")
  private func attempt<Value>(
    _ value: Value, as expected: State, _ use: String, at key: () -> (any CodingKey)?,
    _ write: () throws -> Void
  ) throws {
    guard state == expected else { throw misuse(use) }
    let before = (mark: session.mark(writer), map: map, nested: nested.count)
    do {
      try checkFailure()
      try write()
      try checkFailure()
    } catch {
      map = before.map
      dropNested(after: before.nested)
      session.goBack(writer, to: before.mark)
      throw encodingError(error, value, at: key())
    }
  }

  /// Writes an entry of the map; after an error nothing of the entry remains.
  func writeEntry<Value>(
    _ value: Value, under key: some CodingKey, isInline: Bool = false, _ write: () throws -> Void
  ) throws {
    try attempt(value, as: .map, "as a keyed container", at: { key }) {
      if !containers.isEmpty { containers[ByteName(key.stringValue)] = nil }
      var map = map
      if isInline {
        try map.writeKey(inline: key.stringValue, to: writer)
      } else {
        try map.writeKey(key.stringValue, to: writer)
      }
      self.map = map
      try write()
    }
  }

  /// Writes an element of the array; after an error nothing of the element remains.
  func writeElement<Value>(_ value: Value, _ write: () throws -> Void) throws {
    try attempt(value, as: .array, "as an unkeyed container", at: { PathKey.index(count) }, write)
    count += 1
  }

  /// Writes the value itself; after an error another one may be tried.
  func writeSingle<Value>(_ value: Value, _ write: () throws -> Void) throws {
    try attempt(value, as: .empty, "as a single value", at: { nil }, write)
    state = .single
  }

  /// Writes a value of any type, by its form.
  func write<Value: Encodable>(_ value: Value, at key: (any CodingKey)? = nil) throws {
    switch session.forms[Value.self] {
    case .direct(let type): try writeDirect(value, as: type)
    case .reshaped:
      guard let reshaped = value as? any ReshapedEncodable else { fallthrough }
      try encodeInside(at: key) { try reshaped.encodeReshaped(to: $0) }
    case .ordinary: try encodeInside(at: key) { try value.encode(to: $0) }
    }
  }

  private func writeDirect<Direct: ArchiveValue>(
    _ value: some Encodable, as type: Direct.Type
  ) throws {
    try same(value, as: type).write(to: writer)
  }

  private func dropNested(after count: Int) {
    guard nested.count > count else { return }
    for (_, encoder) in nested[count...] { encoder.abandon() }
    nested = Array(nested[..<count])
    containers = containers.filter { $0.value.state != .closed }
  }

  private func encodeInside(
    at key: (any CodingKey)?, _ encode: (ValueEncoder) throws -> Void
  ) throws {
    let inner = ValueEncoder(session, writer, parent: self, key: key)
    let outerState = state
    state = .busy
    defer {
      state = outerState
      inner.abandon()
    }
    try session.call(writer.limits) {
      try encode(inner)
      try inner.close()
    }
  }

  /// Makes an encoder for an entry that its owner fills later.
  func nest(under key: some CodingKey) -> ValueEncoder {
    nest(at: key) { place in try writeEntry((), under: key, place) }
  }

  /// The encoder of the container under a key; the first request makes it.
  func nestContainer(under key: some CodingKey) -> ValueEncoder {
    if let encoder = containers[ByteName(key.stringValue)] { return encoder }
    let encoder = nest(under: key)
    if encoder.state == .empty { containers[ByteName(key.stringValue)] = encoder }
    return encoder
  }

  /// Makes an encoder for an element that its owner fills later.
  func nestElement() -> ValueEncoder {
    nest(at: PathKey.index(count)) { place in try writeElement((), place) }
  }

  private func nest(
    at key: any CodingKey, _ reserve: (() -> Void) throws -> Void
  ) -> ValueEncoder {
    // A closed encoder refuses everything, so it can stand for nested ones: a chain of
    // containers does not grow beyond the limit of depth.
    guard state != .closed else { return self }
    var inner: ValueEncoder?
    do {
      try reserve {
        let new = ValueEncoder(
          session, session.makeWriter(like: writer), parent: self, key: key)
        inner = new
        // Moved to a local variable for the change, so that reading the count, which is
        // far more frequent, needs no exclusivity check.
        var changed = nested
        nested = []
        changed.append((writer.output.count, new))
        nested = changed
        writer.writeNull()
      }
    } catch {
      postponed = postponed ?? error
    }
    if let inner { return inner }
    let stray = ValueEncoder(session, writer, parent: self, key: key)
    stray.abandon()
    return stray
  }
}
