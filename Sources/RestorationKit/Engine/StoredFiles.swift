internal import ArchiveCodec

/// The location of the states of a claim, and their app.
struct StateSource: Sendable {
  let claim: StateClaim
  /// The part of the state's name behind the name that is claimed.
  let suffix: String
  let directory: any StateDirectory
  let keys: any KeyProvider
  /// The identifier of the app; with the name of a state, it is the context of the archives.
  let application: String
  /// Says the version of the application, and since when the machine runs.
  let environment: ApplicationEnvironment
  /// The limits of the state's records, which do not hold for the launch marker.
  let limits: ArchiveLimits
}

/// One of the names that a claim may have: the one that was asked for, or one with a number.
package struct ClaimedName: Sendable {
  package let claim: StateClaim
  package let name: String

  /// The claim that is taken under this name; nil if another instance may have the state.
  package var taken: StateClaim.Taken? {
    guard let taken = claim.taken, taken.name == name else { return nil }
    return taken
  }
}

/// The files of the state with one name, each in the object that looks after it.
struct StoredFiles {
  let claimed: ClaimedName
  let name: String
  let archive: StoredArchive
  let launch: LaunchGuard
  var opener: ArchiveOpener { archive.opener }
  /// The link to the other place of the state; nil if it is only on this machine.
  let link: (any StateLink)?

  /// Finds the files of a state.
  ///
  /// - Parameters:
  ///   - source: Where the state is.
  ///   - claimedName: The state's name without the suffix.
  ///   - open: Keeps an archive open.
  ///   - earlier: The files of the state before this one; nil if there was none.
  init(
    _ source: StateSource, as claimedName: String, _ open: OpenArchive,
    after earlier: StoredFiles?
  ) {
    let (name, directory) = (claimedName + source.suffix, source.directory)
    let context = ArchiveContext([source.application, name])
    let linked = directory.linkedStates?.directory
    // The storages below belong to the copy, which goes when nobody has it.
    let copy = linked?.linkedCopy(ofStateNamed: name)
    claimed = ClaimedName(claim: source.claim, name: claimedName)
    self.name = name
    let opener = ArchiveOpener(keys: source.keys, context: context, limits: source.limits)
    archive = StoredArchive(
      in: StateStorage(directory.storage(named: name)), claimed, opener, open, copy)
    archive.moved = earlier?.archive.moved
    let marker = LaunchMarker(
      storage: directory.launchStorage(ofStateNamed: name),
      context: ArchiveContext(context.fields + ["launch"]),
      isLasting: linked?.isInMemory != true)
    launch = LaunchGuard(
      marker, claimed, source.environment, after: earlier?.launch)
    link = linked?.link(
      stateNamed: name,
      LinkedFiles(claimed: claimed, archive: archive, launch: launch))
  }
}
