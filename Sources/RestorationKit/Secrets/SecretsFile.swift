package import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The subkeys of the secrets of a state, in an archive of their own beside it.
///
/// The archive is always replaced as a whole, so that a subkey that is not written any
/// more is in no file. Each subkey is wrapped once more, so that the bytes of none are
/// in unguarded memory.
package struct SecretsFile: Sendable {
  private enum Key {
    static let id = "id"
    static let kind = "kind"
    static let path = "path"
    static let keys = "keys"
    static let subkey = "subkey"
    static let forgotten = "forgotten"
  }

  package let storage: any ArchiveStorage
  package let context: ArchiveContext

  package init(storage: any ArchiveStorage, context: ArchiveContext) {
    (self.storage, self.context) = (storage, context)
  }

  var isStored: Bool {
    get throws(ArchiveError) { try storage.open() != nil }
  }

  package struct Content: Sendable {
    package var entries: [SecretKeys.Entry] = []
    /// The forgotten subkeys that the store may still have.
    package var forgotten: Set<UInt64> = []
  }

  /// Reads the file; an empty content if there is none.
  package func read(_ key: ArchiveKey) throws(ArchiveError) -> Content {
    var content = Content()
    guard let archive = try Archive.open(storage, key: key, context: context) else {
      return content
    }
    do {
      for record in try archive.readAll() {
        let values = try record.content.get()
        if let forgotten = try values.decodeIfPresent([UInt64].self, forKey: Key.forgotten) {
          content.forgotten.formUnion(forgotten)
          continue
        }
        let entry = SecretKeys.Entry(
          id: try values.decode(forKey: Key.id),
          value: ValueID(
            element: ElementID(
              kind: try values.decode(ElementKind.self, forKey: Key.kind),
              path: try values.decode(RestorationPath.self, forKey: Key.path)),
            keys: try values.decode(forKey: Key.keys)),
          subkey: try ValueSubkey(
            unwrapping: Array(try values.decode(Data.self, forKey: Key.subkey)), with: key,
            context: context))
        content.entries.append(entry)
      }
      return content
    } catch {
      throw .content(error)
    }
  }

  /// Stores subkeys, durably; without subkeys no file is left.
  ///
  /// - Parameters:
  ///   - entries: All subkeys that stay.
  ///   - forgotten: The forgotten subkeys that a store may still have.
  ///   - key: The key that seals the subkeys.
  /// - Throws: The errors of the storage.
  package func write(
    _ entries: [SecretKeys.Entry], forgotten: Set<UInt64> = [], _ key: ArchiveKey
  ) throws(ArchiveError) {
    guard !entries.isEmpty || !forgotten.isEmpty else { return try storage.remove() }
    let records: RecordBatch
    do {
      let builder = RecordBuilder()
      for (number, entry) in entries.enumerated() {
        let subkey = try entry.subkey.wrapped(with: key, context: context)
        try builder.append(record: UInt64(number) + 1) { encoder in
          encoder.encode(entry.id, forKey: Key.id)
          try encoder.encode(entry.value.element.kind, forKey: Key.kind)
          try encoder.encode(entry.value.element.path, forKey: Key.path)
          encoder.encode(entry.value.keys, forKey: Key.keys)
          encoder.encode(Data(subkey), forKey: Key.subkey)
        }
      }
      if !forgotten.isEmpty {
        try builder.append(record: UInt64(entries.count) + 1) { encoder in
          encoder.encode(forgotten.sorted(), forKey: Key.forgotten)
        }
      }
      records = try builder.finish()
    } catch {
      throw .content(error)
    }
    // The number of the version grows, so that an older file can be told from this one.
    _ = try Archive.write(
      records, to: storage, key: key, context: context, replacing: try version(key))
  }

  /// The stored version; nil if nothing is stored, or nothing that can be opened.
  private func version(_ key: ArchiveKey) throws(ArchiveError) -> ArchiveVersion? {
    do throws(ArchiveError) {
      return try Archive.open(storage, key: key, context: context, recovery: .recover)?.version
    } catch {
      guard error.isAboutContent else { throw error }
      return nil
    }
  }
}
