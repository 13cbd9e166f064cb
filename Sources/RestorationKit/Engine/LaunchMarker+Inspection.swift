package import ArchiveCodec

/// What tools read of the launches before.
extension LaunchMarker {
  /// Reads the marker beside a state.
  package static func launches(
    beside name: String, in directory: any StateDirectory, _ context: ArchiveContext,
    before version: ArchiveVersion, _ key: ArchiveKey
  ) throws(ArchiveError) -> (
    crashCount: Int, applicationVersion: String?, skipped: [RestorationPath]
  ) {
    let marker = LaunchMarker(
      storage: directory.launchStorage(ofStateNamed: name),
      context: ArchiveContext(context.fields + ["launch"]))
    let stored = try marker.read(key)
    let evidence = stored.evidence(
      before: version, by: stored.content.applicationVersion, at: BootSession.identifier)
    return (
      evidence.crashCount, stored.content.applicationVersion, stored.content.skipped.paths
    )
  }
}
