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
    let marker = marker(beside: name, in: directory, context)
    let stored = try marker.read(key)
    let evidence = stored.evidence(
      before: version, by: stored.content.applicationVersion, at: BootSession.identifier)
    return (
      evidence.crashCount, stored.content.applicationVersion, stored.content.skipped.paths
    )
  }

  /// Reads the problems of the last save of a state.
  package static func problemsOfLastSave(
    beside name: String, in directory: any StateDirectory, _ context: ArchiveContext,
    _ key: ArchiveKey
  ) -> [String] {
    marker(beside: name, in: directory, context).problems(key)
  }

  private static func marker(
    beside name: String, in directory: any StateDirectory, _ context: ArchiveContext
  ) -> LaunchMarker {
    LaunchMarker(
      storage: directory.launchStorage(ofStateNamed: name),
      context: ArchiveContext(context.fields + ["launch"]))
  }
}
