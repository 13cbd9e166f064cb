/// Writes the values of one record, each under a key.
///
/// It is made for one record by ``RecordBuilder`` and closed with it. A key
/// that is encoded twice keeps its last value; nil writes nothing, so that the
/// key is absent. What cannot be stored is thrown when the record is finished.
///
///     try builder.append(record: 1) { encoder in
///       encoder.encode("Blender", forKey: "title")
///       encoder.encode([3.5, 4.0], forKey: "position")
///     }
public final class KeyedEncoder {
  private let builder: RecordBuilder
  private var map = OpenMap(start: 0)
  private(set) var isOpen = true

  init(_ builder: RecordBuilder) {
    self.builder = builder
  }

  private struct OpenMap {
    /// Where the first entry begins.
    let start: Int
    var count = 0
    var lastSymbol: UInt32?
    /// False once that an entry did not follow its predecessor in key order.
    var isInOrder = true
  }

  /// Writes a value under a key; nil writes nothing.
  ///
  /// - Parameters:
  ///   - value: A value of a type that the format has a form for.
  ///   - key: At most 1 KiB of UTF-8.
  /// - Complexity: O(*n*) in the size of the value.
  public func encode<Value: ArchiveValue>(_ value: Value?, forKey key: String) {
    guard let value, begin(key) else { return }
    value.write(to: &builder.writer)
  }

  /// Writes a reference to another record of the archive, which may come later.
  ///
  /// - Parameters:
  ///   - record: The identifier of the record.
  ///   - key: At most 1 KiB of UTF-8.
  public func encodeReference(to record: UInt64, forKey key: String) {
    guard begin(key) else { return }
    builder.writer.writeReference(to: record)
  }

  /// Writes references to other records, in their order.
  ///
  /// - Parameters:
  ///   - records: The identifiers of the records.
  ///   - key: At most 1 KiB of UTF-8.
  public func encodeReferences(to records: [UInt64], forKey key: String) {
    guard begin(key) else { return }
    let start = builder.writer.openContainer()
    for record in records { builder.writer.writeReference(to: record) }
    builder.writer.closeContainer(.array, count: records.count, from: start)
  }

  /// Writes a container of its own under a key.
  ///
  /// While the body runs, this encoder writes into the inner container. If the
  /// body throws, nothing of the container remains, and the error goes on.
  ///
  /// - Parameters:
  ///   - key: At most 1 KiB of UTF-8.
  ///   - body: Encodes the values of the container.
  /// - Throws: What `body` throws.
  public func encodeContainer<Failure: Error>(
    forKey key: String, _ body: (KeyedEncoder) throws(Failure) -> Void
  ) throws(Failure) {
    try undoing { () throws(Failure) in
      guard begin(key) else { return }
      let outer = map
      map = OpenMap(start: builder.writer.openContainer())
      try body(self)
      closeMap()
      map = outer
    }
  }

  /// Runs the body; if it throws, nothing that it encoded remains.
  ///
  /// - Parameter body: Encodes values with this encoder.
  /// - Throws: What `body` throws; ``ArchiveError`` with `limitExceeded` if
  ///   something in it is too large.
  public func attempt(_ body: () throws -> Void) throws {
    let failureBefore = builder.writer.failure
    builder.writer.failure = nil
    defer { builder.writer.failure = failureBefore ?? builder.writer.failure }
    try undoing {
      try body()
      if let failure = builder.writer.failure { throw failure }
    }
  }

  private func undoing<Failure: Error>(
    _ body: () throws(Failure) -> Void
  ) throws(Failure) {
    let before = (map, builder.mark)
    do {
      try body()
    } catch {
      (map, builder.mark) = before
      throw error
    }
  }

  func openMap() {
    map = OpenMap(start: builder.writer.openContainer())
  }

  func close() {
    closeMap()
    isOpen = false
  }

  func abandon() {
    isOpen = false
  }

  /// Writes the key; false if nothing may be written.
  private func begin(_ key: String) -> Bool {
    guard isOpen else {
      builder.writer.fail(ArchiveError(.encoderClosed, path: [key]))
      return false
    }
    guard key.utf8.count <= builder.limits.keyByteCount else {
      builder.writer.fail(ArchiveError(.limitExceeded, subject: "bytes of a key"))
      return false
    }
    if let symbol = builder.symbols.intern(key, limits: builder.limits) {
      builder.writer.output.writeKey(symbol: symbol)
      if let last = map.lastSymbol, last >= symbol { map.isInOrder = false }
      map.lastSymbol = symbol
    } else {
      builder.writer.output.writeKey(inline: key)
      map.isInOrder = false
    }
    map.count += 1
    return true
  }

  private func closeMap() {
    if !map.isInOrder {
      map.count = builder.writer.output.sortEntries(from: map.start)
    }
    builder.writer.closeContainer(.map, count: map.count, from: map.start)
  }
}

extension ByteWriter {
  /// Puts the entries of a map in key order and drops all but the last of
  /// equal keys; returns how many are left.
  fileprivate mutating func sortEntries(from start: Int) -> Int {
    struct Entry {
      let key: ValueKey
      let bytes: Range<Int>
    }
    // A copy of the map alone: a reference to all bytes would copy them all.
    var reader = ByteReader(Array(bytes[start...]))
    var entries: [Entry] = []
    while !reader.isAtEnd {
      let entryStart = reader.offset
      // These bytes were just written by this encoder, so they can be read.
      guard let key = try? reader.readKey(limits: .standard, symbolCount: .max),
        (try? reader.readValueHeader()) != nil
      else { break }
      entries.append(Entry(key: key, bytes: entryStart..<reader.offset))
    }
    let order = entries.indices.sorted { left, right in
      if reader.isOrdered(entries[left].key, before: entries[right].key) { return true }
      if reader.isOrdered(entries[right].key, before: entries[left].key) { return false }
      return left < right
    }
    var sorted: [UInt8] = []
    var count = 0
    for (place, index) in order.enumerated() {
      if place + 1 < order.count,
        !reader.isOrdered(entries[index].key, before: entries[order[place + 1]].key)
      {
        continue
      }
      sorted += reader.bytes[entries[index].bytes]
      count += 1
    }
    replace(start..<self.count, with: sorted)
    return count
  }
}

@available(*, unavailable, message: "an encoder belongs to the code that fills its record")
extension KeyedEncoder: Sendable {}
