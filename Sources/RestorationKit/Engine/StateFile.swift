package import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The stored state of one keeper; reads and writes one after the other.
package actor StateFile {
  /// Nil if it waits for no disk.
  private let thread: FileExecutor?
  private let sharedThreads = SharedThreads()
  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe thread?.asUnownedSerialExecutor() ?? sharedThreads.unownedExecutor
  }

  let source: StateSource
  /// The parts of the state under the name that is claimed or looked at.
  var files: StoredFiles
  /// What goes on with it, if somebody has begun to.
  let open: OpenArchive
  /// The subkeys of its secrets that are known here, whatever its name.
  let secrets = SecretKeys()
  /// The number of the last call that changed what is stored.
  var lastNumber: UInt64 = 0
  /// The claimed state that was cleaned up.
  var cleanedName: String?

  /// Why the marker, the end of a state or one that was used up is not as it should be.
  var launchProblem: String?

  /// Creates the file of a state.
  ///
  /// - Parameters:
  ///   - claim: Says which state it is, and that it may be changed.
  ///   - suffix: What follows the name of that state in the name of this one.
  ///   - directory: Where the state is.
  ///   - keys: Gives the key.
  ///   - application: The application; with the name it is the context.
  ///   - environment: Says the version of the application, and since when the machine runs.
  ///   - limits: What its records may hold; not for the launches.
  package init(
    claim: StateClaim, suffix: String = "", directory: any StateDirectory, keys: any KeyProvider,
    application: String, environment: ApplicationEnvironment = ApplicationEnvironment(),
    limits: ArchiveLimits = .standard
  ) {
    let isInMemory = (directory as? RemoteStateDirectory)?.isInMemory ?? false
    thread = isInMemory ? nil : FileExecutor()
    open = OpenArchive(takesDescriptor: !isInMemory)
    source = StateSource(
      claim: claim, suffix: suffix, directory: directory, keys: keys, application: application,
      environment: environment, limits: limits)
    files = StoredFiles(source, as: claim.name, open, secrets, after: nil)
    files.link?.file = self
  }

  var claim: StateClaim { source.claim }
  var directory: any StateDirectory { source.directory }
  var keys: any KeyProvider { source.keys }

  // MARK: The claim

  /// Makes sure that nobody else has the state.
  ///
  /// - Throws: `ArchiveError` with `locked` and the one who has it.
  @discardableResult
  func take() async throws(ArchiveError) -> StateClaim.Taken {
    let taken = try await claim.take()
    move(to: taken.name)
    files.link?.remote.endsLease = false
    return taken
  }

  /// Makes sure of the state that was looked at, and takes none with a number in
  /// its place.
  func takeAsLookedAt() async throws(ArchiveError) {
    guard claim.taken == nil else {
      try await take()
      return
    }
    move(to: try claim.takeFirst().name)
  }

  func move(to name: String) {
    guard files.claimed.name != name else { return }
    // The subkeys that a save has made before it was known whose they are stay.
    files = StoredFiles(source, as: name, open, secrets, after: files)
    files.link?.file = self
    open.close()
  }

  /// Goes on under the name that is looked at now.
  func look() {
    move(to: claim.lookedAt)
  }

  /// Lets a restore end that was announced to go on, since nobody could from now on,
  /// and closes what is open.
  func close() {
    open.close()
    closeOpened()
    // Others may have the state, and forget them, before it is claimed again.
    files.secrets.close()
    if let restore = files.launch.restore { endRestore(window: restore.number) }
  }

  /// Returns when the thread of the file does nothing else.
  func takeTurn() {}

  func existingKey() throws(ArchiveError) -> ArchiveKey { try files.opener.existingKey() }

  func currentKey(creating: Bool) throws(ArchiveError) -> CurrentKey {
    try files.opener.currentKey(creating: creating)
  }

  /// Launches go on without a marker: it must never stop a restore.
  func note(_ body: () throws -> Void) {
    do {
      try body()
    } catch {
      addLaunchProblem(error.reason)
    }
  }

  /// Notes a problem of the launch behind those that are known.
  func addLaunchProblem(_ problem: String) {
    guard let before = launchProblem else { return launchProblem = problem }
    if !before.contains(problem) { launchProblem = "\(before); \(problem)" }
  }
}
