/// Encoded records on their way into an archive.
public struct RecordBatch: Sendable {
  /// The frames of the records, one after the other; no frame is in two blocks.
  let frames: ByteBlocks
  /// The entries in the order of the record identifiers.
  let index: RecordIndex
  /// The payload of the symbols frame.
  let symbols: [UInt8]
  /// How many names the archive must have already; 0 for a new archive.
  let knownSymbolCount: Int
  /// These names and those of the symbols frame, in the numbering of these names.
  let names: SymbolTable

  /// The number of records.
  public var count: Int { index.count }

  /// The size of the records in bytes, before sealing.
  public var byteCount: Int { frames.byteCount }
}

extension RecordBatch {
  /// The fingerprint of each record.
  ///
  /// - Complexity: O(*n*) in the size of the records.
  package var fingerprints: [(record: UInt64, fingerprint: RecordFingerprint)] {
    index.entries.map { entry in
      let end = entry.frameRange.upperBound
      var fingerprint = RecordFingerprint.none
      // No frame is in two blocks, so there is one piece.
      frames.forEachPiece(of: end - entry.byteCount..<end) { fingerprint = RecordFingerprint($0) }
      return (entry.record, fingerprint)
    }
  }

  /// Whether the records can be read with the names of a table and their own.
  func continues(_ symbols: SymbolTable) -> Bool {
    guard knownSymbolCount == symbols.names.count else { return false }
    return knownSymbolCount == 0 || names.numbering === symbols.numbering
  }

  /// The names of an archive that has the records.
  ///
  /// - Throws: ``ArchiveError`` with `limitExceeded`: the builder may have had other limits.
  func names(within limits: ArchiveLimits) throws(ArchiveError) -> SymbolTable {
    guard names.names.count <= limits.symbolCount, names.byteCount <= limits.symbolByteCount,
      names.names[knownSymbolCount...].allSatisfy({ $0.utf8.count <= limits.keyByteCount })
    else { throw ArchiveError(.limitExceeded, subject: "symbols") }
    return names
  }

  /// The bytes of each record that will be sealed, its map, and the payload
  /// of the symbols frame; ``KeyedDecoder/init(unsealed:symbols:limits:)`` opens them.
  package var unsealed: (maps: [[UInt8]], symbols: [UInt8]) {
    let maps = index.entries.map { entry in
      Array(frames.bytes(entry.frameRange).suffix(entry.byteCount - MemoryLayout<UInt64>.size))
    }
    return (maps, symbols)
  }
}

extension KeyedDecoder {
  /// Opens a map that was never sealed, with the payload of a symbols frame.
  ///
  /// The method is for values that are stored inside other records, and for fuzzing:
  /// only here do any bytes reach the decoder.
  package init(
    unsealed map: [UInt8], symbols payload: [UInt8], limits: ArchiveLimits = .standard
  ) throws(ArchiveError) {
    var symbols = SymbolTable()
    try symbols.append(decoding: payload, limits: limits)
    try self.init(validating: map, from: 0, symbols: symbols, limits: limits)
  }

  /// The size of the record in bytes, before sealing.
  package var byteCount: Int { record.count }

  /// The frame that an archive has for the record, and the names of its symbols: a
  /// second reader needs both to decode the record.
  package var unsealed: (frame: [UInt8], names: [String]) {
    (Array(block.bytes[record]), block.symbols.names)
  }
}
