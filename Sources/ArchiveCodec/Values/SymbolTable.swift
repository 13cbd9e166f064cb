/// The field names of an archive in the order of their first use.
///
/// The table is one reference, because every decoder of a record has one.
struct SymbolTable: Sendable {
  private var storage = Storage(NumberedNames(), Numbering())

  init() {}

  // The names change only in a storage with one owner.
  private final class Storage: @unchecked Sendable {
    private(set) var names: NumberedNames
    let numbering: Numbering

    init(_ names: NumberedNames, _ numbering: Numbering) {
      (self.names, self.numbering) = (names, numbering)
    }

    /// Moves the names to a local variable for the change, so that reading them, which is far
    /// more frequent, needs no exclusivity check.
    func change<Result, Failure: Error>(
      _ body: (inout NumberedNames) throws(Failure) -> Result
    ) throws(Failure) -> Result {
      var changed = names
      names = NumberedNames()
      defer { names = changed }
      return try body(&changed)
    }
  }

  /// The common origin of a table and the tables that grew from it: a name that one of
  /// them had when they parted has one number in all.
  final class Numbering: Sendable {}

  var numbering: Numbering { storage.numbering }

  var names: [String] { storage.names.names }
  var byteCount: Int { storage.names.byteCount }

  /// Whether the names are the same, with the same numbers.
  func hasSameNames(as other: SymbolTable) -> Bool {
    names.elementsEqual(other.names) { $0.hasSameBytes(as: $1) }
  }

  /// The same names, with a numbering of their own: what was built with another table does not continue them.
  var renumbered: SymbolTable {
    var table = SymbolTable()
    table.storage = Storage(storage.names, Numbering())
    return table
  }

  func number(of name: String) -> UInt32? {
    storage.names.number(of: name, NumberedNames.hash(name))
  }

  /// The number of a name, a new one if needed; nil when the table is full.
  ///
  /// A name that was once refused stays refused: the table only fills up.
  mutating func intern(_ name: String, limits: ArchiveLimits) -> UInt32? {
    let hash = NumberedNames.hash(name)
    if let number = storage.names.number(of: name, hash) { return number }
    makeUnique()
    return storage.change { $0.append(name, hash, limits: limits) } ? UInt32(names.count - 1) : nil
  }

  /// Removes the newest names, so that an abandoned record leaves no trace.
  mutating func truncate(to count: Int) {
    guard count < names.count else { return }
    makeUnique()
    storage.change { $0.truncate(to: count) }
  }

  private mutating func makeUnique() {
    guard !isKnownUniquelyReferenced(&storage) else { return }
    storage = Storage(storage.names, storage.numbering)
  }
}

extension SymbolTable {
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
    var reader = ByteReader(payload)
    let count = try reader.readCount()
    guard count <= limits.symbolCount, payload.count <= limits.symbolByteCount * 2 else {
      throw ArchiveError(.limitExceeded, subject: "symbols")
    }
    makeUnique()
    try storage.change { (names) throws(ArchiveError) in
      // Each name takes a byte at least, so there are no more than bytes that are left.
      names.reserve(count)
      for _ in 0..<count {
        let start = reader.offset
        let length = try reader.readCount()
        guard length <= limits.keyByteCount else {
          throw ArchiveError(.limitExceeded, offset: start, subject: "bytes of a key")
        }
        let name = try reader.readString(count: length)
        guard names.append(name, NumberedNames.hash(name), limits: limits) else {
          throw reader.malformed(at: start)
        }
      }
    }
    guard reader.isAtEnd else { throw reader.malformed(at: reader.offset) }
  }
}
