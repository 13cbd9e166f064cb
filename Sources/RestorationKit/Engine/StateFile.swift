package import ArchiveCodec
internal import RestorationFoundation
internal import Synchronization

/// The stored state of one keeper; reads and writes one after the other.
package actor StateFile {
  /// The thread of the actor; nil if the state is in memory, so that the actor waits for no disk.
  let thread: OwnThread?
  private let sharedThreads = SharedThreads()
  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe thread?.asUnownedSerialExecutor() ?? sharedThreads.unownedExecutor
  }

  let source: StateSource
  /// Whether the state is also elsewhere.
  nonisolated let isLinked: Bool
  /// The parts of the state under the name that is claimed or looked at.
  var files: StoredFiles
  /// The open archive, if a save or a restore has opened one.
  let open: OpenArchive
  /// The number of the last call that changed the stored state.
  var lastNumber: UInt64 = 0
  /// The claimed state that was cleaned up, or will be.
  var cleanedName: String?
  /// When the launch began, until what it need not wait for has been cleaned up.
  var uncleanedLaunch: Date?
  /// The claimed state of which this launch has kept the session.
  var sessionKeptOf: String?
  /// Why something could not be cleaned up, for the next report of a restore.
  var cleanUpProblem: String?

  /// The problem with the marker, or with the end of a state.
  nonisolated var launchProblem: String? {
    get { launchProblems.withLock { $0 } }
    set { launchProblems.withLock { $0 = newValue } }
  }
  private nonisolated let launchProblems = Mutex<String?>(nil)

  /// Creates the file of a state.
  ///
  /// - Parameters:
  ///   - claim: Says which state the file is of, and that it may be changed.
  ///   - suffix: The part of this state's name behind the name that is claimed.
  ///   - directory: Where the state is.
  ///   - keys: Gives the key.
  ///   - application: The application; its name and the state's are the context of the archives.
  ///   - environment: Says the version of the application, and since when the machine runs.
  ///   - limits: The limits of the state's records, which do not hold for the launch marker.
  package init(
    claim: StateClaim, suffix: String = "", directory: any StateDirectory, keys: any KeyProvider,
    application: String, environment: ApplicationEnvironment = ApplicationEnvironment(),
    limits: ArchiveLimits = .standard
  ) {
    let linked = directory.linkedStates?.directory
    let isMemory = type(of: directory) == MemoryStateDirectory.self
    let isInMemory = isMemory || linked?.isInMemory == true
    // A provider of keys may wait for another process.
    let mayWait = !isInMemory || isMemory && type(of: keys) != FixedKeyProvider.self
    thread = mayWait ? OwnThread() : nil
    isLinked = linked != nil
    open = OpenArchive(takesDescriptor: !isInMemory)
    source = StateSource(
      claim: claim, suffix: suffix, directory: directory, keys: keys, application: application,
      environment: environment, limits: limits)
    files = StoredFiles(source, as: claim.name, open, after: nil)
    files.link?.file = self
  }

  var claim: StateClaim { source.claim }
  var directory: any StateDirectory { source.directory }
  var keys: any KeyProvider { source.keys }

  // MARK: The claim

  /// Makes sure that no other instance has the state.
  ///
  /// - Throws: `ArchiveError` with `locked` and the instance that has the state.
  @discardableResult
  func take() async throws(ArchiveError) -> StateClaim.Taken {
    let taken = try await claim.take()
    move(to: taken.name)
    files.link?.noteClaimed()
    return taken
  }

  /// Claims the state that was looked at, and takes no numbered state in its place.
  func takeAsLookedAt() async throws(ArchiveError) {
    guard claim.taken == nil else {
      try await take()
      return
    }
    move(to: try claim.takeFirst().name)
  }

  func move(to name: String) {
    guard files.claimed.name != name else { return }
    files = StoredFiles(source, as: name, open, after: files)
    files.link?.file = self
    open.close()
  }

  /// Moves to the name that is looked at now.
  func moveToNameLookedAt() {
    move(to: claim.lookedAt)
  }

  /// Ends a restore whose caller has not waited for it, since nobody could end it later, and
  /// closes all open archives.
  func close() {
    cleanUpIfDue()
    sessionKeptOf = nil
    open.close()
    closeOpened()
    if let restore = files.launch.restore { endRestore(restore.number, isNoted: false) }
    files.launch.close()
  }

  /// Returns when the thread of the file has done all work before this call.
  func takeTurn() {}

  func existingKey() throws(ArchiveError) -> ArchiveKey {
    try chooseKeyFile()
    return try files.opener.existingKey()
  }

  func currentKey(creating: Bool) throws(ArchiveError) -> CurrentKey {
    try chooseKeyFile()
    let key = try files.opener.currentKey(creating: creating)
    if creating { note { try (keys as? FileKeyProvider)?.noteFile(for: directory) } }
    return key
  }

  /// Chooses the file of the key, if the key may be in one of several.
  func chooseKeyFile() throws(ArchiveError) {
    try (keys as? FileKeyProvider)?.chooseFile(for: directory) { (key) throws(ArchiveError) in
      do throws(ArchiveError) {
        let archive = try files.opener.open(files.archive.storage, key, recovery: .recover)
        return archive.map { _ in true }
      } catch {
        guard error.isAboutContent else { throw error }
        return false
      }
    }
  }

  /// Notes an error of the body as a launch problem: a marker must never stop a restore.
  func note(_ body: () throws -> Void) {
    do {
      try body()
    } catch {
      addLaunchProblem(error.reason)
    }
  }

  /// Notes a problem of the launch behind the problems that are known.
  func addLaunchProblem(_ problem: String) {
    guard let before = launchProblem else { return launchProblem = problem }
    if !before.contains(problem) { launchProblem = "\(before); \(problem)" }
  }
}
