internal import ArchiveCodec

/// A state that this instance has, or one that can only be read.
package struct Claim {
  package let name: String
  /// The instances that have the names before this one.
  package let others: [OtherInstance]
  let context: ArchiveContext
  let moments: MomentStore
  /// Keeps all others out; an error where the state can only be read, since nothing can be locked.
  let lock: Result<any ArchiveLock, ArchiveError>
  /// The record of launches.
  let launch: Result<any LaunchPlace, ArchiveError>

  /// Takes a name, if there is no reason why it cannot be locked.
  init(
    _ name: String, _ source: StateFile.Source, besides others: [OtherInstance] = [],
    unlockedFor reason: ArchiveError? = nil
  ) throws(ArchiveError) {
    (self.name, self.others) = (name, others)
    context = ArchiveContext([source.application, name])
    moments = source.directory.moments(of: name)
    lock = if let reason { .failure(reason) } else { .success(try moments.main.lock()) }
    launch = lock.map { lock -> any LaunchPlace in
      let beside: (any LaunchPlace)? = OpenLockFile.of(lock)
      return beside ?? StoredLaunch(source.directory.storage(named: "\(name).launch"))
    }
  }

  /// The storage of the state.
  var main: any ArchiveStorage { moments.main }

  /// The moments that a restore may take, the oldest first.
  func restorable() throws(ArchiveError) -> [Moment] {
    try moments.all().filter(\.reason.isRestorable)
  }

  // MARK: The record of launches

  private var launchContext: ArchiveContext { ArchiveContext(context.fields + ["launch"]) }

  /// Reads the record of launches, with its note.
  func launchRecord(_ key: ArchiveKey) throws(ArchiveError) -> LaunchRecord? {
    try launch.get().read().flatMap { (bytes) throws(ArchiveError) in
      try LaunchRecord.open(bytes, key, launchContext)
    }
  }

  /// Writes the record of launches, with its note; over the same record the note alone is written.
  func write(
    _ record: LaunchRecord, _ note: LaunchNote, over known: LaunchRecord? = nil, _ key: ArchiveKey
  ) throws(ArchiveError) {
    let (launch, note) = (try launch.get(), note.bytes(record.tag))
    if record == known { return try launch.write(note: note) }
    try launch.write(try record.sealed(key, launchContext), note: note)
  }
}
