internal import ArchiveCodec

extension SceneHost {
  /// Reads the list of scenes; call it once, before any other method.
  ///
  /// No scene is made. The sessions have everything that was stored of them but their
  /// nodes. A session that is not restorable is discarded. The delegate is told in one call of
  /// these sessions, and of those that were discarded while the app did not run.
  ///
  /// If the key is locked, ``isLocked`` is true, and there are no sessions until
  /// ``protectedDataDidBecomeAvailable()``.
  ///
  /// If another instance of the app has the scenes, this one has others, with a
  /// number, as ``StatePolicy/instances`` says. With ``InstancePolicy/single``
  /// it can look at the sessions, and connecting one restores nothing.
  ///
  /// - Parameter asSession: Whether the system brings back all apps.
  /// - Throws: ``RestorationError`` with `inUse` if another instance has the
  ///   scenes, or `archive` if the list cannot be read. Then there are the sessions
  ///   whose files can be read, and the next save sets the list aside. If the
  ///   directory itself fails, there are no sessions, and no list is written.
  public func launch(asSession: Bool = false) async throws(RestorationError) {
    defer { saveByItself() }
    let other = await otherOwner()
    try await readSessions(isOwner: other == nil, asSession: asSession)
    if let other { throw .inUse(by: other.process) }
  }

  /// Begins the autosave of a host whose keeper ``Restoration`` has begun, and keeps the host:
  /// nobody calls or holds anything then.
  private func saveByItself(isolation: isolated (any Actor)? = #isolation) {
    guard keeper.keepsHosts, autosave == nil else { return }
    keeper.keptHosts.append(self)
    beginAutosave(isolation: isolation)
  }

