/// The field names of an archive in the order of their first use.
///
/// The table is one reference, because every decoder of a record has one.
struct SymbolTable: Sendable {
  private var storage = Storage()

  init() {}

  // The names and numbers change only in a storage with one owner.
  private final class Storage: @unchecked Sendable {
    private(set) var names: [String] = []
    private(set) var numbers: [ByteName: UInt32] = [:]
    let numbering: Numbering
    var byteCount = 0

    init() {
      numbering = Numbering()
    }

    /// Moves both to local variables for the change, so that reading them, which is far
    /// more frequent, needs no exclusivity check.
    func change<Failure: Error>(
      _ body: (inout [String], inout [ByteName: UInt32]) throws(Failure) -> Void
    ) throws(Failure) {
      var (names, numbers) = (self.names, self.numbers)
      (self.names, self.numbers) = ([], [:])
      defer { (self.names, self.numbers) = (names, numbers) }
      try body(&names, &numbers)
    }

    init(copying other: Storage) {
      names = other.names
      numbers = other.numbers
      numbering = other.numbering
      byteCount = other.byteCount
    }
  }

  /// The common origin of a table and the tables that grew from it: a name that one of
  /// them had when they parted has one number in all.
  final class Numbering: Sendable {}

  var numbering: Numbering { storage.numbering }

  var names: [String] { storage.names }

  /// Whether the names are the same, with the same numbers.
  func hasSameNames(as other: SymbolTable) -> Bool {
    names.elementsEqual(other.names) { $0.hasSameBytes(as: $1) }
  }

  func number(of name: String) -> UInt32? {
    storage.numbers[ByteName(name)]
  }

  /// The number of a name, a new one if needed; nil when the table is full.
  ///
  /// A name that was once refused stays refused: the table only fills up.
  mutating func intern(_ name: String, limits: ArchiveLimits) -> UInt32? {
    if let number = storage.numbers[ByteName(name)] { return number }
    guard
      storage.names.count < limits.symbolCount,
      storage.byteCount + name.utf8.count <= limits.symbolByteCount
    else { return nil }
    makeUnique()
    let number = UInt32(storage.names.count)
    storage.change { names, numbers in
      names.append(name)
      numbers[ByteName(name)] = number
    }
    storage.byteCount += name.utf8.count
    return number
  }

  /// Removes the newest names, so that an abandoned record leaves no trace.
  mutating func truncate(to count: Int) {
    guard count < storage.names.count else { return }
    makeUnique()
    storage.byteCount -= storage.names[count...].reduce(0) { $0 + $1.utf8.count }
    storage.change { names, numbers in
      for name in names[count...] { numbers[ByteName(name)] = nil }
      names.removeSubrange(count...)
    }
  }

  private mutating func makeUnique() {
    if !isKnownUniquelyReferenced(&storage) { storage = Storage(copying: storage) }
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
    var byteCount = storage.byteCount
    defer { storage.byteCount = byteCount }
    try storage.change { (names, numbers) throws(ArchiveError) in
      if names.isEmpty {
        // No more than the payload has room for.
        names.reserveCapacity(min(count, payload.count))
        numbers.reserveCapacity(min(count, payload.count))
      }
      for _ in 0..<count {
        let start = reader.offset
        let length = try reader.readCount()
        guard length <= limits.keyByteCount else {
          throw ArchiveError(.limitExceeded, offset: start, subject: "bytes of a key")
        }
        let name = try reader.readString(count: length)
        guard names.count < limits.symbolCount, byteCount + length <= limits.symbolByteCount,
          numbers.updateValue(UInt32(names.count), forKey: ByteName(name)) == nil
        else { throw reader.malformed(at: start) }
        names.append(name)
        byteCount += length
      }
    }
    guard reader.isAtEnd else { throw reader.malformed(at: reader.offset) }
  }
}
