internal import ArchiveCodec
internal import RestorationFoundation

/// The record of restores that began and did not end, which launches leave behind beside the state.
///
/// The marker says how many restores in a row began and never ended, and what a restore leaves out
/// because of that. The marker is sealed as the state is, so that nobody without the key can say
/// that a restore has crashed, or what is left out.
package struct LaunchMarker: Sendable {
  struct Content: Equatable, Sendable {
    /// The restores in a row that began and did not end, with the one under way.
    var begunRestores = 0
    /// The version that these restores brought back; an old marker says
    /// nothing about another state.
    var begunVersion: ArchiveVersion?
    /// The version of the app that began the restores.
    var applicationVersion: String?
    /// The start of the machine at which the last of the restores began.
    var bootSession: String?
    /// Whether the restored state stands in for a newer state that crashed.
    var gaveWay = false
    /// The elements that restores leave out, since they crashed in them.
    var skipped = SkippedElements()
    /// Whether the restore was the first one of its launch.
    var isFirst = false
    /// How many launches in a row crashed after the restore, while they decoded the value or the
    /// late element with a path.
    var laterCrashes: [String: Int] = [:]
    /// When the state became too old that a launch of this or another instance has seen old, by its
    /// own clock; nil if none has.
    ///
    /// A state is too old for its instance from one time on, and unused for others from another one:
    /// what has been seen of one says nothing about the other.
    var seenOldOf: Date?
    /// The start of the machine at which that launch was, and how long it had run then, in seconds.
    var seenOldBoot: String?
    var seenOldUptime = 0.0

    /// Whether an earlier launch has seen the state old, too, at another start of the machine or a day
    /// of uptime before; else notes that this launch has.
    ///
    /// The clock of one launch may be wrong.
    mutating func isSeenOldAgain(since date: Date, in environment: ApplicationEnvironment) -> Bool {
      let (boot, uptime) = (environment.bootSession, environment.uptime ?? BootSession.uptime)
      guard seenOldOf == date else {
        (seenOldOf, seenOldBoot, seenOldUptime) = (date, boot, uptime)
        return false
      }
      let passed = uptime - seenOldUptime
      return seenOldBoot != boot || passed < 0 || passed >= 24 * 60 * 60
    }

    /// Forgets that a restore has begun; the first restore of a launch also counts for the elements
    /// that it has left out.
    ///
    /// - Parameter hasCrashed: Says whether an element that was tried again has crashed.
    mutating func endRestore(hasCrashed: (ElementKind, RestorationPath) -> Bool = { _, _ in false })
    {
      (begunRestores, begunVersion, applicationVersion) = (0, nil, nil)
      (bootSession, gaveWay) = (nil, false)
      if isFirst { skipped.endLaunch(hasCrashed) }
      isFirst = false
    }
  }

  /// The stored marker, and where the last restore was when its process ended.
  struct Stored {
    var content = Content()
    var note: LaunchNote.Place?
    /// Where the launch crashed after its restore.
    var laterCrash: LaterCrash?

    /// Decides what a restore of a state does about earlier restores, and notes the decision.
    mutating func take(
      evidenceBefore version: ArchiveVersion, _ threshold: Int, by applicationVersion: String?,
      at bootSession: String?
    ) -> LaunchVerdict {
      let verdict = LaunchVerdict(
        evidence(before: version, by: applicationVersion, at: bootSession), threshold: threshold)
      content.begunRestores = verdict.begunRestores
      if verdict.hasTrialFailed { content.skipped.failTrial() }
      return verdict
    }

    /// The evidence of earlier restores that a restore of a state finds.
    func evidence(
      before version: ArchiveVersion, by applicationVersion: String?, at bootSession: String?
    ) -> LaunchEvidence {
      let before = content.bootSession
      return LaunchEvidence(
        begunRestores: content.begunRestores, isOfState: content.begunVersion == version,
        isOfApplication: content.applicationVersion == applicationVersion,
        isTrial: content.skipped.isTrial, note: note,
        hasRestarted: before != nil && bootSession != nil && before != bootSession)
    }
  }

  private enum Key {
    static let begunRestores = "begunRestores"
    static let begunGeneration = "begunGeneration"
    static let begunMAC = "begunMAC"
    static let applicationVersion = "applicationVersion"
    static let bootSession = "bootSession"
    static let gaveWay = "gaveWay"
    static let skipped = "skipped"
    static let isFirst = "isFirst"
    static let laterCrashes = "valueCrashes"
    static let noteKey = "noteKey"
    static let seenOldOf = "seenOldOf"
    static let seenOldBoot = "seenOldBoot"
    static let seenOldUptime = "seenOldUptime"
  }

  private static let record: UInt64 = 1

  let storage: any ArchiveStorage
  let context: ArchiveContext
  /// Whether the marker outlasts the process; else nobody would ever read it.
  var isLasting = true

  /// Reads the marker.
  ///
  /// A damaged marker is as good as none: damage must not stop a restore, and anybody who can
  /// damage the marker could remove it as well.
  ///
  /// - Throws: `ArchiveError` with `wrongContext` if an archive of another context is in the place
  ///   of the marker, which must not be replaced, and what the storage throws.
  func read(_ key: ArchiveKey) throws(ArchiveError) -> Stored {
    guard isLasting else { return Stored() }
    do throws(ArchiveError) {
      guard let file = try storage.open(), let (record, version) = try open(file, key) else {
        return Stored()
      }
      let content = try Self.content(of: record)
      let noteKey: Data? = try record.decodeIfPresent(forKey: Key.noteKey)
      let tag = noteKey.flatMap { NumberTag(key: Array($0)) }
      let tags = LaunchNote.Tags(tag, version)
      let note = try LaunchNote.read(in: file, with: tags)
      switch note {
      case .restore(let place): return Stored(content: content, note: place)
      case .later(let element): return Stored(content, endedIn: element, tags)
      // A marker without a key is of an earlier version of the library, where a missing note meant
      // that the restore was outside of all elements.
      case nil: return Stored(content: content, note: tag == nil ? .outside : nil)
      }
    } catch  where error.code != .wrongContext && error.isAboutContent {
      return Stored()
    }
  }

  /// Opens the marker in a file, with the version of its archive if it is one; nil if there is none.
  private func open(
    _ file: any ArchiveFile, _ key: ArchiveKey
  ) throws(ArchiveError) -> (record: KeyedDecoder, version: ArchiveVersion?)? {
    func read(_ largestCount: Int) throws(ArchiveError) -> [UInt8] {
      try file.read(at: 0, count: min(file.byteCount, largestCount))
    }
    if SealedRecord.isBeginning(try read(SealedRecord.beginningByteCount)) {
      let bytes = try read(Self.largestByteCount)
      return (try SealedRecord.open(bytes, key: key, context: context).values, nil)
    }
    // Earlier versions of the library wrote an archive. The note behind it is no part of it.
    guard
      let archive = try Archive.open(storage, key: key, context: context, recovery: .recover),
      let record = try archive.record(Self.record)
    else { return nil }
    return (record, archive.version)
  }

  /// More than the elements of any launch take.
  private static let largestByteCount = 1 << 24

  private static func content(of record: KeyedDecoder) throws(ArchiveError) -> Content {
    var content = Content()
    content.begunRestores = try record.decodeIfPresent(forKey: Key.begunRestores) ?? 0
    if let generation = try record.decodeIfPresent(UInt64.self, forKey: Key.begunGeneration) {
      content.begunVersion = ArchiveVersion(
        generation: generation, mac: try record.decode(forKey: Key.begunMAC))
    }
    content.applicationVersion = try record.decodeIfPresent(forKey: Key.applicationVersion)
    content.bootSession = try record.decodeIfPresent(forKey: Key.bootSession)
    content.gaveWay = try record.decodeIfPresent(forKey: Key.gaveWay) ?? false
    content.isFirst = try record.decodeIfPresent(forKey: Key.isFirst) ?? false
    content.seenOldOf = try record.decodeIfPresent(forKey: Key.seenOldOf)
    content.seenOldBoot = try record.decodeIfPresent(forKey: Key.seenOldBoot)
    content.seenOldUptime = try record.decodeIfPresent(forKey: Key.seenOldUptime) ?? 0
    do {
      content.skipped =
        try record.decodeIfPresent(SkippedElements.self, forKey: Key.skipped) ?? content.skipped
      content.laterCrashes =
        try record.decodeIfPresent([String: Int].self, forKey: Key.laterCrashes) ?? [:]
    } catch {
      throw .content(error)
    }
    return content
  }

  /// Stores the marker; a content that says nothing leaves no file.
  ///
  /// - Parameters:
  ///   - content: The content.
  ///   - key: The key that seals it.
  ///   - isNoted: Whether a note begins behind the marker, if that takes no call more.
  /// - Returns: The size of the marker, the tags of its note, and whether that has begun; nil if no
  ///   file was written.
  /// - Throws: What the storage throws.
  @discardableResult
  func write(
    _ content: Content, _ key: ArchiveKey, isNoted: Bool = false
  ) throws -> (byteCount: Int, tags: LaunchNote.Tags, isNoteBegun: Bool)? {
    guard isLasting else { return nil }
    guard content != Content() else {
      if let file = storage as? LaunchFile { try file.blank() } else { try storage.remove() }
      return nil
    }
    let random = RandomSource.system.drawing(NumberTag.keyByteCount + SealedRecord.randomByteCount)
    let tag = NumberTag(random)
    let sealed = try SealedRecord.seal(key: key, context: context, random: random) { encoder in
      encoder.encode(content.begunRestores, forKey: Key.begunRestores)
      encoder.encode(content.begunVersion?.generation, forKey: Key.begunGeneration)
      encoder.encode(content.begunVersion?.mac, forKey: Key.begunMAC)
      encoder.encode(content.applicationVersion, forKey: Key.applicationVersion)
      encoder.encode(content.bootSession, forKey: Key.bootSession)
      if content.gaveWay { encoder.encode(true, forKey: Key.gaveWay) }
      if content.skipped != SkippedElements() {
        try encoder.encode(content.skipped, forKey: Key.skipped)
      }
      if content.isFirst { encoder.encode(true, forKey: Key.isFirst) }
      if !content.laterCrashes.isEmpty {
        encoder.encode(content.laterCrashes, forKey: Key.laterCrashes)
      }
      if let date = content.seenOldOf {
        encoder.encode(date, forKey: Key.seenOldOf)
        encoder.encode(content.seenOldBoot, forKey: Key.seenOldBoot)
        encoder.encode(content.seenOldUptime, forKey: Key.seenOldUptime)
      }
      encoder.encode(Data(tag.key), forKey: Key.noteKey)
    }
    let tags = LaunchNote.Tags(tag, nil)
    if isNoted, let file = storage as? LaunchFile, try file.replace(sealed, note: tags.begun) {
      return (sealed.count, tags, true)
    }
    try storage.replace { sink throws(ArchiveError) in try sink.write(sealed) }
    return (sealed.count, tags, false)
  }
}
