package import ArchiveCodec
internal import RestorationLibc
#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The stored state of a keeper with all its windows: one archive, one lock, one mark of the launch
/// and one history.
///
/// All calls wait for the disk, and none may be made while another one is under way: a queue stands
/// before them. A keeper that never restores or saves claims nothing.
package final class StateFile {
  package struct Source: Sendable {
    package let name: String
    package let application: String
    package let directory: any StateDirectory
    package let keys: any KeyProvider
    package let environment: ApplicationEnvironment
    package let limits: ArchiveLimits
    /// Waits for another instance that has the state, and may be about to end; false ends the waiting.
    package var pause: @Sendable (_ tries: Int, _ policy: InstancePolicy) -> Bool = {
      tries, policy in
      // A write takes a few milliseconds.
      _ = usleep(5000)
      return !Task.isCancelled && tries < (policy == .single ? 200 : 20)
    }

    package init(
      name: String, application: String, directory: any StateDirectory, keys: any KeyProvider,
      environment: ApplicationEnvironment, limits: ArchiveLimits = .standard
    ) {
      (self.name, self.application, self.directory) = (name, application, directory)
      (self.keys, self.environment, self.limits) = (keys, environment, limits)
    }
  }

  /// A state that this instance has.
  struct Claim {
    let name: String
    let storage: KeptStorage
    let moments: any MomentStore
    let launch: any LaunchPlace
    let lock: any ArchiveLock
    let others: [OtherInstance]
    let context: ArchiveContext
    let source: Source
  }

  /// What a keeper keeps and leaves out, and the time of its clock, as of the call that is under way.
  package typealias Conditions = (policy: StatePolicy, now: Date)

  let source: Source
  package var conditions: Conditions = (StatePolicy(), Date()) {
    didSet { claimed?.storage.conditions = conditions }
  }
  var claimed: Claim?
  /// The name that was taken last: an instance never goes on under the name of another one.
  private var lastName: String?
  /// Whether a wait for the instance that has the state was in vain.
  private var hasWaited = false
  /// What was found in the place of the state, until something is written there.
  var finding = StateFinding.unread
  var writer: ArchiveWriter?
  /// The key with which the writer was made.
  var writerKey: ArchiveKey?
  /// The restored state, if it is not the one that is stored.
  var standIn: (any ArchiveFile)?
  /// How often the names may have got other numbers, and with them the fingerprints of all records.
  package internal(set) var numbering = 0
  var mark: LaunchMark?
  /// Whether a restore has begun in this launch.
  var hasBegun = false

  package init(_ source: Source) { self.source = source }

  /// The process goes on, so a restore that did not end is no crash.
  deinit { mark?.end() }

  /// The name of the state that this instance has, or else of the one that was asked for.
  package var name: String { claimed?.name ?? source.name }

  package var isClaimed: Bool { claimed != nil }

  /// Whether something is to leave no trace, and its records are still in the file.
  var isCompactionDue: Bool {
    get { claimed?.storage.isHeld ?? false }
    set { claimed?.storage.isHeld = newValue }
  }

  /// The instances that have the states with the lower numbers.
  package var otherInstances: [OtherInstance] { claimed?.others ?? [] }

  /// Takes the state, or the one that is taken already.
  ///
  /// - Throws: `locked` with the other instance as its subject if the state is in use.
  func claim() throws(ArchiveError) -> Claim {
    // Without its file a lock keeps nobody out any more.
    if let claimed, try claimed.lock.isHeld() { return claimed }
    var others: [OtherInstance] = []
    var refusal = ArchiveError(.locked)
    var tries = 1
    func take(_ name: String) throws(ArchiveError) -> Claim? {
      while true {
        do throws(ArchiveError) {
          let lock = try source.directory.storage(named: name).lock()
          return Claim(name, lock, others, source, conditions)
        } catch {
          guard error.code == .locked else { throw error }
          refusal = error
        }
        // Only the first one is waited for, and once.
        guard others.isEmpty, lastName == nil, !hasWaited else { break }
        hasWaited = !source.pause(tries, conditions.policy.instances)
        tries += 1
      }
      others.append(OtherInstance(stateName: name, process: refusal.subject))
      return nil
    }
    guard
      let taken = try InstanceName.first(
        source.name, last: lastName, conditions.policy.instances, take)
    else { throw refusal }
    taken.storage.isHeld = isCompactionDue
    (claimed, lastName) = (taken, taken.name)
    return taken
  }

  /// The key of the claimed state.
  func key(of claim: Claim, creating: Bool) throws(ArchiveError) -> ArchiveKey {
    let key = try claim.key(creating: creating)
    if writer == nil { writerKey = key }
    return key
  }
}

extension StateFile {
  /// Throws `keyLocked` if there is a key that cannot be used now.
  package func checkIsUnlocked() throws(ArchiveError) {
    do throws(ArchiveError) {
      _ = try key(of: try claim(), creating: false)
    } catch {
      guard error.code != .keyLocked else { throw error }
    }
  }
}

extension StateFile.Claim {
  fileprivate init(
    _ name: String, _ lock: any ArchiveLock, _ others: [OtherInstance], _ source: StateFile.Source,
    _ conditions: StateFile.Conditions
  ) {
    (self.name, self.lock, self.others) = (name, lock, others)
    moments = source.directory.moments(of: name)
    launch = source.directory.launchPlace(of: name)
    storage = KeptStorage(source.directory.storage(named: name), moments, conditions)
    (context, self.source) = (ArchiveContext([source.application, name]), source)
  }

  /// - Throws: Why there is no key.
  func key(creating: Bool) throws(ArchiveError) -> ArchiveKey {
    guard let key = try source.keys.key(creating: creating) else {
      throw ArchiveError(.keyMissing, location: source.keys.location)
    }
    return key
  }

  /// Opens an archive of the state as far as it can be read; nil if the storage is empty.
  func open(
    _ storage: any ArchiveStorage, _ key: ArchiveKey
  ) throws(ArchiveError) -> Archive? {
    try Archive.open(
      storage, key: key, context: context, limits: source.limits, recovery: .recover)
  }

  func writer(
    _ key: ArchiveKey, _ file: (any AppendableArchiveFile)? = nil
  ) throws(ArchiveError) -> ArchiveWriter {
    try ArchiveWriter(
      storage, with: .key(key), context: context, lock: lock, file: file,
      limits: source.limits)
  }

  /// Writes an archive in the place of the stored one.
  func write(
    _ records: RecordBatch, _ key: ArchiveKey, keeping reason: Moment.Reason?, schema: UInt32 = 0
  ) throws(ArchiveError) -> Archive.Summary {
    try storage.replacing(keeping: reason) { () throws(ArchiveError) in
      try Archive.write(
        records, to: storage, key: key, context: context, schema: schema)
    }
  }

  /// Puts the bytes of another file in the place of the stored ones.
  func put(_ file: any ArchiveFile, keeping reason: Moment.Reason?) throws(ArchiveError) {
    try storage.replacing(keeping: reason) { () throws(ArchiveError) in
      try storage.replace { sink throws(ArchiveError) in try sink.write(file) }
    }
  }
}
