internal import ArchiveCodec

extension SceneHost {
  /// Reads the list of scenes; call it once, before any other method.
  ///
  /// No scene is made. The sessions have everything that was stored of them but their
  /// nodes. A session whose configuration restores nothing for this reason is
  /// discarded. The delegate is told in one call of these sessions, and of those that
  /// were discarded while the app did not run.
  ///
  /// If the key is locked, ``isLocked`` is true, and there are no sessions until
  /// ``protectedDataDidBecomeAvailable()``.
  ///
  /// If another instance of the app has the scenes, this one has others, with a
  /// number, as ``StateKeeper/instancePolicy`` says. With ``InstancePolicy/single``
  /// it can look at the sessions, and connecting one restores nothing.
  ///
  /// - Parameter asSession: Whether the system brings back all apps.
  /// - Throws: ``RestorationError`` with `inUse` if another instance has the
  ///   scenes, or `archive` if the list cannot be read. Then there are the sessions
  ///   whose files can be read, and the next save sets the list aside. If the
  ///   directory itself fails, there are no sessions, and no list is written.
  public func launch(asSession: Bool = false) async throws(RestorationError) {
    isSession = asSession
    let other = await otherOwner()
    try await readSessions(isOwner: other == nil)
    if let other { throw .inUse(by: other.process) }
  }

  /// Who has the scenes; nil if this host has them, or if nothing can be written.
  private func otherOwner() async -> OtherInstance? {
    do throws(ArchiveError) {
      try await keeper.engine.file.take()
      await keeper.engine.file.cleanUp(at: keeper.engine.settings.now())
      return nil
    } catch {
      guard error.code == .locked else { return nil }
      return OtherInstance(stateName: keeper.engine.claim.name, process: error.subject)
    }
  }

