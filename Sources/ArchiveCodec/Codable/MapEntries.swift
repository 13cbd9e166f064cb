internal import RestorationFoundation

/// Finds entries of one map by their names.
///
/// Types ask for their fields in the order in which they were written, so the search
/// goes on from the last entry. A type may also ask for the last entry once more, as
/// another type. If both guesses fail and the map is large, the positions of all
/// entries are noted once, so that no record can make the search long.
final class MapEntries {
  let session: DecodingSession
  /// Where the map itself begins.
  let offset: Int
  private let bytes: [UInt8]
  private let names: [String]
  private let record: Range<Int>
  /// Where the entries end.
  private let end: Int
  /// Changed when the map gets a table, so the properties above hold what most fields need.
  private var map: StoredMap
  /// Where the last entry that came in order begins.
  private var last: EntryPosition
  /// Where the entry after the last one begins.
  private var next: EntryPosition

  /// The bytes of memory that the names of a map and a table may take.
  static func memory(_ count: Int) -> Int {
    count <= StoredMap.longestScan ? 0 : count * DecodedMemory.entry
  }

  init(_ session: DecodingSession, _ map: ValueReader) {
    self.session = session
    offset = map.offset
    bytes = session.bytes
    names = session.names
    record = session.record
    end = map.end
    self.map = StoredMap(map)
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
    if type == [String].self {
      return try same(try session.read([String].self, from: value, in: bytes), as: type)
    }
    guard case .direct(let direct) = session.form(of: type) else {
      return try session.decode(type, from: value, nil)
    }
    return try session.read(direct, as: type, from: value, in: bytes)
  }

  @inline(__always)
  private func value(_ name: String, in bytes: Span<UInt8>) throws -> ValueReader? {
    let entry: StoredMap.Entry
    if let following = match(name, at: next, in: bytes) {
      last = next
      entry = following
    } else if let other = match(name, at: last, in: bytes) ?? search(name, in: bytes) {
      entry = other
    } else {
      return nil
    }
    let reader = try session.reader(at: entry.value, in: bytes)
    next = EntryPosition(offset: reader.end, place: entry.place + 1)
    return reader
  }

  private func find(_ name: String, in bytes: Span<UInt8>) -> StoredMap.Entry? {
    match(name, at: next, in: bytes) ?? match(name, at: last, in: bytes)
      ?? search(name, in: bytes)
  }

  /// The entry at a position, if it has this name.
  @inline(__always)
  private func match(
    _ name: String, at position: EntryPosition, in bytes: Span<UInt8>
  ) -> StoredMap.Entry? {
    StoredMap.match(name, at: position, before: end, in: bytes, names)
  }

  @inline(never)
  private func search(_ name: String, in bytes: Span<UInt8>) -> StoredMap.Entry? {
    // The record was checked, so its entries can be read.
    if map.isWithoutTable, let reader = try? ValueReader(bytes, at: offset),
      let map = try? StoredMap(reader, in: bytes, symbolCount: names.count)
    {
      self.map = map
    }
    return map.find(name, from: next, in: bytes, session.symbols, names)
  }
}
