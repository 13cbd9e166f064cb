package import ArchiveCodec

// What tools read of the records that are no elements, and the values in any record.

extension NodeRecord {
  /// Reads which elements are the roots, in the record that names them.
  package static func roots(in tree: KeyedDecoder) throws(ArchiveError) -> [UInt64] {
    try tree.references(forKey: rootsKey) ?? []
  }

  /// Checks what else a restore reads in the record that names the roots.
  package static func checkTree(_ tree: KeyedDecoder) throws(ArchiveError) {
    _ = try StoredTree.formerNames(in: tree)
  }

  /// Reads the facts of the save in the record of the application; nil if there are none.
  package static func facts(
    in application: KeyedDecoder, of archive: Archive
  ) throws(ArchiveError) -> SaveFacts? {
    guard let values = try application.container(forKey: factsKey) else { return nil }
    return try SaveFacts(values, of: archive)
  }

  /// The values in one record.
  package typealias Values = (state: KeyedDecoder?, builtIn: KeyedDecoder?, host: KeyedDecoder?)

  /// Opens the values in the record of an element or of the application.
  package static func values(in record: KeyedDecoder) throws(ArchiveError) -> Values {
    (
      try record.container(forKey: stateKey), try record.container(forKey: builtInKey),
      try record.container(forKey: hostKey)
    )
  }
}
