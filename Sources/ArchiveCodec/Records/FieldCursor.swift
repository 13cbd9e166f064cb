/// A place among the values of a record or container, which moves on with each value that is read.
///
/// A reader of many records of one kind moves one cursor over them: a key is compared
/// with the next stored one, and usually found there (benchmark: restore nodes).
@usableFromInline
package struct FieldCursor: Sendable {
  /// The values that the cursor moves over.
  @usableFromInline package let values: KeyedDecoder
  /// The bytes of the record once more: the decoder would be retained for each key.
  @usableFromInline let bytes: [UInt8]
  @usableFromInline let record: Range<Int>
  @usableFromInline var position: EntryPosition
  /// Whether the position is at the value that was found last, and not after it.
  @usableFromInline var isBeforeValue = false

  /// A cursor before the first value.
  package init(_ values: KeyedDecoder) {
    self.values = values
    (bytes, record) = (values.block.bytes, values.record)
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
    let bytes = bytes.span.extracting(record)
    let end = values.entries.payload.upperBound
    guard let next = bytes.shortSymbol(at: position.offset, before: end),
      values.block.symbols.names[next.symbol].hasSameRepresentation(as: key)
    else { return nil }
    return next.end
  }

  /// Moves on behind the value that was found, which ends at an offset.
  @inlinable
  package mutating func advance(to end: Int) {
    position = EntryPosition(offset: end, place: position.place)
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
      let value = try Value.read(at: &end, in: bytes.span.extracting(record))
      advance(to: end)
      return value
    } catch {
      throw values.locate(error, key)
    }
  }

  /// Moves behind the value that was found, if its end is not known yet.
  @inline(never)
  private mutating func finishValue() throws(ArchiveError) {
    let stored = bytes
    let bytes = stored.span.extracting(record)
    var cursor = ByteCursor(bytes, from: position.offset, to: values.entries.payload.upperBound)
    try cursor.skipValue(bytes)
    advance(to: cursor.offset)
  }

  @inline(never)
  private mutating func find(_ key: String) -> StoredMap.Entry? {
    let (stored, symbols) = (bytes, values.block.symbols)
    let bytes = stored.span.extracting(record)
    return values.entries.find(key, from: position, in: bytes, symbols)
  }
}