  /// Who has the scenes; nil if this host has them, or if nothing can be written.
  private func otherOwner() async -> OtherInstance? {
    do throws(ArchiveError) {
      try await keeper.engine.file.take()
      let settings = keeper.engine.settings
      await keeper.engine.file.keepSession(settings.policy.sessions, at: settings.now())
      await keeper.engine.file.cleanUpAfterLaunch(at: settings.now())
      return nil
    } catch {
      guard error.code == .locked else { return nil }
      return OtherInstance(stateName: keeper.engine.claim.name, process: error.subject)
    }
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
  /// - Throws: As ``launch(asSession:)``. A key that is still locked is no error.
  public func protectedDataDidBecomeAvailable() async throws(RestorationError) {
    if case .locked(let asSession) = launchState {
      try await readSessions(isOwner: await otherOwner() == nil, asSession: asSession)
    }
    for session in openSessions where session.isLocked {
      if let scene = session.scene {
        await unlock(scene)
      } else {
        await load(session, engine(of: session))
      }
    }
    await writeList()
  }

  private func readSessions(
    isOwner: Bool, asSession: Bool
  ) async throws(RestorationError) {
    guard let (stored, unread) = try await readList(asSession: asSession) else { return }
    var failure = unread
    sessions.forgetListed()
    var found = listed(in: stored ?? SceneList())
    for (place, row) in found.enumerated() where row.state.isOpen {
      await load(row.session, row.engine, isRestoredNext: place < Self.largestOpenCount)
    }
    do {
      found += try await lostSessions(besides: found.map(\.session), isOwner: isOwner)
    } catch {
      failure = failure ?? RestorationError(error)
    }
    await list.closeOpened()
    // Sessions that were opened before the list was read stay as they are, at the front.
    found.removeAll { !sessions.add($0) }
    // A host that only looks writes and discards nothing.
    launchState = .known(
      RestoreReason(
        after: stored, hasSessions: found.contains(where: \.state.isOpen), asSession: asSession),
      isOwner: isOwner)
    if isOwner {
      await keepSavedElsewhere()
      // Not those that were discarded here and are back, since another machine has saved them.
      await discardUnwanted(found.filter(\.state.isOpen).map(\.session))
    }
    if let failure { throw failure }
  }

  /// Reads the list of sessions.
  ///
  /// - Returns: The list, and why its content cannot be read; nil if the key is locked.
  /// - Throws: Any other failure, after which the list may be read next time.
  private func readList(
    asSession: Bool
  ) async throws(RestorationError) -> (list: SceneList?, failure: RestorationError?)? {
    do {
      return (try await list.read(), nil)
    } catch {
      if error.code == .keyLocked {
        launchState = .locked(asSession: asSession)
        return nil
      }
      if isListLocked { launchState = .before }
      guard error.isAboutContent || error.code == .keyMissing else {
        throw RestorationError(error)
      }
      return (nil, .notRestored(error, makesKey: keeper.engine.settings.keys.makesKey))
    }
  }

  private func listed(in list: SceneList) -> [SessionTable.Row] {
    func row(_ entry: SceneList.Entry, _ state: SessionState) -> SessionTable.Row {
      SessionTable.Row(
        session: SceneSession(entry), engine: engine(ofScene: entry.identifier), state: state)
    }
    let now = keeper.engine.settings.now()
    return list.scenes.map { row($0, .stored) }
      + list.closed.map { row($0, .closed(at: $0.closedAt ?? now)) }
      + list.discarded.map { row($0, .discarded) }
  }

  /// How many files stay open between a launch and the restores that read the rest of them.
  ///
  /// Each takes a descriptor and guarded memory. The restores of more windows open theirs again.
  private static let largestOpenCount = 64

  /// Sessions that have a file and are not in the list.
  private func lostSessions(
    besides listed: [SceneSession], isOwner: Bool
  ) async throws(ArchiveError) -> [SessionTable.Row] {
    let known = Set((listed + openSessions).map(\.persistentIdentifier))
    var found: [SessionTable.Row] = []
    for identifier in try await keeper.engine.file.storedScenes() where !known.contains(identifier)
    {
      let engine = engine(ofScene: identifier)
      let isRestoredNext = known.count + found.count < Self.largestOpenCount
      do {
        var part = try await engine.file.readHostPart(isRestoredNext: isRestoredNext)
        var content = try part.flatMap(SceneContent.init(reading:))
        // The store may not know yet that the scene was discarded.
        if content == nil, isOwner, try await takeBack(engine) {
          part = try await engine.file.readHostPart()
          content = try part.flatMap(SceneContent.init(reading:))
        }
        guard let content else {
          if isOwner { await engine.file.removeOldPlace() }
          continue
        }
        if content.closedAt != nil { await engine.file.closeOpened() }
        let session = SceneSession(
          identifier, content, part, at: keeper.engine.settings.now())
        let state = content.closedAt.map { SessionState.closed(at: $0) } ?? .stored
        found.append(SessionTable.Row(session: session, engine: engine, state: state))
      } catch {
        // A file that cannot be read stands for no window, and stays where it is.
      }
    }
    return found
  }

  /// Reads what is stored of a session beside its nodes.
  func load(
    _ session: SceneSession, _ engine: StateEngine, isRestoredNext: Bool = false
  ) async {
    do {
      let part = try await engine.file.readHostPart(isRestoredNext: isRestoredNext)
      let content = try part.flatMap(SceneContent.init(reading:))
      session.failure = nil
      session.take(content, part, at: keeper.engine.settings.now())
    } catch {
      session.failure = RestorationError(error)
    }
  }

  /// Sends the discard of a scene that a local copy has noted; true if another machine has saved
  /// it since, which is here then.
  private func takeBack(_ engine: StateEngine) async throws(RestorationError) -> Bool {
    guard case .refused = await engine.file.sendSoon(), await !engine.file.isRemovedElsewhere else {
      return false
    }
    _ = try await engine.resolve(keepingTheirs: true)
    return true
  }

  /// Brings back what was discarded, and what another machine has saved since: nobody has decided.
  private func keepSavedElsewhere() async {
    guard keeper.engine.settings.directory.linkedStates != nil else { return }
    for row in sessions.rows where isDiscarded(row.session) {
      do {
        if try await !takeBack(row.engine) {
          guard let version = row.session.facts.version,
            let part = try await row.engine.file.readHostPart(), part.version != version
          else { continue }
        }
      } catch {
        // The discard of the session says why, and is tried again.
        continue
      }
      sessions.change(row.session, .bringBack)
      row.session.startAfresh()
      await load(row.session, row.engine)
    }
  }

  /// Discards what does not come back, and tells of all that was discarded.
  private func discardUnwanted(_ found: [SceneSession]) async {
    let count = sessions.discarded.count
    for session in found where session.closedAt == nil {
      if !session.isRestorable { sessions.change(session, .discard) }
    }
    discardClosed()
    // First the list, so that a launch that ends here goes on at the next one.
    if sessions.discarded.count > count { await writeList() }
    await tellDiscarded()
  }
}

extension RestoreReason {
  fileprivate init(after list: SceneList?, hasSessions: Bool, asSession: Bool) {
    self =
      if list == nil, !hasSessions {
        .pristine
      } else if asSession {
        .session
      } else {
        list?.endedCleanly == true ? .launch : .recover
      }
  }
}
