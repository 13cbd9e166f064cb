internal import ArchiveCodec
internal import Dispatch
internal import RestorationFoundation
internal import Synchronization

extension StateFile {
  /// A month is longer than a vacation; after that nobody waits for a second window.
  private static let longestUnused: TimeInterval = 30 * 24 * 60 * 60

  /// Removes unused states of other instances and leftovers of killed saves, once for every claim:
  /// some time after the launch, or when the state is let go.
  ///
  /// A launch that lists no directory shows its windows sooner.
  func cleanUpAfterLaunch(at now: Date) {
    guard let name = claim.taken?.name, name != cleanedName else { return }
    (cleanedName, uncleanedLaunch) = (name, now)
    if thread == nil { cleanUpIfDue() } else { LaunchesToCleanUp.add(self) }
  }

  /// Cleans up if that is still to be done.
  ///
  /// A file that cannot be removed now is tried again at the next launch.
  func cleanUpIfDue() {
    guard let now = uncleanedLaunch.take(), let name = claim.taken?.name else { return }
    func attempt(_ body: () throws -> Void) {
      do {
        try body()
      } catch {
        cleanUpProblem = cleanUpProblem.map { "\($0); \(error.reason)" } ?? error.reason
      }
    }
    attempt {
      try removeNumberedStates {
        isUnused($0, at: now)
      } ifSure: {
        isSeenOldAgain($0, $1)
      }
    }
    attempt {
      // No other state can have a name that begins as the names of the scenes do.
      try directory.removeLeftovers {
        $0 == name || $0 == name + StateClaim.launchSuffix
          || $0.hasPrefix(name + StateClaim.sceneSuffix) || claim.numberedName(in: $0) != nil
      }
    }
  }

  /// Removes states with a number that no instance has now.
  ///
  /// A user who runs only one instance would never see these states again. A state is locked only
  /// to be removed: an instance that is launched meanwhile must find its own state free.
  ///
  /// - Parameters:
  ///   - isGone: Whether a stored state may go; a state that stays keeps all files beside it.
  ///   - isSure: Asked for the number and the states of an instance when they are locked.
  /// - Throws: The errors of the directory.
  func removeNumberedStates(
    where isGone: (_ name: String) -> Bool,
    ifSure isSure: (_ number: String, _ saved: [String]) -> Bool = { _, _ in true }
  ) throws(ArchiveError) {
    var states: [String: [String]] = [:]
    for name in try directory.names() {
      guard let number = claim.numberedName(in: name), number != claim.taken?.name else { continue }
      states[number, default: []].append(name)
    }
    for (number, names) in states {
      let saved = names.filter { !StateClaim.isBesideState($0) }
      guard try !directory.storage(named: number).isLocked(), saved.allSatisfy(isGone) else {
        continue
      }
      let lock: any ArchiveLock
      do throws(ArchiveError) {
        lock = try directory.storage(named: number).lock()
      } catch {
        guard error.code == .locked else { throw error }
        continue
      }
      defer { withExtendedLifetime(lock) {} }
      guard saved.isEmpty || isSure(number, saved) else { continue }
      for name in saved {
        let storage = directory.storage(named: name)
        try storage.removeSetAside(try storage.setAsideArchives())
        try StateStorage(storage).remove()
        try directory.launchStorage(ofStateNamed: name).remove()
      }
      try removeSessions(ofStateNamed: number)
      // The note of a launch is there also where only windows are stored.
      try directory.launchStorage(ofStateNamed: number).remove()
    }
  }

  /// The identifiers of the scenes that have files beside this state, in order.
  func storedScenes() async throws(ArchiveError) -> [String] {
    let prefix = claim.lookedAt + StateClaim.sceneSuffix(of: "")
    let names = try Set(directory.names()).union(await storedNames(prefix: prefix))
    return names.sorted()
      .filter { $0.hasPrefix(prefix) && !StateClaim.isBesideState($0) }
      .map { String($0.dropFirst(prefix.count)) }
  }

