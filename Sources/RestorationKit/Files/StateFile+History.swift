package import ArchiveCodec

extension StateFile {
  /// The moments of the state, the oldest first.
  package func history() throws(ArchiveError) -> [Moment] {
    var moments = try source.directory.moments(of: name).all()
    for place in moments.indices { moments[place].stateName = name }
    return moments
  }

  /// Keeps the state as it is stored now.
  ///
  /// A state that was restored from a moment is not stored yet, and its moment has it.
  ///
  /// - Parameter reason: The reason: `version` or `session` before the first save of a launch, `unread`
  ///   before a save changes what nobody has asked for, `damaged` before records are left out.
  /// - Returns: The moment; nil if nothing is stored, or the state is not stored yet.
  /// - Throws: Why the state cannot be kept; then nothing may replace a part of it.
  package func keepMoment(_ reason: Moment.Reason) throws(ArchiveError) -> Moment? {
    let claim = try claim()
    guard standIn == nil else { return nil }
    return try keep(reason, claim)
  }

  /// Keeps what is stored, if nobody could read it or not all of it, before the app lets its state go.
  ///
  /// - Throws: `keyLocked` if there is a key that cannot be used now.
  package func keepUnread(_ isPartlyRead: Bool) throws(ArchiveError) -> Moment? {
    let claim = try claim()
    do throws(ArchiveError) {
      _ = try key()
    } catch {
      guard error.code != .keyLocked else { throw error }
    }
    let reason = keeps == .replaced ? isPartlyRead ? .unread : nil : keeps
    return try reason.flatMap { (reason) throws(ArchiveError) in try keep(reason, claim) }
  }

  /// Makes a moment the stored state again; the one that is stored becomes a moment.
  ///
  /// The next restore reads the state. What this launch knows of the state of before is not written
  /// any more.
  ///
  /// - Throws: `truncated` if a part of the moment is gone; as ``append(_:removing:schema:isCompactionDue:)``.
  package func putBack(_ moment: Moment) throws(ArchiveError) {
    let claim = try claim(of: [moment])
    let file = try claim.moments.file(of: moment)
    guard let file, file.byteCount == moment.byteCount else {
      throw ArchiveError(
        .truncated, offset: file?.byteCount ?? 0, location: claim.main.location)
    }
    let key = try? key()
    // What is stored gives way to nothing that cannot be read.
    if let key { _ = try open(moment, claim, key) }
    try put(file, claim, keeping: isDiscarded(claim, key) ? nil : .putBack)
    mark = nil
    forgetStored()
    _ = takeKept(claim)
    var record = LaunchRecord()
    record.rest.isPutBack = true
    // Neither crashes nor the age of the state count then; without the note they do.
    if let key { _ = try? claim.write(record, LaunchNote(.ended), key) }
  }

  /// Whether there is nothing to go back to: nothing is stored, or the app has discarded what was.
  func isDiscarded(_ claim: Claim, _ key: ArchiveKey?) -> Bool {
    // What cannot be read may be something to go back to.
    guard let key, let archive = try? Optional.some(open(nil, claim, key)) else { return false }
    return archive?.hasRecords != true && archive?.dropped == nil
  }

  /// Removes moments.
  package func remove(_ moments: [Moment]) throws(ArchiveError) {
    try claim(of: moments).moments.remove(moments)
  }

  /// Takes the state that has moments, and no other: that of another instance may have equal ones.
  private func claim(of moments: [Moment]) throws(ArchiveError) -> Claim {
    // Those of the first instance were listed before.
    let claim = try claim(isSingle: claimed == nil)
    guard moments.allSatisfy({ $0.stateName ?? claim.name == claim.name }) else {
      throw ArchiveError(.locked, subject: claim.others.first?.process)
    }
    return claim
  }

  /// Lets the next restores try again what they leave out, one at a time.
  package func retryLeftOut() throws(ArchiveError) {
    let claim = try claim()
    let key = try key()
    guard var record = try claim.launchRecord(key) else { return }
    record.retry()
    mark = nil
    try claim.write(record, record.note ?? LaunchNote(.ended), key)
  }

  // MARK: Keeping

  /// Keeps the stored archive as it is now.
  func keep(_ reason: Moment.Reason, _ claim: Claim) throws(ArchiveError) -> Moment? {
    defer { removeExcess(claim) }
    return try claim.moments.keep(reason, at: conditions.now)
  }

  /// Keeps the stored archive when the one that replaces it is written, and before that one takes its place.
  ///
  /// So the new one replaces nothing if the old one cannot be kept, whoever has asked for it: a compaction runs
  /// by itself. Where something is to leave no trace, the moments go that have bytes of the archive and that a
  /// restore may take: whenever the process ends, the archive still says that the compaction is due.
  func keepReplaced(_ reason: Moment.Reason?) throws(ArchiveError) {
    guard let claimed, let reason else { return }
    if isCompactionDue, reason == .replaced {
      do throws(ArchiveError) {
        return try claimed.moments.remove(try claimed.restorable().filter(\.isOfMain))
      } catch {
        throw error.beforeAChange
      }
    }
    guard let moment = try claimed.moments.keep(reason, at: conditions.now) else { return }
    if kept == nil || reason != .replaced { kept = moment }
  }

  /// Puts the bytes of another file in the place of the archive.
  func put(
    _ file: any ArchiveFile, _ claim: Claim, keeping reason: Moment.Reason?
  ) throws(ArchiveError) {
    try claim.main.replace { sink throws(ArchiveError) in
      try sink.write(0..<file.byteCount, of: file)
      try keepReplaced(reason)
    }
  }

  /// Removes the moments that are over the bound.
  ///
  /// A failure is no reason to fail a save: the next moment brings another try.
  package func removeExcess(_ claim: Claim) {
    let (policy, now) = conditions
    try? claim.moments.remove(policy.excess(of: claim.moments.all(), at: now))
  }
}
