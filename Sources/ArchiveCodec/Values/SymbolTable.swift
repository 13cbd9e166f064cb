/// The field names of an archive in the order of their first use.
struct SymbolTable: Sendable {
  private(set) var names: [String] = []
  private(set) var byteCount = 0
  private var numbers: [ByteName: UInt32] = .init()
  private(set) var numbering = Numbering()

  /// The common origin of a table and the tables that grew from it: a name that one of
  /// them had when they parted has one number in all.
  final class Numbering: Sendable {}

  /// Whether the names are the same, with the same numbers.
  func hasSameNames(as other: SymbolTable) -> Bool {
    names.elementsEqual(other.names) { $0.hasSameBytes(as: $1) }
  }

  /// The same names, with a numbering of their own: what was built with another table does not continue them.
  var renumbered: SymbolTable {
    var table = self
    table.numbering = Numbering()
    return table
  }

  func number(of name: String) -> UInt32? { numbers[ByteName(name)] }

  /// The number of a name, a new one if needed; nil when the table is full.
  ///
  /// A name that was once refused stays refused: the table only fills up.
  mutating func intern(_ name: String, limits: ArchiveLimits) -> UInt32? {
    if let number = number(of: name) { return number }
    return append(name, limits) ? UInt32(names.count - 1) : nil
  }

  /// Gives a new name the next number; false if there are too many.
  private mutating func append(_ name: String, _ limits: ArchiveLimits) -> Bool {
    let total = byteCount + name.utf8.count
    guard names.count < limits.symbolCount, total <= limits.symbolByteCount else { return false }
    numbers[ByteName(name)] = UInt32(names.count)
    names.append(name)
    byteCount = total
    return true
  }

  /// Removes the newest names, so that an abandoned record leaves no trace.
  mutating func truncate(to count: Int) {
    while names.count > count {
      let name = names.removeLast()
      numbers[ByteName(name)] = nil
      byteCount -= name.utf8.count
    }
  }

  /// The payload of a symbols frame with the names from a number on: count,
  /// then each name with its length.
  func encoded(from first: Int) -> [UInt8] {
    let writer = ByteBuffer()
    writer.writeVarint(UInt64(names.count - first))
    for name in names[first...] {
      writer.writeVarint(UInt64(name.utf8.count))
      writer.write(name.utf8)
    }
    return writer.bytes
  }

  /// Adds the names of a symbols frame, which must all be new.
  mutating func append(decoding payload: [UInt8], limits: ArchiveLimits) throws(ArchiveError) {
    let bytes = payload.span
    var reader = ByteCursor(bytes, over: payload.indices)
    let count = try reader.readCount(bytes)
    guard count <= limits.symbolCount, payload.count <= limits.symbolByteCount * 2 else {
      throw ArchiveError(.limitExceeded, subject: "symbols")
    }
    // Each name takes a byte at least, so there are no more than bytes that are left. An array grows to no more than
    // it is asked for, and would move with each commit.
    if names.isEmpty { names.reserveCapacity(count) }
    numbers.reserveCapacity(names.count + count)
    for _ in 0..<count {
      let start = reader.offset
      let length = try reader.readCount(bytes)
      guard length <= limits.keyByteCount else {
        throw ArchiveError(.limitExceeded, offset: start, subject: "bytes of a key")
      }
      let range = try reader.readRange(count: length)
      guard bytes.isUTF8(range) else { throw reader.malformed(at: range.lowerBound) }
      let name = bytes.text(range)
      guard number(of: name) == nil, append(name, limits) else { throw reader.malformed(at: start) }
    }
    guard reader.isAtEnd else { throw reader.malformed(at: reader.offset) }
  }
}
