internal import ArchiveCodec

/// The knowledge of earlier restores that a restore has while it looks for its state.
struct LaunchTrial {
  /// The marker as found; nil if the marker must not be changed.
  private(set) var marker: LaunchMarker.Stored?
  /// The state that has given way to an older one, since restores of it crashed too often;
  /// nil if none has.
  private(set) var gaveWay: GaveWay?
  private let threshold: Int
  private let environment: ApplicationEnvironment
  private let isFirst: Bool
  /// Whether an element that is left out may be tried again.
  private var mayTry = false

  struct GaveWay {
    /// Where the state was set aside; nil if somebody has removed it.
    let location: String?
    /// Whether the state itself stood in for a newer one.
    let isLast: Bool
  }

  init(
    marker: LaunchMarker.Stored?, threshold: Int, environment: ApplicationEnvironment,
    isFirst: Bool
  ) {
    (self.marker, self.threshold) = (marker, threshold)
    (self.environment, self.isFirst) = (environment, isFirst)
  }

  /// Whether no older state is tried, since more than one state has given way.
  var isOver: Bool { gaveWay?.isLast == true }

  /// The tree of an archive; nil if the archive gives way to an older one, since
  /// restores of it crashed.
  mutating func tree(in archive: Archive) throws(ArchiveError) -> StoredTree? {
    let verdict = marker?.take(
      evidenceBefore: archive.version, threshold, by: environment.applicationVersion,
      at: environment.bootSession)
    mayTry = verdict?.mayTry == true && isFirst
    switch verdict?.action {
    case .restore, nil: return try StoredTree(reading: archive)
    case .giveWay: return nil
    case .leaveOut(let place, let count):
      let tree = try StoredTree(reading: archive)
      let isAnyLeft = marker?.content.skipped.add(
        place, of: tree, after: count, by: environment.applicationVersion)
      return isAnyLeft == true ? tree : nil
    }
  }

  /// Notes that the state that was asked about last has given way.
  mutating func giveWay(setAsideAt location: String?) {
    gaveWay = GaveWay(location: location, isLast: marker?.content.gaveWay == true)
    marker = LaunchMarker.Stored(content: LaunchMarker.Content(gaveWay: true))
  }

  /// The elements that a restore of a state leaves out, and what else its marker says.
  struct LeftOut {
    /// Whether the last crash of a restore was in this very state.
    let hasCrashed: Bool
    var periods: [Int: LeftOutPeriod]
    /// The left-out element that is tried again.
    let tried: Int?
  }

  /// Decides which elements of a state are left out.
  mutating func leaveOut(of tree: StoredTree) -> LeftOut {
    marker?.leaveOutLaterCrash(
      of: tree, threshold, by: environment.applicationVersion, at: environment.bootSession)
    let (periods, tried) =
      marker?.content.skipped.take(
        in: tree, by: environment.applicationVersion, mayTry: mayTry) ?? ([:], nil)
    return LeftOut(
      hasCrashed: marker?.content.skipped.isOf(tree) == true,
      periods: periods, tried: tried)
  }
}
