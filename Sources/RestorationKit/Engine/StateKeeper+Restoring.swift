internal import ArchiveCodec
internal import RestorationFoundation

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
      try await call { () async throws in
        let wasRestoring = asking.isRestoring
        defer { asking.isRestoring = wasRestoring }
        asking.isRestoring = true
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

  /// Begins anew, since whatever was saved so far is stored.
  private func restoreNow(
    _ roots: [any RestorableNode], ifItHas had: Int?
  ) async throws -> RestorationReport {
    if had == nil, settings.host != nil { try checkNoneIsConnected() }
    let unread = findings.unread
    (findings.hasTriedToRestore, findings.isOnDisk) = (true, false)
    // An autosave may have found that there is nothing to save yet.
    defer { autosave?.turns.change() }
    beginAnew()
    let opened: FileQueue.Opened
    do throws(ArchiveError) {
      if file.linked != nil { try await fetch(for: .restore) }
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
    (report.stateName, report.others) = (known.stateName, known.others)
    if !known.others.isEmpty { known.others.say(known.stateName) }
    if settings.values != nil || opened.stored?.values.isEmpty == false {
      values.restore(opened, in: file, isRetry: had != nil)
    }
    if let stored = opened.stored {
      restore(stored, opened.mark, roots, &report)
      opened.mark?.endRestore()
    } else if report.outcome == .noArchive {
      document = Document()
      let problems = [report.launchProblem, await keyProblem()].compactMap(\.self)
      report.launchProblem = problems.isEmpty ? nil : problems.joined(separator: "; ")
    }
    return report
  }

  /// Why saves will fail, if the provider makes no key and has none; nil if they will not.
  private func keyProblem() async -> String? {
    guard !settings.source.keys.makesKey else { return nil }
    do throws(ArchiveError) {
      try await inFileNow { (queue) throws(ArchiveError) in _ = try queue.file.key() }
      return nil
    } catch {
      return "\(RestorationError.notRestored(error, makesKey: false))"
    }
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
    guard report.outcome == .restored else {
      // The next save begins anew, and values need no restore of the tree.
      settings.values?.beginAnew(withUnread: true)
      return (report.location, report.savedAt, report.passedOver) = (nil, nil, [])
    }
    let document = run.settled(stored.records)
    report.kept = document.keptElements(types)
    (findings.launch, findings.records) = (launch, settings.host == nil ? nil : stored.records)
    end(run, with: document, since: start, in: &report)
    settings.values?.describe(in: &report)
  }

  /// Goes on with the document that a run has left.
  func end(
    _ run: RestorationRun, with document: Document, since start: ContinuousClock.Instant,
    mayMove: Bool = false, in report: inout RestorationReport
  ) {
    // What is kept may refer to any object, or lie below any, and what comes late may move before its first save;
    // the next one asks them. A window that connects is as a launch.
    if document.findsAllByObject || mayMove {
      for slot in run.order where run.elements.isKnown(slot) {
        guard let object = run.elements[slot].object else { continue }
        KnownObjects.shared.note(object, at: slot, of: owner, hasChanged: true)
      }
    }
    report.lines = ReportEntries(run.lines(document), of: document)
    run.elements.forget()
    (self.document, report.walkDuration) = (document, start.duration(to: .now))
  }
}