  /// Whether no instance has saved a state for long.
  ///
  /// A state stays if it cannot be read, was saved in the future by this clock, or was saved when a
  /// clock had not been set.
  private func isUnused(_ name: String, at now: Date) -> Bool {
    savedAt(name).map { now.timeIntervalSince($0) > Self.longestUnused } ?? false
  }

  /// Whether an earlier launch has seen the states of an instance old, too, at another start of the
  /// machine or a day before; notes that this launch has.
  ///
  /// The clock of one launch may be wrong: nobody has sat before an app for a month by it.
  private func isSeenOldAgain(_ number: String, _ names: [String]) -> Bool {
    guard let saved = names.compactMap(savedAt).max() else { return false }
    let marker = LaunchMarker(
      storage: directory.launchStorage(ofStateNamed: number),
      context: ArchiveContext([source.application, number, "launch"]))
    do {
      let key = try existingKey()
      var content = try marker.read(key).content
      if content.isSeenOldAgain(since: saved + Self.longestUnused, in: source.environment) {
        return true
      }
      try marker.write(content, key)
    } catch {
      // The next launch is the first to see them.
    }
    return false
  }

  /// When a state was saved; nil if it cannot be read, or was saved when a clock had not been set.
  private func savedAt(_ name: String) -> Date? {
    do {
      guard
        let archive = try Archive.open(
          directory.storage(named: name), key: existingKey(),
          context: ArchiveContext([source.application, name])),
        let facts = try archive.record(NodeRecord.application)?
          .container(forKey: NodeRecord.factsKey),
        let saved = try SaveFacts(facts, of: archive).timestamp, saved > .earliestSave
      else { return nil }
      return saved
    } catch {
      return nil
    }
  }
}

extension Date {
  /// The beginning of 2026: nothing was saved before there was a library.
  ///
  /// An earlier date is of a clock that was not set.
  static let earliestSave = Date(timeIntervalSince1970: 1_767_225_600)
}

extension StateClaim {
  /// The numbered state to which a stored file belongs; nil if the file belongs to none,
  /// or to another state.
  package func numberedName(in stored: String) -> String? {
    guard stored.hasPrefix("\(name)\(Self.numberMark)") else { return nil }
    let number = stored.dropFirst(name.count + 1).prefix { $0.isASCII && $0.isNumber }
    guard !number.isEmpty else { return nil }
    let rest = stored.dropFirst(name.count + 1 + number.count)
    guard
      rest.isEmpty || rest == StateClaim.launchSuffix || rest.hasPrefix(StateClaim.sceneSuffix)
    else { return nil }
    return "\(name)\(Self.numberMark)\(number)"
  }
}

/// The files whose launch will be over soon.
///
/// One timer waits for all of them: a server launches many.
private enum LaunchesToCleanUp {
  private struct Launch {
    weak var file: StateFile?
    let end: ContinuousClock.Instant
  }

  /// A launch is over by then, and what it has asked of the disk is done.
  private static let longestLaunch = 2

  /// In the order of their ends; while there are any, the timer runs.
  private static let launches = Mutex<[Launch]>([])

  static func add(_ file: StateFile) {
    let launch = Launch(file: file, end: .now + .seconds(longestLaunch))
    let isFirst = launches.withLock { launches in
      launches.append(launch)
      return launches.count == 1
    }
    if isFirst { startTimer() }
  }

  /// A task that sleeps would make a thread of its priority at once, in the midst of the launch.
  private static func startTimer() {
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .seconds(longestLaunch)) {
      let (ended, areMore) = takeEnded()
      // One after the other, since each file may take a thread.
      Task.detached(priority: .utility) { for file in ended { await file.cleanUpIfDue() } }
      if areMore { startTimer() }
    }
  }

  private static func takeEnded() -> (files: [StateFile], areMore: Bool) {
    launches.withLock { launches in
      let now = ContinuousClock.now
      let count = launches.prefix { $0.end <= now }.count
      let files = launches[..<count].compactMap(\.file)
      launches.removeFirst(count)
      return (files, !launches.isEmpty)
    }
  }
}
