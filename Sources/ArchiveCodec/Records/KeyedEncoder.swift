/// Writes the values of one record, each under a key.
///
/// ``RecordBuilder`` makes an encoder for one record and closes it with the
/// record. A key that is encoded twice keeps its last value; nil writes
/// nothing, so the key is absent. If a value cannot be stored, the record
/// throws when it is finished: an ``ArchiveError`` with the keys that lead to
/// the value.
///
///     try builder.append(record: 1) { encoder in
///       encoder.encode("Blender", forKey: "title")
///       encoder.encode([3.5, 4.0], forKey: "position")
///     }
public final class KeyedEncoder {
  @usableFromInline package let writer: ValueWriter
  private let keys: ExpectedNames
  private let output: ByteBuffer
  // Changed in place only by code that calls nothing else: then the compiler needs no
  // exclusivity check at run time, which cost a fifth of a save of nodes. Other code
  // changes a copy.
  fileprivate var map = OpenMap()
  var isOpen = false

  init(_ writer: ValueWriter) {
    self.writer = writer
    keys = writer.symbols.keys
    output = writer.output
  }

  // Inlinable, so that the compiler knows the type: three times as fast as looking up
  // its conformance (benchmark: encode and seal keyed records).

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
  /// After the first time the string takes a few bytes, whatever its length. Never pass
  /// user data: names fill the table of keys.
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
  /// - Throws: The error of `body`.
  public func encodeContainer<Failure: Error>(
    forKey key: String, _ body: (KeyedEncoder) throws(Failure) -> Void
  ) throws(Failure) {
    let container = beginContainer(forKey: key)
    guard container.isWritten else { return }
    do {
      try body(self)
    } catch {
      undoContainer(container)
      throw error
    }
    endContainer(container)
  }

  /// How many bytes were written so far, for this record and the records before it.
  package var byteCount: Int { writer.output.count }

  /// Runs the body; if the body throws, nothing that it encoded remains.
  ///
  /// - Parameter body: Encodes values with this encoder.
  /// - Throws: The errors of `body`; ``ArchiveError`` with `limitExceeded` if a value
  ///   of the attempt is too large, with the keys from here on in its path.
  public func attempt(_ body: () throws -> Void) throws {
    let failureBefore = writer.failure
    writer.failure = nil
    defer { writer.failure = failureBefore }
    try undoing {
      try body()
      if let failure = writer.failure { throw named(failure).error }
    }
  }

  func undoing<Failure: Error>(
    _ body: () throws(Failure) -> Void
  ) throws(Failure) {
    let before = mark
    do {
      try body()
    } catch {
      goBack(to: before)
      throw error
    }
  }

  func close() {
    closeMap()
    isOpen = false
  }

  fileprivate func closeMap() {
    if writer.hasFailed { nameFailure() }
    map.close(in: writer)
  }

  // In a function of its own, so that the code for values that can be written stays short.
  @inline(never)
  private func nameFailure() {
    writer.failure = writer.failure.map(named)
  }

  /// The failure, with the key of the open map in front of its path if the failed value
  /// lies in that map.
  fileprivate func named(_ failure: ValueWriter.Failure) -> ValueWriter.Failure {
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

  /// Forgets the record; the builder removes its bytes.
  func abandon() {
    isOpen = false
  }

  /// Writes the key; false if nothing may be written.
  ///
  /// The path of nearly every key calls no function, so it saves no registers
  /// (benchmark: encode and seal keyed records).
  @usableFromInline
  package func begin(_ key: String) -> Bool {
    guard isOpen, let symbol = keys.next(ifItIs: key, output.writeShortKey) else {
      return beginAnew(key)
    }
    map.note(symbol)
    return true
  }

  // In a function of its own, so that the path of nearly every key needs no memory for errors.
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
      // The key has no entry, so the failure is one of the map and not of a value in it.
      writer.fail(error.at(key), at: map.headerStart)
      return false
    }
  }
}

/// A closure costs a context for each container, so code that writes many containers
/// begins and ends them (benchmark: save a tree of nodes). The container that was begun
/// last is ended or undone first.
extension KeyedEncoder {
  /// A place in the record to which the encoder can go back.
  fileprivate struct Mark {
    fileprivate let map: OpenMap
    fileprivate let writer: ValueWriter.Mark
    /// The first failure stays, so only a failure after the mark is taken back.
    fileprivate let hadFailed: Bool
  }

  fileprivate var mark: Mark {
    Mark(map: map, writer: writer.mark, hadFailed: writer.hasFailed)
  }

  fileprivate func goBack(to mark: Mark) {
    map = mark.map
    writer.goBack(to: mark.writer)
    if !mark.hadFailed, writer.hasFailed { writer.failure = nil }
  }

  /// A container that was begun and not ended yet.
  package struct Container {
    fileprivate let before: Mark
    fileprivate let outer: OpenMap
    /// False if nothing can be written; the failure was noted before.
    fileprivate let isWritten: Bool
  }

  /// Begins a container; values that are encoded until its end go there.
  ///
  /// - Parameter key: At most 1 KiB of UTF-8.
  /// - Returns: The container, which has to be ended or undone.
  package func beginContainer(forKey key: String) -> Container {
    let before = mark
    let isWritten = begin(key)
    let container = Container(before: before, outer: map, isWritten: isWritten)
    if isWritten { map = OpenMap(in: writer) }
    return container
  }

  /// Ends a container, and goes on in the container or record around it.
  package func endContainer(_ container: Container) {
    guard container.isWritten else { return }
    closeMap()
    map = container.outer
  }

  /// Removes a container with its values and its key.
  package func undoContainer(_ container: Container) {
    guard container.isWritten else { return }
    goBack(to: container.before)
  }
}

@available(*, unavailable, message: "an encoder belongs to the code that fills its record")
extension KeyedEncoder: Sendable {}
