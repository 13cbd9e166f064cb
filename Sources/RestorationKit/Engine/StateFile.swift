package import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The stored state of one keeper; reads and writes one after the other.
package actor StateFile {
  private let executor = FileExecutor()
  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe executor.asUnownedSerialExecutor()
  }

  let claim: StateClaim
  let suffix: String
  let directory: any StateDirectory
  let keys: any KeyProvider
  let application: String
  let limits: ArchiveLimits

  /// Where the state is, under the name that is claimed or looked at.
  var place: Place
  /// The archive that was read whole, or written, here; only that is replaced.
  var known: ArchiveVersion?
  /// What goes on with it, if somebody has begun to.
  let open = OpenState()
  /// The subkeys of its secrets that are known here.
  let secrets = SecretKeys()
  /// Those of them that are stored; nil if that was not read since the state is claimed.
  var storedSecrets: Set<UInt64>?
  /// Not reported yet, because what came after it failed.
  var moved: String?
  var lastNumber: UInt64 = 0
  /// The claimed state that was cleaned up.
  var cleanedName: String?

  /// The restore that has begun here and not ended, with what the marker says.
  var window: Window?
  private var windowCount: UInt64 = 0
  /// Why the marker or a state that was used up is not as it should be.
  var launchProblem: String?

  struct Place {
    let name: String
    let storage: any ArchiveStorage
    let context: ArchiveContext
    let marker: LaunchMarker
    let secrets: SecretsFile

    init(_ name: String, directory: any StateDirectory, application: String) {
      self.name = name
      storage = directory.storage(named: name)
      context = ArchiveContext([application, name])
      marker = LaunchMarker(
        storage: directory.launchStorage(ofStateNamed: name),
        context: ArchiveContext(context.fields + ["launch"]))
      secrets = SecretsFile(
        storage: directory.storage(named: name + StateClaim.secretsSuffix),
        context: ArchiveContext(context.fields + ["secrets"]))
    }
  }

  struct Window {
    let number: UInt64
    let version: ArchiveVersion
    let isWhole: Bool
    /// Nil if there is no marker that may be changed.
    var marked: LaunchMarker.Content?
  }

  /// Creates the file of a state.
  ///
  /// - Parameters:
  ///   - claim: Says which state it is, and that it may be changed.
  ///   - suffix: What follows the name of that state in the name of this one.
  ///   - directory: Where the state is.
  ///   - keys: Gives the key.
  ///   - application: The application; with the name it is the context.
  ///   - limits: What its records may hold; not for the launches.
  package init(
    claim: StateClaim, suffix: String = "", directory: any StateDirectory, keys: any KeyProvider,
    application: String, limits: ArchiveLimits = .standard
  ) {
    self.claim = claim
    self.suffix = suffix
    self.directory = directory
    self.keys = keys
    self.application = application
    self.limits = limits
    place = Place(claim.name + suffix, directory: directory, application: application)
  }

  // MARK: The claim

  /// Makes sure that nobody else has the state.
  ///
  /// - Throws: `ArchiveError` with `locked` and the one who has it.
  @discardableResult
  func take() async throws(ArchiveError) -> StateClaim.Taken {
    let taken = try await claim.take()
    move(to: taken.name)
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
    guard place.name != name + suffix else { return }
    place = Place(name + suffix, directory: directory, application: application)
    (known, window) = (nil, nil)
    open.close()
    // Those that a save has made before it was known whose they are stay.
    storedSecrets = nil
  }

  /// Goes on under the name that is looked at now.
  func look() {
    move(to: claim.lookedAt)
  }

  /// The process goes on, so a restore that did not end is no crash.
  deinit {
    guard let window, var marked = window.marked, let taken = claim.taken,
      taken.name + suffix == place.name
    else { return }
    (marked.begunRestores, marked.begunVersion) = (0, nil)
    do {
      guard try taken.lock.isHeld(), let key = try keys.key(creating: false) else { return }
      try place.marker.write(marked, key)
    } catch {
      // Nobody is there any more who could be told.
    }
  }

  /// Lets a restore end that was announced to go on, since nobody could from now on,
  /// and closes what is open.
  func close() {
    open.close()
    // Others may have the state, and forget them, before it is claimed again.
    secrets.removeAll()
    storedSecrets = nil
    if let window { endRestore(window: window.number, consuming: false) }
  }

  /// What a restore finds.
  enum Found: Sendable {
    case nothing

    /// Another instance of the app has it.
    case inUse(by: String?)

    /// Restoring it crashed too often, so it is set aside.
    case crashed(setAsideAt: String?)

    /// A state to restore, and the number by which to end the restore; nil if
    /// it is restored as it is read only.
    case state(StoredTree, usesSnapshot: Bool, window: UInt64?)
  }

  /// Reads and verifies what is stored, and marks that a restore has begun.
  ///
  /// The marker is written when the state has been read: what is refused does
  /// not run anything of the app. Where the state cannot be claimed because
  /// nothing can be written there, it is restored all the same, without mark.
  func beginRestore(
    crashThreshold: Int, _ settingAside: SettingAside
  ) async throws(ArchiveError) -> Found {
    launchProblem = nil
    var isClaimed = true
    do throws(ArchiveError) {
      try await take()
      // What belongs to scenes, too, is not for each of them.
      if suffix.isEmpty { cleanUp(at: settingAside.date) }
    } catch {
      if error.code == .locked { return .inUse(by: error.subject) }
      isClaimed = false
      launchProblem = error.description
      look()
    }
    known = nil
    return try find(crashThreshold: crashThreshold, isClaimed: isClaimed, settingAside)
  }

  private func find(
    crashThreshold: Int, isClaimed: Bool, _ settingAside: SettingAside
  ) throws(ArchiveError) -> Found {
    guard try place.storage.open() != nil else {
      if isClaimed {
        note {
          try place.marker.storage.remove()
          // Those of a state that somebody has removed go with a save.
          if try place.secrets.isStored { try loadSecrets(existingKey()) }
        }
      }
      return .nothing
    }
    let key = try existingKey()
    guard let archive = try read(key) else {
      return .nothing
    }
    var marked = readMarker(key)
    // Those of another state say nothing about this one.
    if marked?.begunVersion != archive.version { marked?.begunRestores = 0 }
    if isClaimed, window == nil, let marked, marked.begunRestores >= max(1, crashThreshold) {
      let location = try setAside(.crashed, settingAside)
      note { try place.marker.storage.remove() }
      return .crashed(setAsideAt: location)
    }
    var tree = try StoredTree(reading: archive)
    if isClaimed { try loadSecrets(key) }
    tree.secrets = secretsToLookAt(key)
    if tree.isWhole { known = tree.version }
    let usesSnapshot = tree.snapshot.isUsable(
      ignoredBefore: marked?.snapshotIgnored == tree.version)
    guard isClaimed else { return .state(tree, usesSnapshot: usesSnapshot, window: nil) }
    // A restore of this launch that has not ended is not counted twice.
    if window == nil, let begun = marked?.begunRestores {
      marked?.begunRestores = min(max(0, begun), .max - 1) + 1
    }
    marked?.begunVersion = tree.version
    marked?.snapshotIgnored = tree.snapshot == .ignoredOnce ? tree.version : nil
    if let marked { note { try place.marker.write(marked, key) } }
    windowCount += 1
    window = Window(
      number: windowCount, version: tree.version, isWhole: tree.isWhole, marked: marked)
    return .state(tree, usesSnapshot: usesSnapshot, window: windowCount)
  }

  /// Reads and verifies what is stored, nil if nothing is; marks nothing.
  func read() throws(ArchiveError) -> StoredTree? {
    look()
    guard try place.storage.open() != nil else { return nil }
    let key = try existingKey()
    guard let archive = try read(key) else { return nil }
    var tree = try StoredTree(reading: archive)
    tree.secrets = secretsToLookAt(key)
    return tree
  }

  /// What was written in the name of a scene, and where that lies.
  struct HostPart: Sendable {
    let values: KeyedDecoder
    let savedAt: Date?
    let version: ArchiveVersion
    let byteCount: Int
  }

  /// Reads and verifies what was written in the name of a scene, and nothing
  /// else; nil if nothing was.
  func readHostPart() throws(ArchiveError) -> HostPart? {
    look()
    guard let opened = try place.storage.open() else { return nil }
    guard let archive = try read(existingKey()),
      let record = try archive.record(NodeRecord.application),
      let values = try record.container(forKey: NodeRecord.hostKey)
    else { return nil }
    let facts = try record.container(forKey: NodeRecord.factsKey)
      .map { (values) throws(ArchiveError) in try SaveFacts(values, of: archive) }
    return HostPart(
      values: values, savedAt: facts?.timestamp, version: archive.version,
      byteCount: opened.byteCount)
  }

  /// Says that a version was read whole though it has no nodes.
  func know(_ version: ArchiveVersion) {
    known = version
  }

  /// Takes the mark away; with `consuming` also the state, if it is still the
  /// one that was restored and nothing of it was unreadable.
  func endRestore(window number: UInt64, consuming: Bool) {
    guard var window, window.number == number else { return }
    self.window = nil
    window.marked?.begunRestores = 0
    window.marked?.begunVersion = nil
    // Whoever has the state now has its marker, too.
    guard let taken = claim.taken, taken.name + suffix == place.name else { return }
    note {
      guard try taken.lock.isHeld() else { return }
      let key = try existingKey()
      if let marked = window.marked { try place.marker.write(marked, key) }
      guard consuming, window.isWhole else { return }
      let stored = try read(key)
      guard stored?.version == window.version else { return }
      open.close()
      try removeSecrets()
      try place.storage.remove()
    }
  }

  /// Whether the next launch may show the snapshot that was taken with the save.
  func isSnapshotUsable() throws(ArchiveError) -> Bool {
    move(to: try claim.free())
    guard try place.storage.open() != nil else { return false }
    let key = try existingKey()
    guard let archive = try read(key) else {
      return false
    }
    let snapshot = try SnapshotUse(reading: try archive.record(NodeRecord.tree))
    let ignored = try place.marker.read(key).snapshotIgnored
    return snapshot.isUsable(ignoredBefore: ignored == archive.version)
  }

  func read(_ key: ArchiveKey) throws(ArchiveError) -> Archive? {
    try Archive.open(place.storage, key: key, context: place.context, limits: limits)
  }

  func existingKey() throws(ArchiveError) -> ArchiveKey {
    guard let key = try keys.key(creating: false) else {
      throw ArchiveError(.keyMissing, location: keys.location)
    }
    return key
  }

  /// Nil if what is there must not be replaced, or cannot be.
  private func readMarker(_ key: ArchiveKey) -> LaunchMarker.Content? {
    do {
      return try place.marker.read(key)
    } catch {
      launchProblem = error.description
      return nil
    }
  }

  /// Launches go on without a marker: it must never stop a restore.
  func note(_ body: () throws -> Void) {
    do {
      try body()
    } catch {
      launchProblem = error.reason
    }
  }
}
