package import ArchiveCodec

/// The fate of the stored state when another one takes its place.
package enum Replacing: Hashable, Sendable {
  /// The state is kept as the generation before.
  case previous
  /// The state is kept as the generation of another version of the app, which has saved it; nil if
  /// that version had no name.
  case ofVersion(String?)
  /// The state is set aside: nobody has read it, a part of it crashed or cannot be read, or
  /// its end is damaged.
  case setAside(SetAsideReason)

  /// Why the state is set aside; nil if it becomes a generation.
  var setAsideReason: SetAsideReason? {
    if case .setAside(let reason) = self { reason } else { nil }
  }
}

/// The findings of a restore about the state that the next save replaces.
package struct RestoredEvidence: Hashable, Sendable {
  /// How the stored state ends.
  package enum End: Hashable, Sendable, CaseIterable {
    case whole
    /// The last change is cut off, so nobody was told that it is stored.
    case truncated
    /// A change that was reported as stored cannot be read.
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
  ///   - evidence: The findings of the restore.
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

/// The archive that a writer finds where it is about to write.
package struct FoundArchive: Hashable, Sendable {
  /// Whether no other archive can follow this one, since its version is the last one.
  package var isLast: Bool
  /// Whether the archive was restored or written here.
  package var isKnown: Bool
  /// Whether a part of the archive was dropped.
  package var isDamaged: Bool
  /// Whether the whole tree of the archive can be read; nil as long as the tree was not read.
  package var isWhole: Bool?

  package init(isLast: Bool, isKnown: Bool, isDamaged: Bool, isWhole: Bool? = nil) {
    (self.isLast, self.isKnown) = (isLast, isKnown)
    (self.isDamaged, self.isWhole) = (isDamaged, isWhole)
  }

  /// The obstacle to replacing an archive.
  package enum Obstacle: Hashable, Sendable {
    case none
    /// The archive has to be set aside first.
    case setAside(SetAsideReason)
    /// The tree of the archive has to be read first.
    case needsTree
  }

  /// Decides whether the archive may be replaced.
  ///
  /// An archive that nobody has read here may be better than the state that is saved. One that
  /// cannot be read whole may be readable again one day.
  package var obstacle: Obstacle {
    if isLast { return .setAside(.unreadable) }
    if isKnown { return .none }
    if isDamaged { return .setAside(.unreadable) }
    guard let isWhole else { return .needsTree }
    return .setAside(isWhole ? .unread : .unreadable)
  }
}
