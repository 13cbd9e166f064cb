#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Finds entries of one map by their names.
///
/// Types ask for their fields in the order in which they were written, so it
/// goes on from the last one; or it is that one once more, tried as another
/// type. Where both fail and the map is large, it notes once where all entries
/// are, so that no record can make it search for long.
final class MapEntries {
  let session: DecodingSession
  /// Where the map itself begins.
  let offset: Int
  private let bytes: [UInt8]
  private let payload: Range<Int>
  private let count: Int
  /// Where the last entry that came in order begins.
  private var last: Int
  /// Where the entry after the last one begins.
  private var next: Int
  private var table: FieldOffsets?

  private static let longestScan = 32

  /// The bytes of memory that the names of a map and a table may take.
  static func memory(_ count: Int) -> Int {
    count <= longestScan ? 0 : count * DecodedMemory.entry
  }

  init(_ session: DecodingSession, _ map: ValueReader) {
    self.session = session
    offset = map.offset
    bytes = session.bytes
    payload = map.header.payload
    count = map.header.count
    next = payload.lowerBound
    last = next
  }

  /// The names in stored order.
  ///
  /// - Complexity: O(*n*) in the size of the map.
  var names: [String] {
    var names: [String] = []
    names.reserveCapacity(count)
    visit { key, _ in names.append(session.name(of: key)) }
    return names
  }

  func contains(_ name: String) -> Bool {
    let record = bytes
    return find(name, in: record.span) != nil
  }

  /// The value under a name, nil if there is none.
  func value(_ name: String) throws -> ValueReader? {
    let record = bytes
    return try value(name, in: record.span)
  }

  /// Reads the value under a name, nil if there is none.
  func read<Value: ArchiveValue>(_ type: Value.Type, _ name: String) throws -> Value? {
    let record = bytes
    let bytes = record.span
    guard let value = try value(name, in: bytes) else { return nil }
    return try session.read(type, from: value, in: bytes)
  }

  /// Decodes the value under a name, by the form of its type.
  func decode<Value: Decodable>(
    _ type: Value.Type, _ name: String, orThrow missing: () -> any Error
  ) throws -> Value {
    let record = bytes
    let bytes = record.span
    guard let value = try value(name, in: bytes) else { throw missing() }
    // What many fields are; reading by a type that is known only now takes 40 ns
    // more (benchmark: open and decode Codable nodes).
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

  private func value(_ name: String, in bytes: Span<UInt8>) throws -> ValueReader? {
    let reader: ValueReader
    if let offset = match(name, at: next, in: bytes) {
      last = next
      reader = try session.reader(at: offset, in: bytes)
    } else if let offset = match(name, at: last, in: bytes) ?? search(name, in: bytes) {
      reader = try session.reader(at: offset, in: bytes)
    } else {
      return nil
    }
    next = reader.end
    return reader
  }

  private func find(_ name: String, in bytes: Span<UInt8>) -> Int? {
    match(name, at: next, in: bytes) ?? match(name, at: last, in: bytes)
      ?? search(name, in: bytes)
  }

  /// Where the value of the entry at a place begins, if it has this name.
  private func match(_ name: String, at place: Int, in bytes: Span<UInt8>) -> Int? {
    var cursor = ByteCursor(bytes, from: place, to: payload.upperBound)
    guard !cursor.isAtEnd, let key = try? cursor.readKey(bytes), isEqual(key, name, in: bytes)
    else { return nil }
    return cursor.offset
  }

  private func search(_ name: String, in bytes: Span<UInt8>) -> Int? {
    guard count > Self.longestScan else {
      var found: Int?
      visit { key, offset in if isEqual(key, name, in: bytes) { found = offset } }
      return found
    }
    // The record was checked, so its entries can be read.
    guard let table = table ?? (try? makeTable(bytes)) else { return nil }
    self.table = table
    return table.offset(of: name, session.symbols, in: bytes)
  }

  private func makeTable(_ bytes: Span<UInt8>) throws(ArchiveError) -> FieldOffsets {
    try FieldOffsets(
      of: ValueReader(bytes, at: offset), in: bytes, symbolCount: session.names.count)
  }

  private func visit(_ body: (ValueKey, Int) -> Void) {
    let record = bytes
    let bytes = record.span
    var cursor = ByteCursor(bytes, from: payload.lowerBound, to: payload.upperBound)
    // The record was checked, so the entries can be read.
    while !cursor.isAtEnd,
      let key = try? cursor.readKey(bytes)
    {
      let offset = cursor.offset
      guard (try? cursor.readValueHeader(bytes)) != nil else { return }
      body(key, offset)
    }
  }

  private func isEqual(_ key: ValueKey, _ name: String, in bytes: Span<UInt8>) -> Bool {
    switch key {
    case .symbol(let symbol): session.names[Int(symbol)].hasSameBytes(as: name)
    case .inline(let range): bytes.extracting(range).isEqual(to: name.utf8.span)
    }
  }
}
