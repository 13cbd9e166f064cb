/// The evidence that a launch finds of earlier restores which began and did not end.
package struct LaunchEvidence: Hashable, Sendable {
  /// How many restores in a row began and did not end.
  package var begunRestores: Int
  /// Whether the restores were of the state that is there now.
  package var isOfState: Bool
  /// Whether this version of the app began the restores: another one may have mended the crash.
  package var isOfApplication: Bool
  /// Whether the last restore tried an element that was left out before.
  package var isTrial: Bool
  /// Where the last restore was; nil if no note says so.
  package var note: LaunchNote.Place?
  /// Whether the machine was started after the last restore began.
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

/// The decision of a launch on the restores before it.
package struct LaunchVerdict: Hashable, Sendable {
  package enum Action: Hashable, Sendable {
    /// The launch restores the state without the elements that are left out already.
    case restore
    /// The launch leaves out one more element, after so many crashes in a row that were answered
    /// the same way before.
    case leaveOut(Int, after: Int)
    /// The launch restores an older state, or none.
    case giveWay
  }

  package var action = Action.restore
  /// How many restores in a row count from now on as begun and not ended.
  package var begunRestores = 0
  /// Whether the element that was tried again has crashed again, and is left out for longer.
  package var hasTrialFailed = false
  /// Whether an element that is left out may be tried again: no other crash is near for which its
  /// own could be taken.
  package var mayTry = false

  /// Decides by the evidence and nothing else.
  ///
  /// A missing note may be one that somebody has written over. So without a note a launch gives up
  /// nothing until there are as many crashes as leaving out could have answered.
  package init(_ evidence: LaunchEvidence, threshold: Int) {
    let crashCount = evidence.crashCount
    hasTrialFailed =
      evidence.isTrial && evidence.isOfApplication && evidence.begunRestores > 0
      && evidence.note != .ended && !evidence.hasRestarted
    guard evidence.isOfState, evidence.isOfApplication else {
      mayTry = !hasTrialFailed
      return
    }
    // The element that was tried again is to blame for the last crash.
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
