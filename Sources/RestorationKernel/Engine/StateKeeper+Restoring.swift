internal import ArchiveCodec

extension StateKeeper {
  /// Restores what is stored.
  ///
  /// The roots are asked for in the turn of the restore.
  ///
  /// With `onlyUnread` the restore makes up for one that could not read the state, and declines if the app has
  /// something else by now.
  func restore(
    onlyUnread: Bool = false, _ roots: () -> [any RestorableNode]
  ) async throws(RestorationError) -> RestorationReport {
    let result = await Result { () async throws(RestorationError) in
      try await call(.restore) { () async throws in
        let had = onlyUnread && findings.unread != nil ? findings.discarded : nil
        if onlyUnread, had == nil { return RestorationReport(.declined) }
        return try await restoreNow(roots(), ifItHas: had)
      }
    }
    if onlyUnread, case .success(let report) = result, report.outcome == .declined { return report }
    findings.lastRestore = result.map(\.outcome)
    settings.last?.restore = result
    return try result.get()
  }

  private func restoreNow(
    _ roots: [any RestorableNode], ifItHas had: Int?
  ) async throws -> RestorationReport {
    let unread = findings.unread
    findings.hasTriedToRestore = true
    // An autosave may have found that there is nothing to save yet.
    defer { autosave?.turns.change() }
    // Whatever was saved so far is stored.
    beginAnew()
    findings.isOnDisk = false
    let opened: FileQueue.Opened
    do throws(ArchiveError) {
      opened = try await inFileNow { (queue) throws(ArchiveError) in try queue.open() }
    } catch {
      return try refused(error, roots, had, unread)
    }
    if let had, digest(of: roots) != had {
      // The app has gone on, so the state stays one that nobody has read.
      opened.mark?.endRestore()
      findings.unread = unread
      return RestorationReport(.declined)
    }
    var report = opened.report
    (report.stateName, report.otherInstances) = (known.stateName, known.others)
    if let stored = opened.stored {
      restore(stored, opened.mark, roots, &report)
      opened.mark?.endRestore()
    } else if report.outcome == .noArchive {
      document = Document()
    }
    return report
  }

  /// Decides what becomes of a restore that could not open the state.
  private func refused(
    _ error: ArchiveError, _ roots: [any RestorableNode], _ had: Int?, _ unread: ArchiveError?
  ) throws -> RestorationReport {
    let has = error.mayPass ? digest(of: roots) : had
    if let had, error.code == .keyLocked || has != had {
      // The state can still be read later, unless the app has gone on.
      (findings.unread, findings.discarded) = (unread, has == had ? had : nil)
      return RestorationReport(.declined)
    }
    if error.mayPass { (findings.unread, findings.discarded) = (error, has) }
    throw RestorationError.notRestored(error, makesKey: settings.source.keys.makesKey)
  }

  private func restore(
    _ stored: FileQueue.StoredState, _ launch: LaunchMark?, _ roots: [any RestorableNode],
    _ report: inout RestorationReport
  ) {
    let start = ContinuousClock.now
    let run = RestorationRun(
      stored.document, objects, delegate: delegate, roots: roots,
      nodeLimit: settings.policy.nodeLimit, launch
    ) { (record) throws(ArchiveError) in try stored.records.decoder(of: record) }
    report.outcome = run.run()
    guard report.outcome == .restored else { return report.source = nil }
    let document = run.settled { stored.records.byteCount(of: $0) }
    report.kept = document.keptElements(types)
    findings.launch = launch
    end(run, with: document, since: start, in: &report)
  }

  /// Goes on with the document that a run has left.
  func end(
    _ run: RestorationRun, with document: Document, since start: ContinuousClock.Instant,
    in report: inout RestorationReport
  ) {
    // What is kept may refer to any object, or lie below any; the next save asks them.
    if document.findsAllByObject {
      for slot in run.order where run.elements.isKnown(slot) {
        guard let object = run.elements[slot].object else { continue }
        KnownObjects.shared.note(object, at: slot, of: owner, hasChanged: true)
      }
    }
    report.lines = ReportEntries(run.lines(document), of: document)
    run.elements.forget()
    self.document = document
    report.walkDuration = start.duration(to: .now)
  }
}
