internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The subkeys of the secrets of a state, in an archive of their own beside it.
///
/// It is always replaced as a whole, so that a subkey that is not written any more is
/// in no file. Each is wrapped once more, so that none is in memory that is not guarded.
struct SecretsFile: Sendable {
  private enum Key {
    static let id = "id"
    static let kind = "kind"
    static let path = "path"
    static let keys = "keys"
    static let subkey = "subkey"
  }

  let storage: any ArchiveStorage
  let context: ArchiveContext

  var isStored: Bool {
    get throws(ArchiveError) { try storage.open() != nil }
  }

  /// Reads what is stored; nothing if nothing is.
  func read(_ key: ArchiveKey) throws(ArchiveError) -> [SecretKeys.Entry] {
    guard let archive = try Archive.open(storage, key: key, context: context) else { return [] }
    do {
      return try archive.readAll().map { record in
        let values = try record.content.get()
        return SecretKeys.Entry(
          id: try values.decode(forKey: Key.id),
          place: ValuePlace(
            kind: try values.decode(ElementKind.self, forKey: Key.kind),
            path: try values.decode(RestorationPath.self, forKey: Key.path),
            keys: try values.decode(forKey: Key.keys)),
          subkey: try ValueSubkey(
            unwrapping: Array(try values.decode(Data.self, forKey: Key.subkey)), with: key,
            context: context))
      }
    } catch {
      throw .content(error)
    }
  }

  /// Stores subkeys, durably; none leave no file.
  func write(_ entries: [SecretKeys.Entry], _ key: ArchiveKey) throws(ArchiveError) {
    guard !entries.isEmpty else { return try storage.remove() }
    let records: RecordBatch
    do {
      let builder = RecordBuilder()
      for (place, entry) in entries.enumerated() {
        let subkey = try entry.subkey.wrapped(with: key, context: context)
        try builder.append(record: UInt64(place) + 1) { encoder in
          encoder.encode(entry.id, forKey: Key.id)
          try encoder.encode(entry.place.kind, forKey: Key.kind)
          try encoder.encode(entry.place.path, forKey: Key.path)
          encoder.encode(entry.place.keys, forKey: Key.keys)
          encoder.encode(Data(subkey), forKey: Key.subkey)
        }
      }
      records = try builder.finish()
    } catch {
      throw .content(error)
    }
    _ = try Archive.write(records, to: storage, key: key, context: context)
  }
}
