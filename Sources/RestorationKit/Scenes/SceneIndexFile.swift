internal import ArchiveCodec

/// The stored list of an application's scenes; reads and writes one after the
/// other.
actor SceneIndexFile {
  private let storage: any ArchiveStorage
  private let keys: any KeyProvider
  private let context: ArchiveContext
  private var lastNumber: UInt64 = 0

  private static let record: UInt64 = 1
  private static let key = "scenes"

  init(storage: any ArchiveStorage, keys: any KeyProvider, context: ArchiveContext) {
    self.storage = storage
    self.keys = keys
    self.context = context
  }

  /// The list, nil if none is stored.
  func read() throws -> SceneIndex? {
    guard try storage.open() != nil else { return nil }
    guard let key = try keys.key(creating: false) else {
      throw ArchiveError(.keyMissing, location: keys.location)
    }
    guard let archive = try Archive.open(storage, key: key, context: context) else { return nil }
    return try archive.record(Self.record)?.decodeIfPresent(SceneIndex.self, forKey: Self.key)
  }

  /// Writes the list, unless a later one was written before.
  func write(_ index: SceneIndex, number: UInt64) throws {
    guard number > lastNumber else { return }
    guard let key = try keys.key(creating: true) else {
      throw ArchiveError(.keyMissing, location: keys.location)
    }
    let builder = RecordBuilder()
    try builder.append(record: Self.record) { try $0.encode(index, forKey: Self.key) }
    let stored = try Archive.open(storage, key: key, context: context)
    _ = try Archive.write(
      builder.finish(), to: storage, key: key, context: context, replacing: stored?.version)
    lastNumber = number
  }
}
