public import ArchiveCodec
public import RestorationKit

/// What launches have noted beside a state, for tools that predict the next launch.
public struct StoredLaunches: Hashable, Sendable {
  /// How many restores in a row count as crashed: they began and did not end, and neither
  /// a call of `exit` nor a restart of the machine ended them.
  public let crashCount: Int

  /// The version of the app that began the last restore.
  public let applicationVersion: String?

  /// The elements that restores leave out, since earlier restores crashed in them; the
  /// next restore may try one of them again.
  public let skipped: [RestorationPath]

  /// Reads the notes beside a state; notes that cannot be read count as none, as in a launch.
  ///
  /// - Parameters:
  ///   - directory: Where the state is.
  ///   - name: The name of the state.
  ///   - application: The identifier of the application.
  ///   - state: The state; crashes of another state do not count.
  ///   - outline: The elements of the state.
  ///   - key: The key that opens the state and the notes.
  /// - Throws: The errors of the storage.
  public init(
    in directory: any StateDirectory, named name: String, of application: String,
    before state: StoredState, _ outline: StoredState.Outline, with key: ArchiveKey
  ) throws(ArchiveError) {
    let storage = directory.storage(named: name)
    let bytes =
      if storage is FileStorage {
        try OpenLockFile(LockFile.path(of: storage.location)).flatMap {
          (file) throws(ArchiveError) in try file.read()
        }
      } else {
        try StoredLaunch(directory.storage(named: "\(name).launch")).read()
      }
    let context = ArchiveContext(StoredState.context(of: name, in: application).fields + ["launch"])
    let record = try bytes.flatMap { (bytes) throws(ArchiveError) in
      try LaunchRecord.open(bytes, key, context)
    }
    let isOfState = record?.stateMAC == state.archive.version.mac
    let hasEnded = record?.note.map { $0.stage != .restoring } ?? false
    crashCount = isOfState && !hasEnded ? record?.crashes ?? 0 : 0
    applicationVersion = record?.applicationVersion
    skipped = (record?.leftOut ?? []).compactMap { subject in
      subject.element.flatMap { outline.element(withIdentifier: $0)?.path }
    }
  }
}
