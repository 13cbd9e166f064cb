internal import ArchiveCodec

/// The knowledge of earlier restores that a launch has while it looks for its state.
struct LaunchTrial {
  let claim: StateFile.Claim
  let key: ArchiveKey
  let environment: ApplicationEnvironment
  let threshold: Int
  /// Whether no restore has begun in this launch.
  let isFirst: Bool
  /// Whether a restore of this launch has not ended: it counts for nothing.
  let isUnderWay: Bool
  private(set) var record = LaunchRecord()
  private var note: LaunchNote?
  private var mayTry = false
  /// The versions that have given way, and the last of them as a moment.
  private(set) var gaveWay: (versions: [ArchiveVersion], last: Moment?) = ([], nil)
  /// Whether no older state is tried: one that stood in for another one has none that stands in for it.
  private(set) var isOver = false
  /// Why the record cannot be read or written; that stops no restore.
  private(set) var problem: ArchiveError?

  init(
    _ claim: StateFile.Claim, _ key: ArchiveKey, _ environment: ApplicationEnvironment,
    threshold: Int, isFirst: Bool, isUnderWay: Bool
  ) {
    (self.claim, self.key, self.environment) = (claim, key, environment)
    (self.threshold, self.isFirst, self.isUnderWay) = (threshold, isFirst, isUnderWay)
    do throws(ArchiveError) {
      guard let stored = try claim.launchRecord(key) else { return }
      (record, note) = stored
      guard let note, note.stage == .restored, !isUnderWay else { return }
      record.endRestore(note, threshold: threshold, in: environment)
    } catch {
      problem = error
    }
  }

  var hasGivenWay: Bool { !gaveWay.versions.isEmpty }

  /// Decides whether a state is restored; false if it gives way to an older one.
  mutating func take(_ version: ArchiveVersion, _ tree: some LaunchedTree) -> Bool {
    guard !isUnderWay else { return true }
    let verdict = LaunchVerdict(record, note, of: version, in: environment, threshold: threshold)
    record.crashes = verdict.crashes
    if verdict.hasTrialFailed { record.leftOut.failTrial() }
    mayTry = verdict.mayTry && isFirst
    return record.leftOut.add(verdict.action, in: tree, by: environment.applicationVersion)
  }

  /// Notes that a version has given way, which is a moment now.
  mutating func giveWay(_ version: ArchiveVersion, _ moment: Moment?) {
    isOver = record.gaveWay
    gaveWay = (gaveWay.versions + [version], moment)
    (record, note) = (LaunchRecord(), nil)
    record.gaveWay = true
  }

  /// Notes that this launch has found the state too old.
  mutating func leave(_ seen: SeenOld) {
    guard record.seenOld?.savedAt != seen.savedAt else { return }
    record.seenOld = seen
    _ = write(LaunchNote(.ended))
  }

  /// Marks that the restore of a state begins.
  mutating func begin(_ version: ArchiveVersion, _ tree: some LaunchedTree) -> LaunchMark {
    record.begin(version, isFirst: isFirst, isCounted: !isUnderWay, in: environment)
    let tried = record.leftOut.begin(
      in: tree, by: environment.applicationVersion, mayTry: mayTry)
    let noteTag = write(LaunchNote())
    var leftOut = Set(record.leftOut.subjects)
    // Without a mark, what crashes again would crash in every launch, so it is not tried.
    if let tried, noteTag != nil { leftOut.remove(tried) }
    return LaunchMark(
      noteTag.map { _ in claim.launch }, noteTag ?? NumberTag(), record.valueTag ?? NumberTag(),
      leftOut: leftOut, isNear: record.crashes >= max(1, threshold))
  }

  private mutating func write(_ note: LaunchNote) -> NumberTag? {
    do throws(ArchiveError) {
      return try claim.write(record, note, key)
    } catch {
      problem = error
      return nil
    }
  }
}

extension StateFile.Claim {
  private var launchContext: ArchiveContext { ArchiveContext(context.fields + ["launch"]) }

  /// Reads the record of launches, with its note.
  func launchRecord(
    _ key: ArchiveKey
  ) throws(ArchiveError) -> (record: LaunchRecord, note: LaunchNote?)? {
    guard let bytes = try launch.read(),
      let (record, noteTag) = try LaunchRecord.open(bytes, key, launchContext)
    else { return nil }
    return (record, LaunchNote(endOf: bytes, noteTag))
  }

  /// Writes the record of launches; returns the key of its note.
  @discardableResult
  func write(
    _ record: LaunchRecord, _ note: LaunchNote, _ key: ArchiveKey
  ) throws(ArchiveError) -> NumberTag {
    let noteTag = NumberTag()
    try launch.write(
      try record.sealed(noteTag: noteTag, key, launchContext), note: note.bytes(noteTag))
    return noteTag
  }
}
