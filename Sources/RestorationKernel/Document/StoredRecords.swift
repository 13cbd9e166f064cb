package import ArchiveCodec

/// The checked records of an archive, by their identifiers.
package struct StoredRecords: Sendable {
  private let records: VerifiedRecords
  private var indices: KeyTable

  /// Reads and checks all records.
  package init(_ archive: Archive) throws(ArchiveError) {
    records = try archive.verifiedRecords()
    indices = KeyTable(expecting: records.count)
    for index in 0..<records.count {
      indices.set(Self.key(of: records.identifier(at: index)), Int32(index))
    }
  }

  /// The bodies of elements that follow each other have keys that do, too.
  private static func key(of record: UInt64) -> UInt64 { record &>> 1 | record &<< 63 }

  private func index(of record: UInt64) -> Int? { indices[Self.key(of: record)].map(Int.init) }

  package var count: Int { records.count }

  package var identifiers: [UInt64] { (0..<records.count).map { records.identifier(at: $0) } }

  package func decoder(of record: UInt64) throws(ArchiveError) -> KeyedDecoder? {
    guard let index = index(of: record) else { return nil }
    return try records.record(at: index)
  }

  /// The fingerprint of a record; `none` if there is none.
  package func fingerprint(of record: UInt64) -> RecordFingerprint {
    index(of: record).map(records.fingerprint) ?? .none
  }

  /// The bytes of a record; 0 if there is none.
  package func byteCount(of record: UInt64) -> Int {
    index(of: record).map(records.byteCount) ?? 0
  }
}
