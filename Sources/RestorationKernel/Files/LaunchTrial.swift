internal import ArchiveCodec

/// The knowledge of earlier restores that a launch has while it looks for its state.
struct LaunchTrial {
  let claim: StateFile.Claim
  let key: ArchiveKey
  private let environment: ApplicationEnvironment
  private let threshold: Int
  /// Whether no restore has begun in this launch.
  private let isFirst: Bool
  /// Whether a restore of this launch has not ended: it counts for nothing.
  private let isUnderWay: Bool
  private(set) var record = LaunchRecord()
  private var note: LaunchNote?
  private var mayTry = false
  /// The versions that have given way, and the last of them as a moment.
  private(set) var gaveWay: (versions: [ArchiveVersion], last: Moment?) = ([], nil)
  var hasGivenWay: Bool { !gaveWay.versions.isEmpty }
  /// Whether no older state is tried: one that stood in for another one has none that stands in for it.
  private(set) var isOver = false
  /// Why the record cannot be read or written; that stops no restore.
  private(set) var problem: ArchiveError?

  init(
    _ claim: StateFile.Claim, _ key: ArchiveKey, _ environment: ApplicationEnvironment,
    threshold: Int, isFirst: Bool, isUnderWay: Bool
  ) {
    (self.claim, self.key, self.environment) = (claim, key, environment)
    (self.threshold, self.isFirst, self.isUnderWay) = (max(1, threshold), isFirst, isUnderWay)
    do throws(ArchiveError) {
      guard let stored = try LaunchRecord.read(claim, key) else { return }
      (record, note) = stored
      if let note, note.stage == .restored, !isUnderWay {
        record.endRestore(note, threshold: threshold, in: environment)
      }
    } catch {
      problem = error
    }
  }

  /// Decides whether a state is restored; false if it gives way to an older one.
  mutating func take(_ version: ArchiveVersion, _ tree: some LaunchedTree) -> Bool {
    guard !isUnderWay else { return true }
    let verdict = LaunchVerdict(
      record, note, of: version, in: environment, threshold: threshold)
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
      noteTag.map { _ in claim.launch }, noteTag ?? NumberTag(), record.valueTag,
      leftOut: leftOut, isNear: record.crashes >= threshold)
  }

  private mutating func write(_ note: LaunchNote) -> NumberTag? {
    do throws(ArchiveError) {
      return try record.write(claim, key, note)
    } catch {
      problem = error
      return nil
    }
  }
}

extension LaunchRecord {
  /// Reads the record of a claimed state, with its note.
  static func read(
    _ claim: StateFile.Claim, _ key: ArchiveKey
  ) throws(ArchiveError) -> (record: LaunchRecord, note: LaunchNote?)? {
    guard let bytes = try claim.launch.read(),
      let (record, noteTag) = try open(bytes, key, context(claim))
    else { return nil }
    return (record, LaunchNote(endOf: bytes, noteTag))
  }

  /// Writes the record of a claimed state; returns the key of its note.
  @discardableResult
  func write(
    _ claim: StateFile.Claim, _ key: ArchiveKey, _ note: LaunchNote
  ) throws(ArchiveError) -> NumberTag {
    let noteTag = NumberTag()
    try claim.launch.write(
      try sealed(noteTag: noteTag, key, Self.context(claim)), note: note.bytes(noteTag))
    return noteTag
  }

  private static func context(_ claim: StateFile.Claim) -> ArchiveContext {
    ArchiveContext(claim.context.fields + ["launch"])
  }
}