  /// Lets scenes try again what their restores leave out, since they crashed there.
  ///
  /// It does for the states of ``openSessions`` and ``closedSessions`` what
  /// ``StateKeeper/retrySkippedNodes()`` does for that of a keeper: when a session connects next, in
  /// this launch or a later one, its restore tries the first element that it leaves out.
  ///
  ///     try await host.launch()
  ///     try await host.retrySkippedNodes()
  ///     await host.restoreScenes()
  ///
  /// - Throws: As ``StateKeeper/retrySkippedNodes()``; the first error, when all sessions were
  ///   asked.
  /// - Complexity: O(*n*) in the sessions.
  public func retrySkippedNodes() async throws(RestorationError) {
    var failure: RestorationError?
    for session in openSessions + closedSessions {
      // It may have been discarded while others were asked.
      guard openSessions.contains(session) || closedSessions.contains(session) else { continue }
      do throws(RestorationError) {
        try await engine(of: session).retrySkipped()
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }

  /// Whether the key was locked when scenes were to be read.
  ///
  /// Until ``protectedDataDidBecomeAvailable()`` no stored file is changed.
  public var isLocked: Bool {
    isListLocked || openSessions.contains(where: \.isLocked)
  }

  /// Reads the list and the states that were locked; call it when the key may be there.
  ///
  /// Sessions that were not known join ``openSessions`` behind the others. The
  /// delegate of a scene that was connected meanwhile is told
  /// ``SceneDelegate/sceneStateDidBecomeAvailable(_:)``; then its nodes and its
  /// interaction state are restored. Values that were set meanwhile stay.
  ///
  /// - Throws: As ``launch(asSession:)``, and ``RestorationError`` with `strict` when
  ///   all is done. A key that is still locked is no error.
  public func protectedDataDidBecomeAvailable() async throws(RestorationError) {
    if isListLocked { try await readSessions(isOwner: await otherOwner() == nil) }
    var failure: RestorationError?
    for session in openSessions where session.isLocked {
      guard let scene = session.scene else {
        await load(session)
        continue
      }
      await unlock(scene)
      if case .failure(let error) = scene.restoration, error.code == .strict {
        failure = failure ?? error
      }
    }
    await writeList()
    if let failure { throw failure }
  }

  private func readSessions(isOwner: Bool) async throws(RestorationError) {
    var stored: SceneList?
    var failure: RestorationError?
    do {
      stored = try await list.read()
    } catch {
      isListLocked = error.code == .keyLocked
      if isListLocked { return }
      guard error.isAboutContent || error.code == .keyMissing else {
        throw RestorationError(error)
      }
      failure = .notRestored(error, makesKey: keeper.engine.settings.keys.makesKey)
    }
    var found = (stored?.scenes ?? []).map { SceneSession($0) }
    discarded = (stored?.discarded ?? []).map { SceneSession($0) }
    for (place, session) in found.enumerated() {
      await load(session, isRestoredNext: place < Self.largestOpenCount)
    }
    var closed = (stored?.closed ?? []).map { SceneSession($0) }
    do {
      for lost in try await lostSessions(
        besides: Set(found + closed + discarded), isOwner: isOwner)
      {
        if lost.closedAt == nil { found.append(lost) } else { closed.append(lost) }
      }
    } catch {
      failure = failure ?? RestorationError(error)
    }
    setReason(stored, hasSessions: !found.isEmpty)
    // Those that were opened before the list was read are at the front.
    found.removeAll { openSessions.contains($0) }
    openSessions += found
    closedSessions = closed
    // Who only looks writes and discards nothing.
    (isListRead, isListLocked) = (isOwner, false)
    if isOwner {
      await keepSavedElsewhere()
      await discardUnwanted(found)
    }
    if let failure { throw failure }
  }

  /// How many files stay open between a launch and the restores that read the rest of them: each
  /// takes a descriptor and guarded memory. The restores of more windows open theirs again.
  private static let largestOpenCount = 64

  private func setReason(_ stored: SceneList?, hasSessions: Bool) {
    restoreReason =
      if stored == nil, !hasSessions {
        .pristine
      } else if isSession {
        .session
      } else {
        stored?.endedCleanly == true ? .launch : .recover
      }
  }

  /// Sessions that have a file and are not in the list.
  private func lostSessions(
    besides known: Set<SceneSession>, isOwner: Bool
  ) async throws(ArchiveError) -> [SceneSession] {
    let known = Set((known + openSessions).map(\.persistentIdentifier))
    var found: [SceneSession] = []
    for identifier in try await keeper.engine.file.storedScenes() where !known.contains(identifier)
    {
      let engine = keeper.engine.ofScene(identifier, telling: need)
      do {
        var content = try SceneContent(reading: await engine.file.readHostPart()?.values)
        // The store may not know yet that it was discarded.
        if content == nil, isOwner, try await takeBack(engine) {
          content = try SceneContent(reading: await engine.file.readHostPart()?.values)
        }
        guard let content else {
          if isOwner { await engine.file.removeOldPlace() }
          continue
        }
        let session = SceneSession(
          SceneList.Entry(
            identifier: identifier, role: content.role,
            configurationName: content.configurationName, closedAt: content.closedAt))
        await load(session)
        found.append(session)
      } catch {
        // What cannot be read stands for no window, and stays where it is.
      }
    }
    return found
  }

  /// Reads what is stored of a session beside its nodes.
  func load(_ session: SceneSession, isRestoredNext: Bool = false) async {
    do {
      let part = try await engine(of: session).file.readHostPart(isRestoredNext: isRestoredNext)
      session.failure = nil
      var stored = try SceneContent(reading: part?.values)
      stored?.take(part?.contents ?? [:])
      session.take(stored, version: part?.version)
      session.savedAt = part?.savedAt ?? session.savedAt
      session.byteCount = part?.byteCount ?? session.byteCount
      session.dropActivity { $0.isExpired(at: keeper.engine.settings.now()) }
    } catch {
      session.failure = RestorationError(error)
    }
  }

  /// Sends the discard of a scene that a local copy has noted; true if another machine has saved
  /// it since, which is here then.
  private func takeBack(_ engine: StateEngine) async throws(RestorationError) -> Bool {
    guard case .conflict(let conflict) = await engine.file.sendSoon(), !conflict.isRemoved else {
      return false
    }
    _ = try await engine.resolveConflict(keeping: .theirs)
    return true
  }

  /// Brings back what was discarded, and what another machine has saved since: nobody has decided.
  private func keepSavedElsewhere() async {
    guard keeper.engine.settings.directory is RemoteStateDirectory else { return }
    for session in discarded {
      let engine = engine(of: session)
      do {
        if try await !takeBack(engine) {
          guard let version = session.version,
            let part = try await engine.file.readHostPart(), part.version != version
          else { continue }
        }
      } catch {
        // Its discard says why, and is tried again.
        continue
      }
      discarded.removeAll { $0 === session }
      session.closedAt = nil
      openSessions.append(session)
      session.startAfresh()
      await load(session)
    }
  }

  /// Discards what does not come back, and tells of all that was discarded.
  private func discardUnwanted(_ found: [SceneSession]) async {
    let unwanted = found.filter { session in
      !session.isRestorable
        || configuration(of: session).map { $0.policy(for: session)[restoreReason] == nil } ?? false
    }
    openSessions.removeAll { unwanted.contains($0) }
    discarded += unwanted
    let closedCount = closedSessions.count
    discardClosed()
    // First the list, so that a launch that ends here goes on at the next one.
    if !unwanted.isEmpty || closedSessions.count < closedCount { await writeList() }
    await tellDiscarded()
  }
}
