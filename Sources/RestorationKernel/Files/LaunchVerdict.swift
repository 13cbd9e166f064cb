/// An element or a value that a launch makes or decodes.
package struct LaunchSubject: Hashable, Codable, Sendable {
  package let number: UInt64

  package init(number: UInt64) { self.number = number }

  /// Names an element of the state by its identifier.
  package init(element id: UInt64) { number = id &+ 1 }

  /// Names a value by the tag of its key.
  package init(valueTag tag: UInt32) { number = Self.valueMark | UInt64(tag) }

  private static let valueMark: UInt64 = 1 << 63

  /// The identifier of the element; nil for a value.
  package var element: UInt64? { number & Self.valueMark == 0 ? number &- 1 : nil }
}

/// What has to be known of a tree to leave out a part of it.
package protocol LaunchedTree {
  /// Whether the element is in the tree.
  func contains(element id: UInt64) -> Bool

  /// The element above an element; nil for a root, and for one that is not there.
  func element(above id: UInt64) -> UInt64?
}

/// The evidence that a launch finds of earlier restores which began and did not end.
package struct LaunchEvidence: Hashable, Sendable {
  /// Where the last restore was.
  package enum Place: Hashable, Sendable {
    /// No note says so.
    case unknown
    /// In none of the elements of the state.
    case outside
    case subject(LaunchSubject)
    /// The app ended by itself.
    case ended
  }

  /// How many restores in a row began and did not end.
  package var crashes = 0
  /// Whether the restores were of the state that is there now.
  package var isOfState = true
  /// Whether this version of the app began the restores: another one may have mended the crash.
  package var isOfApplication = true
  /// Whether the last restore tried something that was left out before.
  package var isTrial = false
  /// Whether the machine was started after the last restore began.
  package var hasRestarted = false
  package var place = Place.unknown
  /// The window in which the last restore was; nil if it was in none, or that one is left out.
  package var window: LaunchSubject?

  package init() {}
}

/// The decision of a launch on the restores before it.
package struct LaunchVerdict: Hashable, Sendable {
  package enum Action: Hashable, Sendable {
    /// The launch restores the state without what is left out already.
    case restore
    /// The launch leaves out one more, and, if that did not help before, what is above all that
    /// is left out.
    case leaveOut(LaunchSubject, withThoseAbove: Bool)
    /// The launch leaves out a window.
    case leaveOutWindow(LaunchSubject)
    /// The launch restores an older state, or none.
    case giveWay
  }

  package var action = Action.restore
  /// How many restores in a row count from now on as begun and not ended.
  package var crashes = 0
  /// Whether what was tried again has crashed again, and is left out for longer.
  package var hasTrialFailed = false
  /// Whether something that is left out may be tried again: no other crash is near for which its
  /// own could be taken.
  package var mayTry = false

  /// Decides by the evidence and nothing else.
  ///
  /// A missing note may be one that somebody has written over. So without a note a launch gives up
  /// nothing until there are as many crashes as leaving out could have answered.
  ///
  /// - Parameters:
  ///   - evidence: The evidence.
  ///   - threshold: How many crashes in a row are answered; less than 1 is as 1.
  package init(_ evidence: LaunchEvidence, threshold: Int) {
    let hasEnded = evidence.place == .ended || evidence.hasRestarted
    hasTrialFailed =
      evidence.isTrial && evidence.isOfApplication && evidence.crashes > 0 && !hasEnded
    guard evidence.isOfState, evidence.isOfApplication else {
      mayTry = !hasTrialFailed
      return
    }
    // What was tried again is to blame for the last crash.
    guard evidence.crashes > 0, !hasEnded, !hasTrialFailed else {
      crashes = max(1, evidence.crashes) - 1
      mayTry = crashes == 0 && !hasTrialFailed
      return
    }
    crashes = evidence.crashes
    let (answered, isTooFew) = crashes.subtractingReportingOverflow(max(1, threshold))
    guard answered >= 0, !isTooFew else { return }
    let last = evidence.window.map { Action.leaveOutWindow($0) } ?? .giveWay
    action =
      switch evidence.place {
      case .subject(let subject) where answered < Self.largestAnswer:
        .leaveOut(subject, withThoseAbove: answered > 0)
      case .unknown where answered < Self.largestAnswer: .restore
      case .subject, .unknown, .outside, .ended: last
      }
  }

  /// How many crashes in a row are answered by leaving out elements.
  private static let largestAnswer = 2
}
