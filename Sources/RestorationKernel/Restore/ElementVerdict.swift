/// The decision on a stored element whose object has been looked for.
package struct ElementVerdict: Hashable, Sendable {
  /// The line in the report.
  package let outcome: RestorationReport.NodeOutcome
  /// Whether the saves that follow keep the element for its own sake, and not because the
  /// element above is kept.
  package let isKept: Bool

  /// The object of an element.
  package enum Object: Hashable, Sendable {
    /// A step has provided the object; `otherClass` is its class if another class was saved.
    case found(by: RestorationReport.Step, otherClass: String?)
    /// There is no object, for a reason.
    case missing(RestorationReport.NodeOutcome)
  }

  /// Decides by the arguments and nothing else.
  ///
  /// - Parameters:
  ///   - object: The object, or why there is none.
  ///   - reading: How this version of the app reads the state.
  ///   - hasState: Whether there is a state that the object gets to see.
  ///   - isOnKeptNode: Whether the element lay in a stack on a node that is not back, and that
  ///     saves keep.
  ///   - isAwaited: Whether the element is a view that its node has yet to load.
  package init(
    _ object: Object, _ reading: StateReading, hasState: Bool, isOnKeptNode: Bool, isAwaited: Bool
  ) {
    switch object {
    case .found(let step, let otherClass?):
      (outcome, isKept) = (.classMismatch(by: step, found: otherClass), false)
    case .found(let step, nil):
      outcome =
        reading.withheld(by: step)
        ?? (hasState ? .restored(by: step) : .restoredWithoutState(by: step))
      isKept = false
    case .missing(.parentMissing(let path)): (outcome, isKept) = (.parentMissing(path), false)
    case .missing(.stackCut): (outcome, isKept) = (.stackCut, isOnKeptNode)
    case .missing(.viewNotFound) where isAwaited: (outcome, isKept) = (.viewNotFound, false)
    case .missing(let reason):
      // A factory that did not see the state cannot veto it, so a withheld state goes first.
      outcome = reading.withheld(by: nil) ?? reason
      isKept = outcome != .vetoed
    }
  }
}

/// How this version of the app reads a stored state.
package enum StateReading: Hashable, Sendable {
  case current
  case migrated(from: Int)
  /// A newer version of the app wrote it.
  case newer(stored: Int, known: Int)
  /// The migration from this version threw, or there is none.
  case failed(version: Int, error: String)

  /// Decides by the version of a stored state, and by that of its class in this version of the app.
  init(_ stored: Int, by known: StateVersion) {
    self =
      if stored == known.number {
        .current
      } else if stored > known.number {
        .newer(stored: stored, known: known.number)
      } else {
        known.steps(from: stored) == nil
          ? .failed(version: stored, error: Self.noMigration) : .migrated(from: stored)
      }
  }

  static let noMigration = "there is no migration from this version"

  /// Whether there is a state that nobody gets to see.
  var isWithheld: Bool { withheld(by: nil) != nil }

  var migratedFrom: Int? {
    if case .migrated(let version) = self { version } else { nil }
  }

  /// The outcome for an element with a state that nobody gets to see; nil for all others.
  ///
  /// The step is the one that has provided the object; it is nil if there is no object.
  func withheld(by step: RestorationReport.Step?) -> RestorationReport.NodeOutcome? {
    switch self {
    case .current, .migrated: nil
    case .newer(let stored, let known): .newerVersion(by: step, stored: stored, known: known)
    case .failed(let version, let error): .migrationFailed(by: step, from: version, error)
    }
  }
}
