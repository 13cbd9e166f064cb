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
    let place = places[place]
    guard Int(place.block) < blocks.count else { return .unknown }
    let frame = IndexEntry(
      record: place.identifier, offset: Int(place.start), byteCount: Int(place.byteCount)
    ).frameRange
    let block = blocks[Int(place.block)]
    let stored = block.bytes
    return RecordFingerprint(
      stored.span.extracting(frame.upperBound - Int(place.byteCount)..<frame.upperBound))
  }

  /// Opens the record at a place.
  ///
  /// - Throws: ``ArchiveError`` with `malformed`, `limitExceeded` or
  ///   `unsupportedFeature` if the record is authentic but cannot be used.
  /// - Complexity: O(1), or O(*k*) for more than a few keys.
  package func record(at place: Int) throws(ArchiveError) -> KeyedDecoder {
    if let error = errors[place] { throw error }
    let place = places[place]
    let frame = IndexEntry(
      record: place.identifier, offset: Int(place.start), byteCount: Int(place.byteCount))
    return try KeyedDecoder(
      frame.frameRange, of: blocks[Int(place.block)], mapOffset: frame.mapOffset)
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

  /// Adds a record with the result of its check.
  mutating func append(_ entry: IndexEntry, _ checked: Result<CheckedRecord, ArchiveError>) {
    var place = Place(
      identifier: entry.record, block: 0, start: 0,
      byteCount: UInt32(truncatingIfNeeded: entry.byteCount))
    switch checked {
    case .success(let record):
      if blocks.last !== record.block { blocks.append(record.block) }
      place.block = UInt32(blocks.count - 1)
      place.start = UInt32(truncatingIfNeeded: record.start)
    case .failure(let error): errors[places.count] = error
    }
    places.append(place)
  }
}

/// The position of a checked record.
struct CheckedRecord: Sendable {
  let block: RecordBlock
  /// The offset of the frame in the block; less than 2^25.
  let start: Int
}

extension IndexEntry {
  /// The offset of the map in the frame.
  var mapOffset: Int { frameRange.count - byteCount + MemoryLayout<UInt64>.size }
}
