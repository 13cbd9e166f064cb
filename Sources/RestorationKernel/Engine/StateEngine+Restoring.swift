internal import ArchiveCodec

extension StateEngine {
  /// Restores what is stored.
  ///
  /// The participants are asked for in the turn of the restore; none if the delegate is gone.
  ///
  /// With `ifUnchanged` the restore declines if the app has something else by now than when the state
  /// could not be read.
  func restore(
    _ calls: FileCalls = .waiting, ifUnchanged: Bool = false, _ participants: () -> Participants?
  ) async throws(RestorationError) -> RestorationReport {
    do throws(RestorationError) {
      var report = try await turns.run(.restore) { () async throws(RestorationError) in
        guard let participants = participants() else { return RestorationReport(.delegateGone) }
        guard ifUnchanged else { return try await restoreNow(participants, calls) }
        guard findings.unread != nil, let had = findings.discarded, digest(of: participants) == had
        else { return RestorationReport(.declined) }
        return try await restoreNow(participants, calls, ifItHas: had)
      }
      report.noteOtherKeeper(of: settings.source.name)
      Problems.say(report.said)
      settings.heard?(report.problems.map(\.description))
      return report
    } catch {
      Problems.say(["The restore has failed: \(error)"])
      throw error
    }
  }

  /// Restores what could not be read before, unless the app has changed something since then.
  ///
  /// - Throws: Why it still cannot be read.
  func restoreUnread(_ participants: () -> Participants?) async throws(RestorationError) {
    guard findings.unread != nil else { return }
    let report = try await restore(ifUnchanged: true, participants)
    if report.outcome != .declined { findings.lateReport = report }
  }

  private func restoreNow(
    _ participants: Participants, _ calls: FileCalls, ifItHas had: Int? = nil
  ) async throws(RestorationError) -> RestorationReport {
    let unread = findings.unread
    findings.hasTriedToRestore = true
    // An autosave may have found that there is nothing to save yet.
    defer { signal.tell() }
    // Whatever was saved so far is stored.
    beginAnew()
    findings.isOnDisk = false
    let opened: FileQueue.Opened
    do throws(ArchiveError) {
      opened = try await calls {
        [file, conditions = settings.ofCall] () async throws(ArchiveError) in
        try await file.open(conditions)
      }
    } catch {
      if error.mayPass {
        (findings.unread, findings.discarded) = (error, digest(of: participants))
      }
      return try refused(error)
    }
    if let had, digest(of: participants) != had {
      // The app has gone on meanwhile, so the state stays one that nobody has read.
      try? await inFile(calls) { $0.forgetOpened() }
      findings.unread = unread
      return RestorationReport(.declined)
    }
    (findings.isLocked, known) = (false, (nil, opened.numbering))
    var report = opened.report
    (report.stateName, report.otherInstances) = settings.source.holding.now
    if let stored = opened.stored {
      restore(stored, opened.mark, participants, &report)
      opened.mark?.endRestore()
    } else if report.outcome == .noArchive {
      document = Document()
    }
    findings.lastStatus = RestorationStatus(after: report.outcome)
    return report
  }

  /// The report of a restore that could not read what is stored, or the error that says so.
  private func refused(_ error: ArchiveError) throws(RestorationError) -> RestorationReport {
    if error.code == .keyLocked {
      (findings.isLocked, findings.lastStatus) = (true, .locked)
      return RestorationReport(.locked)
    }
    if error.code == .locked {
      findings.lastStatus = .inUse(by: error.subject)
      return RestorationReport(.inUse(by: error.subject))
    }
    // The key was there, so a save can keep the archive that is in its way.
    if error.isAboutContent { findings.isLocked = false }
    let failure = RestorationError.notRestored(error, makesKey: settings.source.keys.makesKey)
    findings.lastStatus = .failed(failure.description)
    throw failure
  }

  private func restore(
    _ stored: FileQueue.StoredState, _ launch: LaunchMark?, _ participants: Participants,
    _ report: inout RestorationReport
  ) {
    let start = ContinuousClock.now
    let records = stored.records
    let run = RestorationRun(
      stored.document, objects, delegate: participants.delegate, roots: participants.roots, launch
    ) { (record) throws(ArchiveError) in try records.decoder(of: record) }
    report.outcome = run.run()
    guard report.outcome == .restored else { return report.source = nil }
    let document = run.settled { records.byteCount(of: $0) }
    report.lines = run.entries(document)
    report.kept = document.keptElements(types)
    // What is kept may refer to any object, or lie below any; the next save asks them.
    if document.findsAllByObject { know(run) }
    self.launch = launch
    findings.tabsToCome = run.elements.tabsToCome.map { tabs, id in
      TabToCome(tabs: tabs, id: id, instead: tabs.selectedTab.map { ObjectIdentifier($0) })
    }
    run.elements.forget()
    self.document = document
    report.walkDuration = start.duration(to: .now)
  }

  /// Finds objects by themselves from now on.
  func know(_ run: RestorationRun) {
    for slot in run.order where run.elements.isKnown(slot) {
      guard let object = run.elements.object(at: slot) else { continue }
      KnownObjects.shared.note(object, at: slot, of: owner, hasChanged: true)
    }
  }
}
