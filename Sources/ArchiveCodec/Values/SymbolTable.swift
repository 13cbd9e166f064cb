/// The field names of an archive in the order of their first use, found by a table of places.
///
/// For a dictionary the system looks for the way to hash its keys, once in a process for each type of
/// keys. For this type that took a sixth of opening the first archive of a process.
struct SymbolTable: Sendable {
  private(set) var names: [String] = []
  private(set) var byteCount = 0
  /// Each number plus one, at the first place that was free from that of its name on; at least half
  /// of the places have a zero.
  private var places: [UInt32] = []
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

  /// The hash depends on a secret of the process, so no choice of names makes them collide.
  private static func hash(_ name: String) -> Int { ByteName(name).hashValue }

  func number(of name: String) -> UInt32? { number(of: name, Self.hash(name)) }

  private func number(of name: String, _ hash: Int) -> UInt32? {
    guard !names.isEmpty else { return nil }
    let found = places[place(of: name, hash)]
    return found == 0 ? nil : found - 1
  }

  /// The number of a name, a new one if needed; nil when the table is full.
  ///
  /// A name that was once refused stays refused: the table only fills up.
  mutating func intern(_ name: String, limits: ArchiveLimits) -> UInt32? {
    let hash = Self.hash(name)
    if let number = number(of: name, hash) { return number }
    return append(name, hash, limits) ? UInt32(names.count - 1) : nil
  }

  /// Gives a name with its hash the next number; false if it has one, or if there are too many.
  private mutating func append(_ name: String, _ hash: Int, _ limits: ArchiveLimits) -> Bool {
    let total = byteCount + name.utf8.count
    guard names.count < limits.symbolCount, total <= limits.symbolByteCount else { return false }
    makePlaces(for: names.count + 1)
    let place = place(of: name, hash)
    guard places[place] == 0 else { return false }
    names.append(name)
    places[place] = UInt32(names.count)
    byteCount = total
    return true
  }

  /// Removes the newest names, so that an abandoned record leaves no trace; no other name has
  /// passed their places.
  mutating func truncate(to count: Int) {
    while names.count > count, let name = names.last {
      places[place(of: name, Self.hash(name))] = 0
      byteCount -= name.utf8.count
      names.removeLast()
    }
  }

  /// The place with the number of a name, or the free one where the number would be.
  private func place(of name: String, _ hash: Int) -> Int {
    var place = hash & (places.count - 1)
    while places[place] > 0, !names[Int(places[place]) - 1].hasSameBytes(as: name) {
      place = (place + 1) & (places.count - 1)
    }
    return place
  }

  /// Makes places for as many names, twice as many as these or more, and room for the names.
  private mutating func makePlaces(for count: Int) {
    guard count * 2 > places.count else { return }
    var placeCount = 16
    while placeCount < count * 2 { placeCount *= 2 }
    names.reserveCapacity(placeCount / 2)
    places = Array(repeatElement(0, count: placeCount))
    for (number, name) in names.enumerated() {
      places[place(of: name, Self.hash(name))] = UInt32(number + 1)
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
    var reader = ByteReader(payload)
    let count = try reader.readCount()
    guard count <= limits.symbolCount, payload.count <= limits.symbolByteCount * 2 else {
      throw ArchiveError(.limitExceeded, subject: "symbols")
    }
    // Each name takes a byte at least, so there are no more than bytes that are left.
    makePlaces(for: names.count + count)
    for _ in 0..<count {
      let start = reader.offset
      let length = try reader.readCount()
      guard length <= limits.keyByteCount else {
        throw ArchiveError(.limitExceeded, offset: start, subject: "bytes of a key")
      }
      let name = try reader.readString(count: length)
      guard append(name, Self.hash(name), limits) else { throw reader.malformed(at: start) }
    }
    guard reader.isAtEnd else { throw reader.malformed(at: reader.offset) }
  }
}
