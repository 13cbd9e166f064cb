internal import ArchiveCodec
internal import RestorationFoundation

/// All scenes of an application, most recently used first.
struct SceneList: Hashable, Codable, Sendable {
  /// What is known of a scene without opening its file.
  struct Entry: Hashable, Codable, Sendable {
    let identifier: String
    var role: SceneRole
    var configurationName: String?
    var isRestorable = true
    var title: String?
    var savedAt: Date?
    var byteCount = 0
    var change: Change?
    var closedAt: Date?
    /// The file that is discarded, of one that was.
    var version: ArchiveVersion?
  }

  /// What was set on a session and is not in its file.
  struct Change: Hashable, Codable, Sendable {
    let content: SceneContent
    let parts: Set<SceneContent.Part>
    /// The file that it was set after; a file that was written later has it.
    let version: ArchiveVersion?
  }

  var scenes: [Entry] = []
  /// Closed, and can be opened again.
  var closed: [Entry] = []
  /// Discarded, and the app has not been told yet.
  var discarded: [Entry] = []
  /// Whether the app said that it was about to end.
  var endedCleanly = false

  /// Whether it says the same, but for times and sizes, which the files of the
  /// scenes say as well.
  func isSame(as other: SceneList?) -> Bool {
    guard var other, other.scenes.count == scenes.count else { return false }
    for place in scenes.indices {
      other.scenes[place].savedAt = scenes[place].savedAt
      other.scenes[place].byteCount = scenes[place].byteCount
    }
    return other == self
  }
}

/// The stored list of an application's scenes.
///
/// It is written, superseded and set aside as states are, and has no nodes.
final class SceneListFile {
  private let file: StateFile
  private let settings: EngineSettings
  private var writeCount: UInt64 = 0
  /// What is stored; nil if that is not known.
  private var written: SceneList?
  private let writes = TurnQueue()
  /// Whether the app said that it ends, and has done nothing since.
  var endsCleanly = false
  /// Why the last write has failed; nil if the list is stored.
  private(set) var failure: RestorationError?
  /// Where the last list was set aside that could not be read.
  private(set) var setAsideAt: String?
  /// The list of another machine that is still to be taken over from.
  private var theirs: SceneList?

  private static let key = "scenes"

  /// The list of the scenes whose states lie beside that of an engine.
  init(beside engine: StateEngine) {
    settings = engine.settings
    file = engine.file(StateClaim.sceneSuffix + "s")
  }

  /// The list, nil if none is stored.
  func read() async throws(ArchiveError) -> SceneList? {
    do throws(ArchiveError) {
      guard let part = try await file.readHostPart(isRestoredNext: true) else { return nil }
      let list = try Self.list(in: part.values)
      written = list
      await file.noteRead(part.version)
      return list
    } catch {
      await file.closeOpened()
      throw error
    }
  }

  /// Closes the list, which stays open while the scenes are read, and with it their key.
  func closeOpened() async { await file.closeOpened() }

  /// Lets go of what it has open.
  func close() async {
    await file.release()
    await file.close()
  }

  /// Removes lists that were set aside.
  ///
  /// - Throws: ``RestorationError`` with `archive` or `inUse`.
  func removeSetAside() async throws(RestorationError) {
    do throws(ArchiveError) {
      try await file.removeSetAsideStates()
    } catch {
      throw RestorationError(error)
    }
  }

  /// Writes the list, and notes what became of that.
  ///
  /// - Parameters:
  ///   - calls: How the file is called.
  ///   - take: Takes over from a list of another machine, which was set aside for this one; the
  ///     list is written again after that.
  ///   - list: Gives the list when it is about to be written, with whether the app has ended
  ///     cleanly.
  func store(
    _ calls: FileCalls, taking take: (SceneList) -> Void, _ list: (Bool) -> SceneList
  ) async {
    do throws(RestorationError) {
      let written = try await write(calls) { list(endsCleanly) }
      setAsideAt = written.setAside ?? setAsideAt
      theirs = written.theirs ?? theirs
      if let taken = theirs.take() {
        take(taken)
        let again = try await write(calls) { list(endsCleanly) }
        setAsideAt = again.setAside ?? setAsideAt
        theirs = again.theirs
      }
      failure = nil
    } catch {
      failure = error
      Problems.say(["The list of windows cannot be stored: \(error)"])
    }
  }

  /// Where a list was set aside that could not be read, and that of another machine; nil for none.
  typealias Replaced = (setAside: String?, theirs: SceneList?)

