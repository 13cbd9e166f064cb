/// A place among the values of a record or container, which moves on with each value that is read.
///
/// A reader of many records of one kind moves one cursor over them: a key is compared
/// with the next stored one, and usually found there (benchmark: restore nodes).
@usableFromInline
package struct FieldCursor: Sendable {
  /// The values that the cursor moves over.
  @usableFromInline package let values: KeyedDecoder
  /// The bytes of the record once more: the decoder would be retained for each key.
  @usableFromInline package let source: RecordSource
  @usableFromInline var position: EntryPosition
  /// Whether the position is at the value that was found last, and not after it.
  @usableFromInline var isBeforeValue = false

  /// How many entries were compared with a key, or passed.
  ///
  /// With this count a test proves that no record can make the search long.
  package private(set) var stepCount = 0

  /// A cursor before the first value.
  package init(_ values: KeyedDecoder) {
    self.values = values
    source = RecordSource(bytes: values.block.bytes, record: values.record)
    position = values.entries.start
  }

  /// A cursor over no values.
  package init() { self.init(.empty) }

  /// The offset of a key's value, nil if there is none, and the number of keys before
  /// it in stored order; keys that are written inline come last.
  ///
  /// ``decode(_:at:forKey:)`` reads the value. The two steps are apart because a reader
  /// of the value, given from one function to the next, took a tenth of a restore
  /// (benchmark: restore nodes).
  ///
  /// - Complexity: O(1) for the value after the last one, otherwise O(log *k*) for
  ///   *k* keys.
  package mutating func offset(
    of key: String, place: inout Int
  ) throws(ArchiveError) -> Int? {
    if isBeforeValue { try finishValue() }
    stepCount += 1
    var found = valueAtPosition(of: key)
    place = position.place
    if found == nil, let entry = find(key) {
      (found, place) = (entry.value, entry.place)
    }
    guard let found else { return nil }
    position = EntryPosition(offset: found, place: place + 1)
    isBeforeValue = true
    return found
  }

  /// The offset of the next entry's value, if the key is a literal in the app and a
  /// symbol in the archive, as most keys are.
  @inline(__always)
  private func valueAtPosition(of key: String) -> Int? {
    let bytes = source.bytes.span.extracting(source.record)
    let end = values.entries.payload.upperBound
    guard let next = bytes.shortSymbol(at: position.offset, before: end),
      values.block.names[next.symbol].hasSameRepresentation(as: key)
    else { return nil }
    return next.end
  }

  /// Moves on behind the value that was found, which ends at an offset.
  @inlinable
  package mutating func advance(to end: Int) {
    position.offset = end
    isBeforeValue = false
  }

  /// Reads the value that was found at an offset, and moves on behind it.
  ///
  /// The cursor has the bytes to itself meanwhile, so no reference to them is counted
  /// (benchmark: restore nodes).
  @inlinable
  package mutating func decode<Value: ArchiveValue>(
    _ type: Value.Type = Value.self, at offset: Int, forKey key: String
  ) throws(ArchiveError) -> Value {
    var end = offset
    do {
      let value = try Value.read(at: &end, in: source.bytes.span.extracting(source.record))
      advance(to: end)
      return value
    } catch {
      throw values.locate(error, key)
    }
  }

  /// Moves behind the value that was found, if its end is not known yet.
  @inline(never)
  private mutating func finishValue() throws(ArchiveError) {
    let stored = source.bytes
    let bytes = stored.span.extracting(source.record)
    var cursor = ByteCursor(bytes, from: position.offset, to: values.entries.payload.upperBound)
    try cursor.skipValue(bytes)
    advance(to: cursor.offset)
  }

  /// Finds the field of a key, nil if there is none.
  ///
  /// - Complexity: As ``offset(of:place:)``.
  package mutating func field(of key: String) throws(ArchiveError) -> Field? {
    if isBeforeValue { try finishValue() }
    stepCount += 1
    guard let entry = find(key) else { return nil }
    let value = try ValueReader(source.bytes.span.extracting(source.record), at: entry.value)
    position = EntryPosition(offset: value.end, place: entry.place + 1)
    return Field(key: entry.key, place: entry.place, value: value)
  }

  @inline(never)
  private mutating func find(_ key: String) -> StoredMap.Entry? {
    let block = values.block
    let stored = block.bytes
    let bytes = stored.span.extracting(values.record)
    if let entry = values.entries.match(key, at: position, in: bytes, block.names) { return entry }
    return values.entries.search(
      key, from: position, in: bytes, block.symbols, block.names, counting: &stepCount)
  }

  /// The next value in stored order, nil after the last one.
  ///
  /// - Complexity: O(1).
  package mutating func next() throws(ArchiveError) -> Field? {
    let stored = values.block.bytes
    let bytes = stored.span.extracting(values.record)
    if isBeforeValue { try finishValue() }
    guard position.offset < values.entries.payload.upperBound else { return nil }
    var cursor = ByteCursor(bytes, from: position.offset, to: values.entries.payload.upperBound)
    let key = try cursor.readKey(bytes)
    let value = try ValueReader(bytes, at: cursor.offset)
    defer { position = EntryPosition(offset: value.end, place: position.place + 1) }
    return Field(key: key, place: position.place, value: value)
  }
}

