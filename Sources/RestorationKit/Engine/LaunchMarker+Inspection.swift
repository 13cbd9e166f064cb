package import ArchiveCodec

/// What tools read of the launches before.
extension LaunchMarker {
  package struct Launches {
    package let crashCount: Int
    package let applicationVersion: String?
    package let skipped: [RestorationPath]
  }

  /// Reads the marker beside a state.
  package static func launches(
    beside name: String, in directory: any StateDirectory, _ context: ArchiveContext,
    before version: ArchiveVersion, _ key: ArchiveKey
  ) throws(ArchiveError) -> Launches {
    let marker = LaunchMarker(
      storage: directory.launchStorage(ofStateNamed: name),
      context: ArchiveContext(context.fields + ["launch"]))
    let stored = try marker.read(key)
    let evidence = stored.evidence(
      before: version, by: stored.content.applicationVersion, at: BootSession.identifier)
    return Launches(
      crashCount: evidence.crashCount, applicationVersion: stored.content.applicationVersion,
      skipped: stored.content.skipped.paths)
  }
}