  /// Writes the list unless it is stored already; writes follow one another.
  ///
  /// - Parameters:
  ///   - calls: How the file is called.
  ///   - list: Gives the list when it is about to be written.
  /// - Returns: What was replaced.
  /// - Throws: ``RestorationError`` with `archive`, also if the key is locked.
  @discardableResult
  func write(
    _ calls: FileCalls = .waiting, _ list: () -> SceneList
  ) async throws(RestorationError) -> Replaced {
    // A write whose actor is blocked cannot end; the next one has a higher number.
    if calls.isBlocking { return try await writeNow(calls, list()) }
    return try await writes.run { () async throws(RestorationError) in
      try await writeNow(calls, list())
    }
  }

  private func writeNow(
    _ calls: FileCalls, _ list: SceneList
  ) async throws(RestorationError) -> Replaced {
    guard !list.isSame(as: written) else { return (nil, nil) }
    // A write that fails may have been done all the same.
    written = nil
    writeCount += 1
    let number = writeCount
    let setAside: String?
    do {
      setAside = try await calls {
        [file, settingAside, records = try records(list)] () async throws(ArchiveError) in
        try await file.write(records, number: number, settingAside)
      }?.setAside
    } catch {
      throw RestorationError(.content(error))
    }
    // A later one may not have waited for it.
    if number == writeCount { written = list }
    let sent = try await sent(calls)
    return (sent.setAside ?? setAside, sent.theirs)
  }

  /// Waits until a store has the list.
  ///
  /// What another machine has listed is found by the states of its scenes.
  ///
  /// - Returns: What the store had instead.
  private func sent(_ calls: FileCalls) async throws(RestorationError) -> Replaced {
    let sent = await calls.first { [file, settingAside] in
      await Self.send(file, settingAside)
    }
    guard let sent else {
      guard settings.isCopyLasting else { throw RestorationError(ArchiveError(.inputOutput)) }
      return (nil, nil)
    }
    do throws(ArchiveError) {
      return try sent.get()
    } catch {
      throw RestorationError(error)
    }
  }

  private static func send(
    _ file: StateFile, _ settingAside: SettingAside
  ) async -> Result<Replaced, ArchiveError> {
    do throws(ArchiveError) {
      switch await file.send() {
      case .sent: return .success((nil, nil))
      case .unsent(let error):
        if await !file.isCopyLasting { throw error }
        return .success((nil, nil))
      case .refused:
        let part = await file.theirHostPart()
        guard try await file.resolve(keepingTheirs: false, settingAside) else {
          return .success((nil, nil))
        }
        await file.send()
        return .success((await file.reportSetAside(), part.flatMap(readableList)))
      }
    } catch {
      return .failure(error)
    }
  }

  /// The list of another machine, which is set aside; nil if it cannot be read, as that of a later
  /// version of the app.
  private static func readableList(in part: StateFile.HostPart) -> SceneList? {
    do throws(ArchiveError) {
      return try list(in: part.values)
    } catch {
      return nil
    }
  }

  /// A session with its windows; without any if their list is damaged.
  func withWindows(_ session: SavedSession) async throws(ArchiveError) -> SavedSession {
    var session = session
    do throws(ArchiveError) {
      guard let values = try await file.hostValues(of: session) else { return session }
      session.windows = try Self.list(in: values).scenes.map {
        SavedSession.Window(persistentIdentifier: $0.identifier, title: $0.title)
      }
    } catch {
      // The other sessions can be read all the same.
      guard error.code != .keyLocked, error.code != .keyMissing else { throw error }
    }
    return session
  }

  private static func list(in values: KeyedDecoder) throws(ArchiveError) -> SceneList {
    do {
      return try values.decode(SceneList.self, forKey: key)
    } catch {
      throw .content(error)
    }
  }

  /// An older list would name windows that were closed since; without any list the files of
  /// the scenes say which there are.
  private var settingAside: SettingAside {
    let settings = settings.settingAside
    return SettingAside(bound: settings.bound, generations: .none, date: settings.date)
  }

  private func records(_ list: SceneList) throws -> RecordBatch {
    let builder = RecordBuilder(limits: settings.limits)
    try builder.append(record: NodeRecord.application) { encoder in
      encoder.encodeContainer(forKey: NodeRecord.factsKey) {
        settings.environment.encode(with: $0, timestamp: settings.now())
      }
      try encoder.encodeContainer(forKey: NodeRecord.hostKey) {
        try $0.encode(list, forKey: Self.key)
      }
    }
    return try builder.finish()
  }
}
