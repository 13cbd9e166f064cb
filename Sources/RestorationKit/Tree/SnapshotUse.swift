internal import ArchiveCodec

/// What a save says of the picture of the interface that was taken with it.
enum SnapshotUse: String, Sendable {
  /// It shows what a restore brings back.
  case matching

  /// The app wanted the next launch not to show it.
  case ignoredOnce

  /// What is on top in it was not preserved, so no restore brings that back.
  case topIsNotPreserved

  private static let key = NodeRecord.snapshotKey

  init(reading tree: KeyedDecoder?) throws(ArchiveError) {
    guard let name = try tree?.decodeIfPresent(String.self, forKey: Self.key) else {
      self = .matching
      return
    }
    // A newer version may know another reason not to show it.
    self = SnapshotUse(rawValue: name) ?? .topIsNotPreserved
  }

  func encode(with encoder: KeyedEncoder) {
    if self != .matching { encoder.encode(rawValue, forKey: Self.key) }
  }

  /// Whether it may be shown; `ignoredBefore` says that a launch went without it.
  func isUsable(ignoredBefore: Bool) -> Bool {
    switch self {
    case .matching: true
    case .ignoredOnce: ignoredBefore
    case .topIsNotPreserved: false
    }
  }
}
