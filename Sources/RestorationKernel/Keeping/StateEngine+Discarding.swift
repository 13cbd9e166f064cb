internal import ArchiveCodec

extension StateEngine {
  /// Discards what is stored, and all that a restore may try.
  ///
  /// - Parameter heard: Gives who takes part in saves, so that the autosave knows what the app has now,
  ///   and hears of the next change; nil if a save is due.
  /// - Throws: Why something could not be removed.
  func discardState(
    hearing heard: () -> Participants? = { nil }
  ) async throws(RestorationError) {
    let count = turns.overtakingCount
    signal.tell(.discarded)
    do throws(RestorationError) {
      try await turns.run { () async throws(RestorationError) in
        // The state of a later call stays.
        guard count == turns.overtakingCount else { return }
        try await discardNow(.waiting)
        if count == turns.overtakingCount, let participants = heard() { await hear(participants) }
      }
    } catch {
      signal.tell()
      throw error
    }
  }

  func discardNow(_ calls: FileCalls) async throws(RestorationError) {
    // A save that blocks the actor may come before the end of the call, and a file that has failed to
    // discard has forgotten what it had.
    beginAnew()
    findings.hasTriedToRestore = true
    do throws(ArchiveError) {
      try await inFile(calls) { (file) throws(ArchiveError) in try file.discard() }
      // A state that nobody could read is in no save's way any more.
      if findings.isLocked { (findings.isLocked, findings.lastStatus) = (false, .notRestoredYet) }
    } catch {
      throw RestorationError(error)
    }
  }

  /// Asks all objects without storing anything.
  private func hear(_ participants: Participants) async {
    let count = turns.overtakingCount
    // After a failure the next save stores all.
    guard let prepared = try? await prepared(.waiting), count == turns.overtakingCount else {
      return
    }
    take(prepared)
    findings.discarded = digest(of: participants)
  }

  /// What the app has while nothing is stored, to compare with what it has later; nil if it cannot be asked.
  func digest(of participants: Participants) -> Int? {
    document = Document()
    guard let result = try? surveyed(participants) else { return nil }
    giveBack(result.taken)
    return result.digest
  }
}

extension Survey.Result {
  /// Tells whether two surveys of an empty document have found the same.
  var digest: Int {
    var hasher = Hasher()
    for (record, fingerprint) in records.fingerprints {
      hasher.combine(record)
      hasher.combine(fingerprint)
    }
    return hasher.finalize()
  }
}
