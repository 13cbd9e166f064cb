public import ArchiveCodec

/// What launches have noted beside a state, for tools that say what the next one would do.
public struct StoredLaunches: Hashable, Sendable {
  /// The restores that began one after the other and did not end, as far as they count:
  /// none if the app ended by itself, or the machine was restarted.
  public let crashCount: Int

  /// The version of the app that began them.
  public let applicationVersion: String?

  /// What the next restore leaves out, since earlier ones crashed in it.
  public let skipped: [RestorationPath]

  /// Reads what is noted beside a state; what cannot be read counts as nothing, as in a
  /// launch.
  ///
  /// - Parameters:
  ///   - directory: Where the state is.
  ///   - name: The name of the state.
  ///   - application: The identifier of the application.
  ///   - state: The state; what is noted of another one does not count.
  ///   - key: What opens both.
  /// - Throws: `ArchiveError` with `wrongContext` if something else lies in its place, and
  ///   what the storage throws.
  public init(
    in directory: any StateDirectory, named name: String, of application: String,
    before state: StoredState, with key: ArchiveKey
  ) throws(ArchiveError) {
    let context = StoredState.context(of: name, in: application)
    let marker = LaunchMarker(
      storage: directory.launchStorage(ofStateNamed: name),
      context: ArchiveContext(context.fields + ["launch"]))
    var stored = try marker.read(key)
    applicationVersion = stored.content.applicationVersion
    crashCount =
      stored.countCrashes(
        of: state.archive.version, by: stored.content.applicationVersion,
        at: BootSession.identifier) ?? 0
    skipped = stored.content.skipped.paths
  }
}
