// The standard library writes sets and dictionaries in hash order, which differs from
// process to process. Here equal values have equal bytes.

extension Set: ReshapedEncodable where Element: Encodable {
  func encodeReshaped(to encoder: ValueEncoder) throws {
    try encoder.writeSorted(self, mayHaveFields: !(Element.self is any ArchiveValue.Type)) {
      try $1.encode($0)
    }
  }
}

extension Set: ReshapedDecodable where Element: Decodable {
  /// Reads a set as the standard library does, but refuses a text that takes too long to hash.
  static func decodeReshaped(from decoder: ValueDecoder) throws -> Self {
    try decoder.session.checkTexts(of: try decoder.reader(), for: Self.self)
    return try Self(from: decoder)
  }
}

extension Dictionary: ReshapedDecodable where Key: Decodable, Value: Decodable {
  /// Reads a dictionary as the standard library does, but loses no entry whose key
  /// equals another one in Swift, and hashes no key that takes too long.
  static func decodeReshaped(from decoder: ValueDecoder) throws -> Self {
    if Key.self == String.self {
      return try same(try [String: Value](entriesOf: decoder), as: Self.self)
    }
    let reader = try decoder.reader()
    try decoder.session.checkTexts(of: reader, everyOther: true, for: Self.self)
    try decoder.session.checkKeys(of: reader, for: Self.self)
    let entries = try Self(from: decoder)
    guard reader.header.kind != .map || entries.count == reader.header.count else {
      throw decoder.session.decodingError(reader.equalKeys, Self.self, reader)
    }
    return entries
  }
}

extension Dictionary where Key == String, Value: Decodable {
  /// Reads the entries in place: a container would make all names first, and then find
  /// each again (benchmark: decode probed values).
  fileprivate init(entriesOf decoder: ValueDecoder) throws {
    let map = try decoder.map()
    let session = decoder.session
    let block = session.bytes
    let bytes = block.span.extracting(session.record)
    self.init()
    // Further memory is reserved while entries come, since each entry is counted only then.
    reserveCapacity(Swift.min(map.header.count, 1 << 10))
    var cursor = ByteCursor(bytes, over: map.header.payload)
    while !cursor.isAtEnd {
      let key = session.name(of: try cursor.readKey(bytes))
      guard !CombiningMarks.areTooMany(in: key) else {
        throw session.decodingError(CombiningMarks.error(at: cursor.offset), Self.self, map)
      }
      let value = try session.reader(at: cursor.offset, in: bytes)
      self[key] = try session.decode(Value.self, from: value, nil)
      cursor.offset = value.end
    }
    guard count == map.header.count else {
      throw session.decodingError(map.equalKeys, Self.self, map)
    }
  }
}

extension Dictionary: ReshapedEncodable where Key: Encodable, Value: Encodable {
  /// Writes a map if the keys can be names, as the standard library does, and
  /// an array of keys and values in turns otherwise.
  func encodeReshaped(to encoder: ValueEncoder) throws {
    guard Key.self is any CodingKeyRepresentable.Type else {
      let areDirect = Key.self is any ArchiveValue.Type && Value.self is any ArchiveValue.Type
      return try encoder.writeSorted(self, mayHaveFields: !areDirect, hashesEveryOther: true) {
        entry, elements in
        try elements.encode(entry.key)
        try elements.encode(entry.value)
      }
    }
    try encoder.writeDictionary(
      map { ((($0 as? any CodingKeyRepresentable)?.codingKey.stringValue) ?? "", $1) })
  }
}

extension ValueEncoder {
  /// Writes an array of entries in the order of their bytes.
  ///
  /// Reading hashes all values of the array, or every other one.
  ///
  /// The numbers of field names depend on the order in which the names come first. So
  /// if there may be fields, the order is found with names inline. Then the entries are
  /// written in that order, and sorted once more.
  func writeSorted<Entries: Collection>(
    _ entries: Entries, mayHaveFields: Bool, hashesEveryOther: Bool = false,
    _ encode: (Entries.Element, UnkeyedValueEncoder) throws -> Void
  ) throws {
    var entries = Array(entries)
    if mayHaveFields, !writer.symbols.isInline {
      entries = try session.withInlineNames(like: writer) { writer in
        try entries.map { entry in
          let encoder = ValueEncoder(session, writer, parent: self)
          let start = writer.mark
          defer { writer.goBack(to: start) }
          encoder.openArray()
          try encode(entry, UnkeyedValueEncoder(encoder: encoder))
          return (bytes: writer.output.bytes(from: start.byteCount), entry: entry)
        }
      }.ordered { $0.bytes.lexicographicallyPrecedes($1.bytes) }.map(\.entry)
    }
    openArray()
    let elements = UnkeyedValueEncoder(encoder: self)
    let start = writer.output.count
    var ends: [Int] = []
    ends.reserveCapacity(entries.count)
    for entry in entries {
      try encode(entry, elements)
      ends.append(writer.output.count)
    }
    try checkTexts(from: start, everyOther: hashesEveryOther)
    writer.output.sortRuns(from: start, endingAt: ends)
  }

  /// Writes a map with inline keys in the order of their bytes.
  func writeDictionary<Value: Encodable>(_ entries: [(key: String, value: Value)]) throws {
    openMap()
    let sorted = entries.ordered { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    var last: String?
    for entry in sorted {
      // Two keys of another type than String may have one name.
      guard last.map(entry.key.hasSameBytes) != true else {
        throw misuse("with the same key as another one")
      }
      last = entry.key
      guard !CombiningMarks.areTooMany(in: entry.key) else { throw CombiningMarks.error() }
      try writeEntry(entry.value, under: PathKey.name(entry.key), isInline: true) {
        try write(entry.value, at: PathKey.name(entry.key))
      }
    }
  }
}

extension ByteBuffer {
  /// Puts pieces of the bytes after `start` in the order of their bytes.
  fileprivate func sortRuns(from start: Int, endingAt ends: [Int]) {
    let tail = bytes(from: start)
    let runs = ends.indices.map { (index: Int) in
      tail[(index == 0 ? 0 : ends[index - 1] - start)..<ends[index] - start]
    }
    truncate(to: start)
    for run in runs.sorted(by: { $0.lexicographicallyPrecedes($1) }) { write(run) }
  }
}
