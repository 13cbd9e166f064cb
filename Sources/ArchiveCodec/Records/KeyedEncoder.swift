/// Writes the values of one record, each under a key.
///
/// It is made for one record by ``RecordBuilder`` and closed with it. A key
/// that is encoded twice keeps its last value; nil writes nothing, so that the
/// key is absent. What cannot be stored is thrown when the record is finished,
/// as an ``ArchiveError`` with the keys that lead to it.
///
///     try builder.append(record: 1) { encoder in
///       encoder.encode("Blender", forKey: "title")
///       encoder.encode([3.5, 4.0], forKey: "position")
///     }
public final class KeyedEncoder {
  @usableFromInline let writer: ValueWriter
  let objects: WrittenObjects
  private var map = OpenMap()
  var isOpen = false

  init(_ writer: ValueWriter, _ objects: WrittenObjects) {
    self.writer = writer
    self.objects = objects
  }

  // Inlinable, so that the type is known where it is called: three times as
  // fast as asking it for its conformance (benchmark: encode and seal keyed records).

  /// Writes a value under a key; nil writes nothing.
  ///
  /// - Parameters:
  ///   - value: A value of a type that the format has a form for.
  ///   - key: At most 1 KiB of UTF-8.
  /// - Complexity: O(*n*) in the size of the value.
  @inlinable
  public func encode<Value: ArchiveValue>(_ value: Value?, forKey key: String) {
    guard let value, begin(key) else { return }
    value.write(to: writer)
  }

  /// Writes a string that many records repeat, such as the name of a kind.
  ///
  /// It takes a few bytes, however long it is, after it was written once. Names
  /// fill the table that keys are in, so data from outside is no name.
  ///
  /// - Parameters:
  ///   - name: At most 1 KiB of UTF-8; nil writes nothing.
  ///   - key: At most 1 KiB of UTF-8.
  public func encode(name: String?, forKey key: String) {
    guard let name, begin(key) else { return }
    writer.write(name: name)
  }

  /// Writes a reference to another record of the archive, which may come later.
  ///
  /// - Parameters:
  ///   - record: The identifier of the record.
  ///   - key: At most 1 KiB of UTF-8.
  public func encodeReference(to record: UInt64, forKey key: String) {
    guard begin(key) else { return }
    writer.writeReference(to: record)
  }

  /// Writes references to other records, in their order.
  ///
  /// - Parameters:
  ///   - records: The identifiers of the records.
  ///   - key: At most 1 KiB of UTF-8.
  public func encodeReferences(to records: [UInt64], forKey key: String) {
    guard begin(key) else { return }
    let start = writer.openContainer()
    for record in records { writer.writeReference(to: record) }
    writer.closeContainer(.array, count: records.count, from: start)
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
      map = OpenMap(in: writer)
      try body(self)
      closeMap()
      map = outer
    }
  }

  /// Runs the body; if it throws, nothing that it encoded remains.
  ///
  /// - Parameter body: Encodes values with this encoder.
  /// - Throws: What `body` throws; ``ArchiveError`` with `limitExceeded` if
  ///   something in it is too large, and in its path the keys from here on.
  public func attempt(_ body: () throws -> Void) throws {
    let failureBefore = writer.failure
    writer.failure = nil
    defer { writer.failure = failureBefore ?? writer.failure }
    try undoing {
      try body()
      if let failure = writer.failure { throw named(failure).error }
    }
  }

  func undoing<Failure: Error>(
    _ body: () throws(Failure) -> Void
  ) throws(Failure) {
    let before = (
      map: map, mark: writer.mark, objectCount: objects.count, failure: writer.failure
    )
    do {
      try body()
    } catch {
      map = before.map
      writer.goBack(to: before.mark)
      objects.truncate(to: before.objectCount)
      writer.failure = before.failure
      throw error
    }
  }

  func close() {
    closeMap()
    isOpen = false
  }

  private func closeMap() {
    if writer.hasFailed { nameFailure() }
    map.close(in: writer)
  }

  // Apart, as what records need that can be written is short then.
  @inline(never)
  private func nameFailure() {
    writer.failure = writer.failure.map(named)
  }

  /// The failure with the key of the open map in front of its path, if it is
  /// in there.
  private func named(_ failure: ValueWriter.Failure) -> ValueWriter.Failure {
    guard let place = failure.place, let key = map.key(containing: place, in: writer) else {
      return failure
    }
    return ValueWriter.Failure(error: failure.error.at(key), place: place)
  }

  /// Begins the map of a record.
  func open() {
    map = OpenMap(in: writer)
    isOpen = true
  }

  /// Forgets the record; its bytes are the builder's to take back.
  func abandon() {
    objects.truncate(to: 0)
    isOpen = false
  }

  /// Writes the key; false if nothing may be written.
  @usableFromInline
  func begin(_ key: String) -> Bool {
    guard isOpen, let symbol = writer.symbols.guess(key) else { return beginAnew(key) }
    var map = map
    map.writeKey(symbol: symbol, to: writer)
    self.map = map
    return true
  }

  // Apart, so that the path of nearly every key needs no memory for errors.
  @inline(never)
  private func beginAnew(_ key: String) -> Bool {
    guard isOpen else {
      writer.fail(ArchiveError(.encoderClosed, path: [key]), at: nil)
      return false
    }
    do throws(ArchiveError) {
      var map = map
      try map.writeKey(key, to: writer)
      self.map = map
      return true
    } catch {
      // There is no entry of it, so it lies in the map and in none of its values.
      writer.fail(error.at(key), at: map.headerStart)
      return false
    }
  }
}

@available(*, unavailable, message: "an encoder belongs to the code that fills its record")
extension KeyedEncoder: Sendable {}
