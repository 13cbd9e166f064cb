package import ArchiveCodec
#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

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

  /// The values in one record; of those with a sensitivity only the place.
  package typealias Values = (
    state: KeyedDecoder?, builtIn: KeyedDecoder?, host: KeyedDecoder?,
    sensitive: [(keys: [String], isSecret: Bool, end: Date?)]
  )

  /// Opens the values in the record of an element or of the application.
  package static func values(in record: KeyedDecoder) throws(ArchiveError) -> Values {
    let state = try record.container(forKey: stateKey)
    let builtIn = try record.container(forKey: builtInKey)
    let host = try record.container(forKey: hostKey)
    do {
      let sensitive = try record.container(forKey: sensitiveKey)
        .map { try StoredSensitiveValue.all(in: $0) }
      return (
        state, builtIn, host,
        (sensitive ?? []).map { ($0.keys, $0.subkey != nil, $0.age?.end) }
      )
    } catch {
      throw .content(error)
    }
  }
}
