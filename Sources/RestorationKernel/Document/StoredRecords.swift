package import ArchiveCodec

/// The checked records of an archive, by their identifiers.
package struct StoredRecords: Sendable {
  fileprivate let records: VerifiedRecords
  fileprivate var places: KeyTable

  /// Reads and checks all records.
  package init(_ archive: Archive) throws(ArchiveError) {
    records = try archive.verifiedRecords()
    places = KeyTable(expecting: records.count)
    for place in 0..<records.count {
      places.set(records.identifier(at: place), Int32(place))
    }
  }

  package var count: Int { records.count }

  package var identifiers: [UInt64] { (0..<records.count).map { records.identifier(at: $0) } }

  package func decoder(of record: UInt64) throws(ArchiveError) -> KeyedDecoder? {
    guard let place = places[record] else { return nil }
    return try records.record(at: Int(place))
  }

  /// The fingerprint of a record; `none` if there is none.
  package func fingerprint(of record: UInt64) -> RecordFingerprint {
    places[record].map { records.fingerprint(at: Int($0)) } ?? .none
  }
}

extension StoredRecords {
  /// The bytes of a record; 0 if there is none.
  package func byteCount(of record: UInt64) -> Int {
    places[record].map { records.byteCount(at: Int($0)) } ?? 0
  }
}
