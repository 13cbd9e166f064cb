/// What a launch finds of the restores that began before it and did not end.
package struct LaunchEvidence: Hashable, Sendable {
  /// How many in a row began and did not end.
  package var begunRestores: Int
  /// Whether they were restores of the state that is there now.
  package var isOfState: Bool
  /// Whether they were restores by this version of the app: another one may have mended what
  /// crashed.
  package var isOfApplication: Bool
  /// Whether the last of them tried something that was left out before.
  package var isTrial: Bool
  /// Where the last of them was; nil if nothing says so.
  package var note: LaunchNote.Place?
  /// Whether the machine was started since.
  package var hasRestarted: Bool

  package init(
    begunRestores: Int, isOfState: Bool, isOfApplication: Bool, isTrial: Bool,
    note: LaunchNote.Place?, hasRestarted: Bool
  ) {
    self.begunRestores = begunRestores
    self.isOfState = isOfState
    self.isOfApplication = isOfApplication
    self.isTrial = isTrial
    self.note = note
    self.hasRestarted = hasRestarted
  }

  /// Whether the last restore ended with its process, and not by a crash.
  private var hasEnded: Bool { note == .ended || hasRestarted }

  /// How many restores of this state crashed in a row, by this version of the app.
  package var crashCount: Int {
    isOfState && isOfApplication && !hasEnded ? begunRestores : 0
  }
}

/// What a launch does about the restores before it.
package struct LaunchVerdict: Hashable, Sendable {
  package enum Action: Hashable, Sendable {
    /// It restores, without what is left out already.
    case restore
    /// It leaves out an element more, after so many crashes that were answered so before.
    case leaveOut(Int, after: Int)
    /// It restores an older state, or none.
    case giveWay
  }

  package var action = Action.restore
  /// How many restores in a row began and did not end, that count from now on.
  package var begunRestores = 0
  /// Whether what was tried again has crashed again, and is left out for longer.
  package var hasTrialFailed = false
  /// Whether something that is left out may be tried again: no crash is near that it could
  /// be taken for.
  package var mayTry = false

  /// Decides by what is there, and by nothing else.
  ///
  /// A note that is missing may be one that somebody has written over. So it gives up nothing
  /// before as many crashes as noted ones could have been answered by leaving out.
  package init(_ evidence: LaunchEvidence, threshold: Int) {
    let crashCount = evidence.crashCount
    hasTrialFailed =
      evidence.isTrial && evidence.isOfApplication && evidence.begunRestores > 0
      && evidence.note != .ended && !evidence.hasRestarted
    guard evidence.isOfState, evidence.isOfApplication else {
      mayTry = !hasTrialFailed
      return
    }
    // What was tried is to blame for the last one.
    guard crashCount > 0, !hasTrialFailed else {
      begunRestores = max(1, evidence.begunRestores) - 1
      mayTry = begunRestores == 0 && !hasTrialFailed
      return
    }
    begunRestores = crashCount
    let (count, isTooFew) = crashCount.subtractingReportingOverflow(threshold)
    guard count >= 0, !isTooFew else { return }
    switch evidence.note {
    case .element(let place): action = .leaveOut(place, after: count)
    case .outside, .ended: action = .giveWay
    case nil: action = count < SkippedElements.largestCount ? .restore : .giveWay
    }
  }
}
