internal import ArchiveCodec
internal import RestorationFoundation

/// Knows which restores of a state began and did not end: in this launch, and by its
/// marker in earlier launches.
package final class LaunchGuard {
  private let marker: LaunchMarker
  /// The name under which the marker belongs to this claim.
  private let claimed: ClaimedName
  let environment: ApplicationEnvironment

  /// The restore that has begun and not ended.
  private(set) var restore: OpenRestore?
  private var restoreCount: UInt64
  /// Whether a restore has begun in this launch, or since the app asked to try again
  /// what restores leave out.
  private var hasBegun: Bool
  /// The noted problems of the last save; nil if nobody has looked.
  private var notedProblems: [String]?

  /// Creates the guard of a state, in a launch that may have had another one before.
  init(
    _ marker: LaunchMarker, _ claimed: ClaimedName, _ environment: ApplicationEnvironment,
    after earlier: LaunchGuard?
  ) {
    (self.marker, self.claimed) = (marker, claimed)
    self.environment = environment
    (restoreCount, hasBegun) = (earlier?.restoreCount ?? 0, earlier?.hasBegun ?? false)
  }

  deinit { close() }

  /// Whether a marker is stored.
  var isMarked: Bool {
    get throws(ArchiveError) { try marker.storage.open() != nil }
  }

  /// Reads the marker that the launches before this one have left.
  ///
  /// - Throws: Why the marker must not be replaced, or cannot be read.
  func read(_ key: ArchiveKey) throws(ArchiveError) -> LaunchMarker.Stored {
    let stored = try marker.read(key)
    notedProblems = marker.problems(key)
    return stored
  }

  /// The knowledge of earlier restores, for a restore that looks for its state.
  func trial(_ stored: LaunchMarker.Stored?, threshold: Int) -> LaunchTrial {
    LaunchTrial(
      marker: stored, threshold: threshold, environment: environment, isFirst: !hasBegun)
  }

  /// Removes the marker, since crashes of a state that is gone are not counted for the next one.
  func removeMarker() throws(ArchiveError) {
    try marker.storage.remove()
    notedProblems = nil
  }

  /// Notes the problems of a save, unless the same are noted.
  ///
  /// - Throws: Why they cannot be noted, which is no reason to fail a save.
  func note(
    problems: [String], _ key: () throws(ArchiveError) -> ArchiveKey
  ) throws {
    guard problems != notedProblems else { return }
    notedProblems = nil
    try marker.note(problems: problems, key)
    notedProblems = problems
  }

  /// Whether an earlier launch has found the state too old, too; notes that this one has.
  func isSeenOldAgain(
    since date: Date, _ marked: LaunchMarker.Content, _ key: ArchiveKey
  ) throws -> Bool {
    var content = marked
    if content.isSeenOldAgain(since: date, in: environment) { return true }
    try marker.write(content, key)
    return false
  }

  // MARK: The restore under way

  /// Marks that a restore has begun.
  ///
  /// - Throws: Why there is no mark; the restore has begun all the same.
  func begin(_ tree: StoredTree, _ marked: LaunchMarker.Content?, _ key: ArchiveKey) throws {
    var marked = marked
    // Restores of another state, or by another version of the app, say nothing about this one.
    if marked?.begunVersion != tree.version
      || marked?.applicationVersion != environment.applicationVersion
    {
      marked?.begunRestores = 0
    }
    // A restore of this launch that has not ended is not counted twice.
    if restore == nil, let begun = marked?.begunRestores {
      marked?.begunRestores = min(max(0, begun), .max - 1) + 1
    }
    marked?.begunVersion = tree.version
    marked?.applicationVersion = environment.applicationVersion
    marked?.bootSession = environment.bootSession
    marked?.isFirst = !hasBegun
    // Somebody uses the state.
    marked?.seenOldOf = nil
    marked?.seenOldBoot = nil
    marked?.seenOldUptime = 0
    restoreCount += 1
    restore = OpenRestore(
      number: restoreCount, key: key,
      marked: marked)
    hasBegun = true
    guard let marked, let written = try marker.write(marked, key, isNoted: true) else { return }
    restore?.note = try LaunchNote(
      behind: written.byteCount, written.tags, isBegun: written.isNoteBegun, in: marker.storage)
  }

  /// Lets the next restores try the left-out elements again, one at a time.
  func retrySkipped(_ key: ArchiveKey) throws {
    var content = try read(key).content
    content.skipped.retry()
    try marker.write(content, key)
  }

  /// Lets a file go that is also that of the lock: others may have it from now on.
  func close() { (marker.storage as? LaunchFile)?.close() }

  /// Lets a file go with the lock if it is that of the lock, since the state is gone and the mark
  /// of its restore has been taken away.
  func leaveNoFile() throws(ArchiveError) { try (marker.storage as? LaunchFile)?.remove() }

  /// Counts the next restore as the first of a launch.
  func beginAnew() { hasBegun = false }

  /// Forgets the restore under way, since the state that it has restored is not stored any more.
  package func forgetRestore() { restore = nil }

  /// Ends a restore and takes its mark away; see ``OpenRestore/takeMark(from:isNoted:)``.
  ///
  /// Nothing happens if the restore has ended, or another instance has the state now, with its marker.
  func end(_ number: UInt64, isNoted: Bool) throws {
    guard let restore, restore.number == number else { return }
    self.restore = nil
    guard let taken = claimed.taken, try taken.lock.isHeld() else { return }
    try restore.takeMark(from: marker, isNoted: isNoted)
  }
}
