internal import RestorationFoundation

/// Finds entries of one map by their names.
///
/// Types ask for their fields in the order in which they were written, so the search
/// goes on from the last entry. A type may also ask for the last entry once more, as
/// another type.
final class MapEntries {
  let session: DecodingSession
  /// Where the map itself begins.
  let offset: Int
  // From the session, which would be retained for each entry.
  private let bytes: [UInt8]
  private let record: Range<Int>
  private let names: [String]
  private let map: StoredMap
  /// Where the last entry that came in order begins.
  private var last: EntryPosition
  /// Where the entry after the last one begins.
  private var next: EntryPosition

  init(_ session: DecodingSession, _ map: ValueReader) {
    self.session = session
    offset = map.offset
    let block = session.bytes
    self.map = StoredMap(map, in: block.span.extracting(session.record))
    (bytes, record, names) = (block, session.record, session.symbols.names)
    next = self.map.start
    last = next
  }

  /// The names in stored order.
  ///
  /// - Complexity: O(*n*) in the size of the map.
  var keys: [String] {
    let block = bytes
    return map.names(in: block.span.extracting(record), names)
  }

  func contains(_ name: String) -> Bool {
    let block = bytes
    return find(name, in: block.span.extracting(record)) != nil
  }

  /// The value under a name, nil if there is none.
  func value(_ name: String) throws -> ValueReader? {
    let block = bytes
    return try value(name, in: block.span.extracting(record))
  }

  /// Reads the value under a name, nil if there is none.
  func read<Value: ArchiveValue>(_ type: Value.Type, _ name: String) throws -> Value? {
    let block = bytes
    let bytes = block.span.extracting(record)
    guard let value = try value(name, in: bytes) else { return nil }
    return try session.read(type, from: value, in: bytes)
  }

  /// Decodes the value under a name, by the form of its type; nil if there is none.
  func decode<Value: Decodable>(_ type: Value.Type, _ name: String) throws -> Value? {
    let block = bytes
    let bytes = block.span.extracting(record)
    guard let value = try value(name, in: bytes) else { return nil }
    // Many fields are dates; reading by a type that is known only at run time takes 40
    // ns more (benchmark: open and decode Codable nodes).
    if type == Date.self {
      return try same(try session.read(Date.self, from: value, in: bytes), as: type)
    }
    if type == Data.self {
      return try same(try session.read(Data.self, from: value, in: bytes), as: type)
    }
    if type == [Int].self {
      return try same(try session.read([Int].self, from: value, in: bytes), as: type)
    }
    return try session.decode(type, from: value, nil)
  }

  @inline(__always)
  private func value(_ name: String, in bytes: Span<UInt8>) throws -> ValueReader? {
    guard let entry = find(name, in: bytes) else { return nil }
    if entry.start == next.offset { last = next }
    let reader = try session.reader(at: entry.value, in: bytes)
    next = EntryPosition(offset: reader.end, place: entry.place + 1)
    return reader
  }

  @inline(__always)
  private func find(_ name: String, in bytes: Span<UInt8>) -> StoredMap.Entry? {
    map.match(name, at: next, in: bytes, names) ?? map.match(name, at: last, in: bytes, names)
      ?? map.find(name, from: next, in: bytes, session.symbols)
  }
}
