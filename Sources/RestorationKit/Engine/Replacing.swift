package import ArchiveCodec

/// What becomes of the stored state when another one takes its place.
package enum Replacing: Hashable, Sendable {
  /// It is kept as the generation before.
  case previous
  /// Another version of the app has saved it; nil if that had no name.
  case ofVersion(String?)
  /// It is set aside: nobody has read it, a part of it crashed or cannot be read, or its
  /// end is damaged.
  case setAside(SetAsideReason)

  /// Why it is set aside; nil if it is a generation.
  var setAsideReason: SetAsideReason? {
    if case .setAside(let reason) = self { reason } else { nil }
  }
}

/// What a restore has found of the state that the next save replaces.
package struct RestoredEvidence: Hashable, Sendable {
  /// How the stored state ends.
  package enum End: Hashable, Sendable, CaseIterable {
    case whole
    /// The last change is cut off, so nobody was told that it is stored.
    case truncated
    /// What was said to be stored cannot be read.
    case damaged
  }

  package var end: End
  /// Whether the last crash of a restore was in this state.
  package var hasCrashed: Bool
  /// The version of the app that saved it; nil if the state does not say by whom it was saved.
  package var savedBy: SavedBy?

  /// The version of an app, which need not have one.
  package struct SavedBy: Hashable, Sendable {
    package var applicationVersion: String?

    package init(_ applicationVersion: String?) {
      self.applicationVersion = applicationVersion
    }
  }

  package init(end: End, hasCrashed: Bool, savedBy: SavedBy?) {
    (self.end, self.hasCrashed, self.savedBy) = (end, hasCrashed, savedBy)
  }
}

extension Replacing {
  /// Decides what becomes of a state that was restored.
  ///
  /// - Parameters:
  ///   - evidence: What the restore has found.
  ///   - applicationVersion: The version of the app that runs.
  package init(_ evidence: RestoredEvidence, by applicationVersion: String?) {
    if evidence.end == .damaged {
      self = .setAside(.unreadable)
    } else if evidence.hasCrashed {
      self = .setAside(.crashed)
    } else if let savedBy = evidence.savedBy, savedBy.applicationVersion != applicationVersion {
      self = .ofVersion(savedBy.applicationVersion)
    } else {
      self = .previous
    }
  }
}

/// What a writer finds in the place of the state that it is about to write.
package struct FoundArchive: Hashable, Sendable {
  /// Whether no other archive can follow it, since its version is the last one.
  package var isLast: Bool
  /// Whether it is the one that was restored or written here.
  package var isKnown: Bool
  /// Whether a part of it was dropped.
  package var isDamaged: Bool
  /// Whether all of its tree can be read; nil as long as that is not known.
  package var isWhole: Bool?

  package init(isLast: Bool, isKnown: Bool, isDamaged: Bool, isWhole: Bool? = nil) {
    (self.isLast, self.isKnown) = (isLast, isKnown)
    (self.isDamaged, self.isWhole) = (isDamaged, isWhole)
  }

  /// What stands in the way of replacing it.
  package enum Obstacle: Hashable, Sendable {
    case none
    /// It has to be set aside first.
    case setAside(SetAsideReason)
    /// Its tree has to be read first.
    case needsTree
  }

  /// Decides whether it may be replaced.
  ///
  /// What nobody has read here may be better than what is saved, and what cannot be read whole may
  /// be read again one day.
  package var obstacle: Obstacle {
    if isLast { return .setAside(.unreadable) }
    if isKnown { return .none }
    if isDamaged { return .setAside(.unreadable) }
    guard let isWhole else { return .needsTree }
    return .setAside(isWhole ? .unread : .unreadable)
  }
}
