internal import ArchiveCodec

/// What this launch and those before it leave behind, sealed beside the state.
///
/// It says how many restores in a row began and never ended. It is sealed as
/// the state is, so that nobody without the key can make a keeper give up a
/// state.
struct LaunchMarker: Sendable {
  struct Content: Equatable, Sendable {
    /// The restores in a row that began and did not end, with the one under way.
    var begunRestores = 0
    /// What they restored; an old marker says nothing about another state.
    var begunVersion: ArchiveVersion?
    /// The version that a launch without snapshot has used up its wish of.
    var snapshotIgnored: ArchiveVersion?
    /// Whether what they restored stands in for a newer state that crashed.
    var gaveWay = false

    mutating func endRestore() {
      (begunRestores, begunVersion, gaveWay) = (0, nil, false)
    }
  }

  private enum Key {
    static let begunRestores = "begunRestores"
    static let begun = VersionKeys(generation: "begunGeneration", mac: "begunMAC")
    static let gaveWay = "gaveWay"
    static let snapshotIgnored = VersionKeys(
      generation: "snapshotIgnoredGeneration", mac: "snapshotIgnoredMAC")
  }

  private static let record: UInt64 = 1

  let storage: any ArchiveStorage
  let context: ArchiveContext

  /// Reads what is stored.
  ///
  /// Damage is as good as nothing: it must not stop a restore, and whoever can
  /// damage the marker could remove it as well.
  ///
  /// - Throws: `ArchiveError` with `wrongContext` if something else is in its
  ///   place, which must not be replaced, and what the storage throws.
  func read(_ key: ArchiveKey) throws(ArchiveError) -> Content {
    do throws(ArchiveError) {
      guard let archive = try Archive.open(storage, key: key, context: context),
        let record = try archive.record(Self.record)
      else { return Content() }
      var content = Content()
      content.begunRestores = try record.decodeIfPresent(forKey: Key.begunRestores) ?? 0
      content.begunVersion = try Key.begun.decode(from: record)
      content.snapshotIgnored = try Key.snapshotIgnored.decode(from: record)
      content.gaveWay = try record.decodeIfPresent(forKey: Key.gaveWay) ?? false
      return content
    } catch  where error.code != .wrongContext && error.isAboutContent {
      return Content()
    }
  }

  /// Stores what is to be known; nothing to be known leaves no file.
  func write(_ content: Content, _ key: ArchiveKey) throws {
    guard content != Content() else { return try storage.remove() }
    let builder = RecordBuilder()
    try builder.append(record: Self.record) { encoder in
      encoder.encode(content.begunRestores, forKey: Key.begunRestores)
      Key.begun.encode(content.begunVersion, to: encoder)
      Key.snapshotIgnored.encode(content.snapshotIgnored, to: encoder)
      if content.gaveWay { encoder.encode(true, forKey: Key.gaveWay) }
    }
    _ = try Archive.write(try builder.finish(), to: storage, key: key, context: context)
  }
}

/// The names of the two parts of a version.
private struct VersionKeys {
  let generation: String
  let mac: String

  func decode(from record: KeyedDecoder) throws(ArchiveError) -> ArchiveVersion? {
    guard let generation = try record.decodeIfPresent(UInt64.self, forKey: generation) else {
      return nil
    }
    return ArchiveVersion(generation: generation, mac: try record.decode(forKey: mac))
  }

  func encode(_ version: ArchiveVersion?, to encoder: KeyedEncoder) {
    encoder.encode(version?.generation, forKey: generation)
    encoder.encode(version?.mac, forKey: mac)
  }
}
