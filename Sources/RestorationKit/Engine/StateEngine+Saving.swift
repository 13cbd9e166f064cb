internal import ArchiveCodec

extension StateEngine {
  /// Stores the state; what a scene adds is written beside it.
  func save(
    _ roots: [any RestorableNode], for delegate: (any StateDelegate)?,
    host: ((KeyedEncoder) throws -> Void)? = nil
  ) async throws(RestorationError) -> PreservationReport {
    if isLocked { return PreservationReport(.locked) }
    let comesFirst = !hasTriedToRestore
    if settings.isStrict, comesFirst {
      throw RestorationError(
        .strict,
        "The keeper is strict, so nothing was saved. Call restore(into:) at launch, before the"
          + " first save.")
    }
    claim.beginUse()
    defer { claim.endUse() }
    let start = ContinuousClock.now
    walkCount += 1
    let number = walkCount
    let walk = PreservationWalk(
      types: types, objects: objects, limits: settings.limits, nodeLimit: settings.nodeLimit,
      now: settings.now(), trace: trace
    )
    let keptCoders = objects.takeKeptCoders()
    var isReported = false
    defer {
      walk.end()
      if !isReported { objects.putBack(keptCoders) }
    }
    do {
      guard try preserve(roots, with: walk, for: delegate, host: host, keptCoders) else {
        var report = PreservationReport(.declined)
        report.setAside = try await file.decline(number: number, settings.settingAside)
        objects.kept = nil
        note(in: &report)
        return report
      }
      var report = PreservationReport(.saved)
      isReported = settings.isStrict
      try throwIfStrict(walk)
      report.walkDuration = start.duration(to: .now)
      if !walk.lost.isEmpty {
        try walk.keepLastStates(from: try await lastTree())
      }
      let settlement = walk.settlement()
      let records = try walk.finish()
      walk.end()
      let result = try await file.write(records, number: number, settings.settingAside)
      note(in: &report)
      isReported = true
      if comesFirst, result?.setAside != nil { walk.noteApplication(.notRestoredBefore) }
      report.lines = walk.makeEntries()
      guard let written = result else {
        report.outcome = .superseded
        return report
      }
      walk.kept?.settle(settlement)
      report.version = written.summary.version
      report.byteCount = written.summary.byteCount
      report.setAside = written.setAside
      return report
    } catch let error as ArchiveError {
      if error.code == .keyLocked { return PreservationReport(.locked) }
      if error.code == .locked { return PreservationReport(.inUse(by: error.subject)) }
      throw RestorationError(error)
    } catch let error as RestorationError {
      throw error
    } catch {
      throw RestorationError(.content(error))
    }
  }

  private func throwIfStrict(_ walk: PreservationWalk) throws(RestorationError) {
    guard settings.isStrict, let problem = walk.firstProblem else { return }
    throw RestorationError(
      .strict, "The keeper is strict, so nothing was saved. It would be: \(problem)")
  }

  private func note(in report: inout PreservationReport) {
    report.stateName = stateName
    report.otherInstances = otherInstances
    // Who had the state has let go.
    if case .inUse = lastStatus { lastStatus = .notRestoredYet }
  }

  /// What is stored, for nodes whose state could not be encoded.
  ///
  /// What cannot be read whatever anybody does is as good as nothing here: the
  /// write sets it aside. Any other failure ends the save, which would replace what
  /// could be read next time.
  private func lastTree() async throws(ArchiveError) -> StoredTree? {
    do throws(ArchiveError) {
      try await file.take()
      return try await file.read()
    } catch {
      guard error.isAboutContent || error.code == .keyMissing else { throw error }
      return nil
    }
  }

  /// All that is called in the app, in one go; false if the gate says no.
  private func preserve(
    _ roots: [any RestorableNode], with walk: PreservationWalk,
    for delegate: (any StateDelegate)?, host: ((KeyedEncoder) throws -> Void)?,
    _ keptCoders: KeptCoders
  ) throws -> Bool {
    ignoresSnapshot = false
    guard try encodeApplication(walk, for: delegate, host: host, keptCoders) else { return false }
    try walk.walk(roots) { ignoresSnapshot }
    return true
  }

  /// Asks the gate and lets the delegate write; false if the gate says no.
  private func encodeApplication(
    _ walk: PreservationWalk, for delegate: (any StateDelegate)?,
    host: ((KeyedEncoder) throws -> Void)?, _ keptCoders: KeptCoders
  ) throws -> Bool {
    do {
      try walk.encodeApplication(
        facts: { settings.environment.encode(with: $0, timestamp: walk.now) }, host: host,
        notes: keptCoders.notes
      ) { coder, encoder in
        guard let delegate else { return }
        var isSaving = true
        trace?(RestorationTrace(call: .shouldSaveApplicationState))
        do {
          try encoder.attempt { isSaving = delegate.shouldSaveApplicationState(with: coder) }
        } catch {
          coder.note(.encodeFailed(error.reason))
        }
        guard isSaving else { throw Declined() }
        trace?(RestorationTrace(call: .willEncodeRestorableState))
        do {
          try encoder.attempt { try delegate.willEncodeRestorableState(with: coder) }
        } catch {
          coder.note(.willEncodeFailed(error.reason))
        }
      }
      return true
    } catch is Declined {
      return false
    }
  }
}

private struct Declined: Error {}
