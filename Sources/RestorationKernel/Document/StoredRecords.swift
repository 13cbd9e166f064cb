package import ArchiveCodec

/// The checked records of an archive, by their identifiers.
package struct StoredRecords: Sendable {
  private let records: VerifiedRecords
  private var places: KeyTable

  /// Reads and checks all records.
  package init(_ archive: Archive) throws(ArchiveError) {
    records = try archive.verifiedRecords()
    places = KeyTable(expecting: records.count)
    for place in 0..<records.count {
      places.set(Self.key(of: records.identifier(at: place)), Int32(place))
    }
  }

  /// The bodies of elements that follow each other have keys that do, too.
  private static func key(of record: UInt64) -> UInt64 { record &>> 1 | record &<< 63 }

  private func place(of record: UInt64) -> Int? { places[Self.key(of: record)].map(Int.init) }

  package var count: Int { records.count }

  package var identifiers: [UInt64] { (0..<records.count).map { records.identifier(at: $0) } }

  package func decoder(of record: UInt64) throws(ArchiveError) -> KeyedDecoder? {
    guard let place = place(of: record) else { return nil }
    return try records.record(at: place)
  }

  /// The fingerprint of a record; `none` if there is none.
  package func fingerprint(of record: UInt64) -> RecordFingerprint {
    place(of: record).map(records.fingerprint) ?? .none
  }

  /// The bytes of a record; 0 if there is none.
  package func byteCount(of record: UInt64) -> Int {
    place(of: record).map(records.byteCount) ?? 0
  }
}
