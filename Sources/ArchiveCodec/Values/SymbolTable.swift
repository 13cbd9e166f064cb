/// The field names of an archive in the order of their first use.
struct SymbolTable: Sendable {
  private(set) var names: [String] = []
  private var numbers: [String: UInt32] = [:]
  private var byteCount = 0

  func number(of name: String) -> UInt32? {
    numbers[name]
  }

  /// The number of a name, new if needed; nil when the table is full.
  ///
  /// A name that was once refused stays refused: the table only fills up.
  mutating func intern(_ name: String, limits: ArchiveLimits) -> UInt32? {
    if let number = numbers[name] { return number }
    guard
      names.count < limits.symbolCount,
      byteCount + name.utf8.count <= limits.symbolByteCount
    else { return nil }
    let number = UInt32(names.count)
    names.append(name)
    numbers[name] = number
    byteCount += name.utf8.count
    return number
  }

  /// Takes back the newest names, so that an abandoned record leaves no trace.
  mutating func truncate(to count: Int) {
    guard count < names.count else { return }
    for name in names[count...] {
      numbers[name] = nil
      byteCount -= name.utf8.count
    }
    names.removeSubrange(count...)
  }
}

extension SymbolTable {
  /// The payload of a symbols frame with the names from a number on: count,
  /// then each name with its length.
  func encoded(from first: Int) -> [UInt8] {
    var writer = ByteWriter()
    writer.writeVarint(UInt64(names.count - first))
    for name in names[first...] {
      writer.writeVarint(UInt64(name.utf8.count))
      writer.write(name.utf8)
    }
    return writer.bytes
  }

  /// Adds the names of a symbols frame, which must all be new.
  mutating func append(decoding payload: [UInt8], limits: ArchiveLimits) throws(ArchiveError) {
    var reader = ByteReader(payload)
    let count = try reader.readCount()
    guard count <= limits.symbolCount, payload.count <= limits.symbolByteCount * 2 else {
      throw ArchiveError(.limitExceeded, subject: "symbols")
    }
    for _ in 0..<count {
      let start = reader.offset
      let length = try reader.readCount()
      guard length <= limits.keyByteCount else {
        throw ArchiveError(.limitExceeded, offset: start, subject: "bytes of a key")
      }
      let name = try reader.readString(count: length)
      guard numbers[name] == nil, intern(name, limits: limits) != nil else {
        throw reader.malformed(at: start)
      }
    }
    guard reader.isAtEnd else { throw reader.malformed(at: reader.offset) }
  }
}
