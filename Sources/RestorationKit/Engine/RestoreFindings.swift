internal import ArchiveCodec

/// The findings of the restores and saves of one launch.
struct RestoreFindings {
  /// The fingerprints of the states that the app could not decode, until another state has taken
  /// the place of the stored one.
  var undecoded: Set<RecordFingerprint> = []
  /// Whether a restore of the stored state was tried, or the state was discarded.
  var hasTriedToRestore = false
  var lastStatus = RestorationStatus.notRestoredYet
  /// Why nothing could be written last; nil if that is not known.
  var saveFailure: String?
  /// Whether the key was locked.
  var isLocked = false
  /// The problems that are noted for tools, and of which state; nil if that is not known.
  var notedProblems: (stateName: String?, lines: [String])?
  /// Why the stored state could not be read, if it may be read later and nothing was saved since.
  var unread: ArchiveError?
  /// Whether the app has changed something while the state that could not be read was read again, so
  /// that no object was touched.
  var isUnreadChanged = false
  /// Whether the stored state was put back, and not restored since.
  var isPutBack = false
  /// Where late restores say where they are, for the launch after a crash; nil if nothing can be noted.
  var note: LaunchNote?
  /// The report of the restore that an autosave has made up for.
  var lateReport: RestorationReport?

  /// Another state has taken the place of the one that was found, and nobody has asked for it yet.
  mutating func beginAnew() {
    (undecoded, hasTriedToRestore, lastStatus) = ([], false, .notRestoredYet)
    notedProblems = nil
    unread = nil
  }
}
