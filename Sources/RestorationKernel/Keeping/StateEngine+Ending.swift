internal import ArchiveCodec

extension StateEngine {
  /// Saves while the caller blocks the actor, so that no call that was made before can end.
  ///
  /// - Returns: Whether all is stored; false without a save before a restore has ended, and in a hook.
  func end(_ calls: FileCalls, _ participants: (() -> Participants?)?) async -> Bool {
    guard let participants, findings.hasTriedToRestore, turns.running != .restore,
      !asking.isUnderWay
    else {
      try? await inFile(calls) { _ in }
      return false
    }
    do throws(RestorationError) {
      let report = try await save(byItself: true, calls, participants)
      return report.outcome == .saved && findings.isComplete
    } catch {
      return false
    }
  }

  /// A change of which nobody knows yet whether it is stored.
  struct Write {
    let number: UInt64
    let result: Survey.Result
  }

  /// Takes what has become of the change of a save that does not go on as long as the actor is blocked,
  /// or for which nobody has waited.
  func takeWrite(_ calls: FileCalls) async throws(ArchiveError) {
    guard let write = underWay else { return }
    let written = await calls.first { [file, number = write.number] in await file.written(number) }
    guard let written else { throw ArchiveError(.inputOutput) }
    guard underWay?.number == write.number else { return }
    guard let written else {
      underWay = nil
      return giveBack(write.result.taken)
    }
    // The next survey finds what is not stored.
    _ = try? take(write, written)
  }

  /// Lets the document have what is stored now.
  func take(
    _ write: Write, _ written: FileQueue.Written
  ) throws(ArchiveError) -> StateFile.Appended {
    underWay = nil
    let result = write.result
    guard written.isThere else {
      giveBack(result.taken)
      return try written.appended.get()
    }
    (findings.discarded, findings.unread) = (nil, nil)
    let count = document?.elements.count ?? 0
    apply(result.change)
    document?.setFingerprints(written.fingerprints, from: count)
    take((written.writer, written.numbering))
    let appended = try written.appended.get()
    KnownObjects.shared.askAgain(result.askAgain, of: owner)
    return appended
  }
}
