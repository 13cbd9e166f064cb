internal import ArchiveCodec

/// Whether the picture of the interface that was taken with a save may be shown.
enum SnapshotUse: String, Sendable {
  /// The picture shows the interface that a restore brings back.
  case matching

  /// The app wanted the next launch not to show the picture.
  case ignoredOnce

  /// The topmost node in the picture was not preserved, so no restore brings that node back.
  case topIsNotPreserved

  private static let key = NodeRecord.snapshotKey

  init(reading tree: KeyedDecoder?) throws(ArchiveError) {
    guard let name = try tree?.decodeIfPresent(String.self, forKey: Self.key) else {
      self = .matching
      return
    }
    // A newer version may know another reason not to show the picture.
    self = SnapshotUse(rawValue: name) ?? .topIsNotPreserved
  }

  func encode(with encoder: KeyedEncoder) {
    if self != .matching { encoder.encode(rawValue, forKey: Self.key) }
  }

  /// Whether the picture may be shown; `ignoredBefore` says that a launch went without it.
  func isUsable(ignoredBefore: Bool) -> Bool {
    switch self {
    case .matching: true
    case .ignoredOnce: ignoredBefore
    case .topIsNotPreserved: false
    }
  }
}
