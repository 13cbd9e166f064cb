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

extension PreservationWalk {
  /// What to say of the snapshot, when everything has its place.
  func snapshotUse(_ roots: [any RestorableNode], isIgnored: Bool) -> SnapshotUse {
    guard isTopPreserved(roots) else { return .topIsNotPreserved }
    return isIgnored ? .ignoredOnce : .matching
  }

  /// Whether what the user sees above all others is preserved in its place: of
  /// the last root what it presents, or else the selected tab, or else the last
  /// child, and so on.
  private func isTopPreserved(_ roots: [any RestorableNode]) -> Bool {
    var next = roots.last
    // A tree that contains itself is walked once.
    var visited: Set<ObjectIdentifier> = []
    while let node = next, visited.insert(ObjectIdentifier(node)).inserted {
      guard rows.placed(node) != nil else { return false }
      next = node.restorationPresented ?? content(of: node)
    }
    return true
  }

  private func content(of node: any RestorableNode) -> (any RestorableNode)? {
    if types.traits(of: node).contains(.tabs), let tabs = node as? any RestorableTabs {
      return tabs.selectedTab
    }
    return node.restorationChildren.last
  }
}
