/// Encoded records on their way into an archive.
public struct RecordBatch: Sendable {
  package let frames: RecordFrames
  /// In the order of the record identifiers.
  let index: [IndexEntry]
  /// The payload of the symbols frame.
  package let symbols: [UInt8]
  /// How many names the archive must have already; 0 for a new one.
  let knownSymbolCount: Int

  /// The number of records.
  public var count: Int { index.count }

  /// The size of the records in bytes, before sealing.
  public var byteCount: Int { frames.byteCount }
}

extension RecordBatch {
  /// Takes the bytes of records as they are, well formed or not.
  ///
  /// So a test can play somebody who has the key and seals what he likes.
  package init(
    unchecked records: [(identifier: UInt64, map: [UInt8])], symbols: [UInt8]
  ) {
    let writer = ByteBuffer()
    var index: [IndexEntry] = []
    for (identifier, map) in records {
      let payloadByteCount = 8 + map.count
      index.append(
        IndexEntry(record: identifier, offset: writer.count, byteCount: payloadByteCount))
      writer.write(FrameKind.record.header(payloadByteCount: payloadByteCount))
      writer.writeInteger(identifier)
      writer.write(map)
    }
    self.init(
      frames: RecordFrames(writer.bytes), index: index, symbols: symbols, knownSymbolCount: 0)
  }

  /// The bytes that ``init(unchecked:symbols:)`` takes.
  package var unsealed: (maps: [[UInt8]], symbols: [UInt8]) {
    let maps = index.map { entry in
      Array(frames.bytes(of: entry).suffix(entry.byteCount - MemoryLayout<UInt64>.size))
    }
    return (maps, symbols)
  }
}

extension KeyedDecoder {
  /// Opens a map that was never sealed, with the payload of a symbols frame.
  package init(
    unsealed map: [UInt8], symbols payload: [UInt8], limits: ArchiveLimits = .standard
  ) throws(ArchiveError) {
    var symbols = SymbolTable()
    try symbols.append(decoding: payload, limits: limits)
    try self.init(validating: map, from: 0, symbols: symbols, limits: limits)
  }
}

extension RecordBatch {
  /// All that will be sealed of the records, for tests that compare it.
  package var plaintext: [UInt8] { symbols + frames.blocks.joined() }

  /// The names that have a number.
  package var symbolNames: [String] {
    var table = SymbolTable()
    try? table.append(decoding: symbols, limits: .standard)
    return table.names
  }
}
