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

  let claim: StateClaim
  let suffix: String
  let directory: any StateDirectory
  let keys: any KeyProvider
  let application: String
  let applicationVersion: String?
  /// The start of the machine.
  let bootSession: String?
  let limits: ArchiveLimits

  /// Where the state is, under the name that is claimed or looked at.
  var files: StoredFiles
  /// The archive that was read whole, or written, here; only that is replaced.
  var known: ArchiveVersion? {
    didSet { if let known { files.remote?.know(known) } }
  }
  /// The generation that was read whole here in place of the state.
  var knownGeneration: String?
  /// What the next whole save sets the stored state aside as.
  var replacing = Replacing.previous
  /// What goes on with it, if somebody has begun to.
  let open: OpenArchive
  /// The subkeys of its secrets that are known here.
  let secrets = SecretKeys()
  /// Those of them that are stored; nil if that was not read since the state is claimed.
  var storedSecrets: Set<UInt64>?
  /// The subkeys to which its generations refer, by the identifiers of these; nil for one
  /// that cannot be read.
  var generationSecrets: [String: Set<UInt64>?] = [:]
  /// Not reported yet, because what came after it failed.
  var moved: String?
  var lastNumber: UInt64 = 0
  /// The claimed state that was cleaned up.
  var cleanedName: String?

  /// The restore that has begun here and not ended, with what the marker says.
  var window: OpenRestore?
  var windowCount: UInt64 = 0
  /// Whether a restore has begun in this launch, or since it was asked to try again what is
  /// left out.
  var hasBegun = false
  /// Why the marker, the end of a state or one that was used up is not as it should be.
  var launchProblem: String?
  /// What became of a local copy that was not as it was left, until it is reported.
  var copyProblem: String?

  /// Why the store did not take what was set aside, until it is reported.
  var refusal: RemoteStoreError?
  /// Why the store still has what was removed of that; nil if it does not.
  var removalFailure: RemoteStoreError?
  /// What is sent to the store, while the answer is awaited.
  var sending: Task<RemoteOutcome, Never>?
  /// Tries again to send what could not be sent.
  var retry: Task<Void, Never>?

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
    self.claim = claim
    self.suffix = suffix
    self.directory = directory
    self.keys = keys
    self.application = application
    applicationVersion = environment.applicationVersion
    bootSession = environment.bootSession
    self.limits = limits
    files = StoredFiles(
      claim.name + suffix, directory: directory, keys: keys, application: application)
  }

  // MARK: The claim

  /// Makes sure that nobody else has the state.
  ///
  /// - Throws: `ArchiveError` with `locked` and the one who has it.
  @discardableResult
  func take() async throws(ArchiveError) -> StateClaim.Taken {
    let taken = try await claim.take()
    move(to: taken.name)
    files.remote?.endsLease = false
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
    guard files.name != name + suffix else { return }
    files = StoredFiles(name + suffix, directory: directory, keys: keys, application: application)
    knowNothing()
    window = nil
    open.close()
    // Those that a save has made before it was known whose they are stay.
    (storedSecrets, generationSecrets) = (nil, [:])
  }

  /// Whatever is stored, it was neither read nor written here.
  func knowNothing() {
    (known, knownGeneration, replacing) = (nil, nil, .previous)
  }

  /// Goes on under the name that is looked at now.
  func look() {
    move(to: claim.lookedAt)
  }

  /// The process goes on, so a restore that did not end is no crash.
  deinit {
    guard let window, let taken = claim.taken, taken.name + suffix == files.name else { return }
    do {
      guard try taken.lock.isHeld() else { return }
      try window.takeMark(from: files.marker, window.key)
    } catch {
      // Nobody is there any more who could be told.
    }
  }

  /// Lets a restore end that was announced to go on, since nobody could from now on,
  /// and closes what is open.
  func close() {
    open.close()
    closeOpened()
    // Others may have the state, and forget them, before it is claimed again.
    secrets.removeAll()
    (storedSecrets, generationSecrets) = (nil, [:])
    if let window { endRestore(window: window.number) }
  }

  /// Returns when the thread of the file does nothing else.
  func takeTurn() {}

  func existingKey() throws(ArchiveError) -> ArchiveKey {
    guard let key = try keys.key(creating: false) else {
      throw ArchiveError(.keyMissing, location: keys.location)
    }
    return key
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
