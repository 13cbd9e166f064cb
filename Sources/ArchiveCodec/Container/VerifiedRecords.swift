/// All records of an archive: every byte was checked before one is given out.
///
/// The records lie in a few large blocks, and a record is a place in one of them, so
/// that an archive of many records takes no allocation for each.
package struct VerifiedRecords: Sendable {
  private var blocks: [RecordBlock] = []
  private var places: [Place] = []
  /// The errors of records that cannot be used, by their places.
  private var errors: [Int: ArchiveError] = .init()

  /// The position of a record.
  struct Place {
    let identifier: UInt64
    var block: UInt32
    /// The offset of the frame in the block.
    var start: UInt32
    /// The bytes of the frame's payload; less than 2^24.
    let byteCount: UInt32

    /// The entry of the frame in the block.
    var entry: IndexEntry {
      IndexEntry(record: identifier, offset: Int(start), byteCount: Int(byteCount))
    }
  }

  /// The records of no archive.
  package init() {}

  /// The number of the records.
  package var count: Int { places.count }

  /// The identifier of the record at a place.
  package func identifier(at place: Int) -> UInt64 { places[place].identifier }

  /// The size of the record at a place in bytes, as its builder said it.
  package func byteCount(at place: Int) -> Int { Int(places[place].byteCount) }

  /// The fingerprint of the record at a place, for a save that builds the record again
  /// with the keys of its archive.
  ///
  /// - Complexity: O(*n*) in the size of the record.
  package func fingerprint(at place: Int) -> RecordFingerprint {
    guard errors[place] == nil else { return .unknown }
    let entry = places[place].entry
    let stored = blocks[Int(places[place].block)].bytes
    return RecordFingerprint(stored.span.extracting(entry.frameRange.suffix(entry.byteCount)))
  }

  /// Opens the record at a place.
  ///
  /// - Throws: ``ArchiveError`` with `malformed`, `limitExceeded` or
  ///   `unsupportedFeature` if the record is authentic but cannot be used.
  /// - Complexity: O(1), or O(*k*) for more than a few keys.
  package func record(at place: Int) throws(ArchiveError) -> KeyedDecoder {
    if let error = errors[place] { throw error }
    let entry = places[place].entry
    return try KeyedDecoder(
      entry.frameRange, of: blocks[Int(places[place].block)], mapOffset: entry.mapOffset)
  }
}

// MARK: - Collecting

extension VerifiedRecords {
  mutating func reserve(_ count: Int) { places.reserveCapacity(count) }

  mutating func append(_ part: consuming VerifiedRecords) {
    let blockCount = UInt32(blocks.count)
    for (place, error) in part.errors { errors[places.count + place] = error }
    places += part.places.lazy.map { place in
      var place = place
      place.block += blockCount
      return place
    }
    blocks += part.blocks
  }

  /// Adds a checked record, whose frame begins at an offset of a block; less than 2^25.
  mutating func append(_ record: UInt64, _ byteCount: Int, in block: RecordBlock, at start: Int) {
    if blocks.last !== block { blocks.append(block) }
    places.append(
      Place(
        identifier: record, block: UInt32(blocks.count - 1),
        start: UInt32(truncatingIfNeeded: start),
        byteCount: UInt32(truncatingIfNeeded: byteCount)))
  }

  mutating func append(_ record: Archive.Record) {
    let values: KeyedDecoder
    switch record.content {
    case .success(let content): values = content
    case .failure(let error): (values, errors[places.count]) = (.empty, error)
    }
    append(record.identifier, record.byteCount, in: values.block, at: values.record.lowerBound)
  }
}

extension IndexEntry {
  /// The offset of the map in the frame.
  var mapOffset: Int { frameRange.count - byteCount + MemoryLayout<UInt64>.size }
}