/// The bytes of a record.
@usableFromInline
package struct RecordSource: Sendable {
  @usableFromInline let bytes: [UInt8]
  /// The range of the record in the bytes.
  @usableFromInline let record: Range<Int>
}

/// One value of a record or container, with its key.
@usableFromInline
package struct Field: Sendable {
  let key: ValueKey
  /// The number of keys before this one, in stored order.
  package let place: Int
  @usableFromInline package let value: ValueReader

  /// The number of the key in its archive, which ``KeyedDecoder/symbol(of:)`` gives for
  /// a name; nil if the key is written inline.
  package var symbol: UInt32? {
    guard case .symbol(let number) = key else { return nil }
    return number
  }
}

// MARK: - Values of fields

/// The methods below take fields of the same record and container only.
extension KeyedDecoder {
  /// The number of a name in the archive, nil if no key and no name has it.
  package func symbol(of name: String) -> UInt32? { block.symbols.number(of: name) }

  /// The name that has a number in the archive.
  package func name(ofSymbol symbol: UInt32) -> String { block.names[Int(symbol)] }

  /// The key of a field.
  package func key(of field: Field) -> String { text(of: field.key) }

  /// Reads the value of a field.
  @inlinable
  package func decode<Value: ArchiveValue>(
    _ type: Value.Type = Value.self, of field: Field
  ) throws(ArchiveError) -> Value {
    let stored = block.bytes
    do {
      return try Value.read(from: field.value, in: stored.span.extracting(record))
    } catch {
      throw locate(error, field)
    }
  }

  /// Calls the body with each value in stored order.
  package func forEachField(
    _ body: (Field) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    try forEachField(in: entries.payload, body)
  }

  /// Calls the body with each value of the container in a field.
  package func forEachField(
    of field: Field, _ body: (Field) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    guard field.value.header.kind == .map else {
      throw locate(field.value.mismatch("container"), field)
    }
    try forEachField(in: field.value.header.payload, body)
  }

  private func forEachField(
    in payload: Range<Int>, _ body: (Field) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    let stored = block.bytes
    let bytes = stored.span.extracting(record)
    var cursor = ByteCursor(bytes, from: payload.lowerBound, to: payload.upperBound)
    var place = 0
    while !cursor.isAtEnd {
      let key = try cursor.readKey(bytes)
      let value = try ValueReader(bytes, at: cursor.offset)
      try body(Field(key: key, place: place, value: value))
      cursor.offset = value.end
      place += 1
    }
  }

  /// The offset of the container in a field, to be opened later with
  /// ``VerifiedRecords/container(at:ofRecordAt:)``.
  ///
  /// The container is opened here once, so that opening it later cannot fail.
  package func containerStart(of field: Field) throws(ArchiveError) -> Int {
    let stored = block.bytes
    do {
      _ = try KeyedDecoder.entries(of: field.value, in: stored.span.extracting(record), block)
    } catch {
      throw locate(error, field)
    }
    return field.value.offset
  }

  /// Opens the container in a field.
  package func container(of field: Field) throws(ArchiveError) -> KeyedDecoder {
    do {
      return try KeyedDecoder(field.value, in: self)
    } catch {
      throw locate(error, field)
    }
  }

  /// Reads the name in a field.
  package func name(of field: Field) throws(ArchiveError) -> String {
    text(of: try nameKey(of: field))
  }

  /// Reads the number of the name in a field; nil if the name has none, because it is
  /// written inline.
  package func nameSymbol(of field: Field) throws(ArchiveError) -> UInt32? {
    guard case .symbol(let number) = try nameKey(of: field) else { return nil }
    return number
  }

  private func nameKey(of field: Field) throws(ArchiveError) -> ValueKey {
    guard let name = field.value.header.key else {
      throw locate(field.value.mismatch("name"), field)
    }
    return name
  }

  /// Reads the identifier of the record that the reference in a field names.
  package func reference(of field: Field) throws(ArchiveError) -> UInt64 {
    do {
      return try field.value.readReference()
    } catch {
      throw locate(error, field)
    }
  }

  /// Reads the identifiers of the records that the references in a field name, in order.
  package func forEachReference(
    of field: Field, _ body: (UInt64) -> Void
  ) throws(ArchiveError) {
    let array = field.value
    guard array.header.kind == .array else { throw locate(array.mismatch("array"), field) }
    let stored = block.bytes
    let bytes = stored.span.extracting(record)
    do {
      var offset = array.header.payload.lowerBound
      while offset < array.end {
        let element = try ValueReader(bytes, at: offset)
        body(try element.readReference())
        offset = element.end
      }
    } catch {
      throw locate(error, field)
    }
  }

  @usableFromInline
  func locate(_ error: ArchiveError, _ field: Field) -> ArchiveError { error.at(key(of: field)) }
}
