/// The expectation of a restoration test that did not hold, and the observation instead.
public struct RestorationTestFailure: Error, Hashable, Sendable {
  /// The kind of a failure.
  ///
  /// More kinds may come; handle unknown ones.
  public struct Code: Hashable, Sendable {
    private let name: String

    private init(_ name: String) {
      self.name = name
    }

    /// The closure of a restart returned the root that was saved, so nothing was
    /// restored.
    public static let sameRoot = Code("sameRoot")

    /// The host to restart is not the one of the running launch.
    public static let otherHost = Code("otherHost")

    /// A window was open before a restart and is not there after it.
    public static let missingWindow = Code("missingWindow")

    /// The report of a save or of a restore has problems.
    public static let problems = Code("problems")

    /// A storage, a directory, a provider of keys or a remote store breaks a promise of its protocol.
    public static let brokenPromise = Code("brokenPromise")

    /// The closures of a test could not make or open the place that a check looks at.
    public static let noPlace = Code("noPlace")

    /// A recorded state does not come back.
    public static let stateNotBack = Code("stateNotBack")

    /// A state cannot be recorded, or no release is recorded.
    public static let notRecorded = Code("notRecorded")

    /// A process could not be started or talked to, or did not end as it should.
    public static let process = Code("process")
  }

  /// The kind of failure.
  public let code: Code

  /// The subject of the failure: the name of a check, a release, a window, a process.
  public let subject: String

  /// The expectation, in a sentence.
  public let expected: String

  /// The observation, in a sentence.
  public let seen: String

  init(_ code: Code, _ subject: String, expected: String, seen: String) {
    (self.code, self.subject, self.expected, self.seen) = (code, subject, expected, seen)
  }
}

extension RestorationTestFailure: CustomStringConvertible {
  /// The subject, the expectation and the observation.
  public var description: String { "\(subject): \(expected) \(seen)" }
}
