extension Archive {
  /// One record of an archive that was read whole.
  public struct Record: Sendable {
    /// The identifier that it was written with.
    public let identifier: UInt64

    /// Its values, or why they cannot be used: `malformed` or `limitExceeded`.
    public let content: Result<KeyedDecoder, ArchiveError>
  }

  /// Checks every byte of the archive and the form of every value.
  ///
  /// - Throws: ``ArchiveError`` with `damaged`, `malformed`, `limitExceeded` or
  ///   `unsupportedFeature`.
  /// - Complexity: O(*n* log *n*) in the number of records, O(*m*) in the bytes.
  public func verifyAll() throws(ArchiveError) {
    try visitAll { record throws(ArchiveError) in _ = try record.content.get() }
  }

  /// Checks every byte and opens every record, in the order of the file.
  ///
  /// A record that is authentic but not well formed does not stop the others.
  ///
  /// - Returns: All records.
  /// - Throws: ``ArchiveError`` as ``verifyAll()`` does, but not for what is
  ///   wrong with one record only.
  /// - Complexity: As ``verifyAll()``.
  public func readAll() throws(ArchiveError) -> [Record] {
    var records: [Record] = []
    records.reserveCapacity(recordCount)
    try visitAll { record in records.append(record) }
    return records
  }

  /// Goes through all frames; those that are known must be where the index and
  /// the footer say, and those that are not must be skippable.
  private func visitAll(
    _ visit: (Record) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    var entries = try index().sorted { $0.offset < $1.offset }[...]
    guard entries.reduce(0, { $0 + $1.byteCount }) == footer.liveByteCount else {
      throw ArchiveError(.malformed, subject: "footer")
    }
    var position = 0
    var due = [FrameKind.symbols, .index]
    while position < footerStart {
      let frame = try frame(at: position)
      switch FrameKind(rawValue: frame.kind) {
      case .record:
        guard let entry = entries.popFirst(), entry.offset == position,
          entry.byteCount == frame.payload.count
        else { throw misplaced(frame.payload) }
        try visit(try record(entry))
      case .symbols:
        guard entries.isEmpty, due.first == .symbols, frame.payload == footer.symbols else {
          throw misplaced(frame.payload)
        }
        due.removeFirst()
      case .index:
        guard due == [.index], frame.payload == footer.index else {
          throw misplaced(frame.payload)
        }
        due.removeFirst()
      case .footer: throw misplaced(frame.payload)
      case nil:
        guard frame.kind.isMultiple(of: 2) else {
          throw ArchiveError(.unsupportedFeature, offset: position, subject: "frame \(frame.kind)")
        }
        try content.verify(frame.payload)
      }
      position = frame.payload.upperBound
    }
    guard due.isEmpty, position == footerStart else { throw misplaced(position..<position) }
  }

  private func misplaced(_ payload: Range<Int>) -> ArchiveError {
    ArchiveError(.malformed, offset: payload.lowerBound, subject: "frame")
  }

  private func frame(
    at position: Int
  ) throws(ArchiveError) -> (kind: UInt8, payload: Range<Int>) {
    var reader = ByteReader(
      try content.read(position..<min(position + FrameKind.longestHeader, footerStart)))
    let kind = try reader.readByte()
    let length = try reader.readVarint()
    let start = position + reader.offset
    guard length <= UInt64(footerStart - start) else { throw misplaced(start..<start) }
    return (kind, start..<start + Int(length))
  }

  private func record(_ entry: IndexEntry) throws(ArchiveError) -> Record {
    let content: Result<KeyedDecoder, ArchiveError>
    do throws(ArchiveError) {
      content = .success(try decoder(for: entry))
    } catch  where error.code == .malformed || error.code == .limitExceeded {
      content = .failure(error)
    }
    return Record(identifier: entry.record, content: content)
  }
}
