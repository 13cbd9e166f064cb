package import ArchiveCodec
package import RestorationFoundation

/// A directory whose states are in another place, too, as in a store that several machines share.
///
/// The states on this machine are copies, which a keeper reads and writes as those of any directory.
package protocol LinkedDirectory: LinkingDirectory {
  /// Whether nothing on this machine outlasts the process.
  var isInMemory: Bool { get }

  /// Whether the copies outlast the process.
  var isCopyLasting: Bool { get }

  /// Links a file to the other place.
  ///
  /// - Parameters:
  ///   - file: The file, which belongs to the actor that calls the link.
  ///   - look: Lets that actor call the link after ``LinkedCall/look``.
  /// - Returns: The link, which the file's actor keeps.
  func link(_ file: StateFile, look: @escaping @Sendable () async -> Void) -> any StateLink
}

/// The link of one state to its other place.
///
/// A link belongs to the actor of the file. While the link waits for an answer, other calls may change the file.
package protocol StateLink: AnyObject {
  /// Takes the state, and makes sure before a call that what is here is what the other place has, or newer.
  ///
  /// - Returns: Where the state that has given way is, after ``LinkedCall/resolve(keepingTheirs:)``; what a
  ///   restore has to say of the copy.
  /// - Throws: `storeUnavailable` if there is nothing here to go on with; `locked`.
  func fetch(for call: LinkedCall, isolation: isolated (any Actor)?) async throws(ArchiveError)
    -> String?

  /// Sends what the other place does not have; no turn of the keeper waits for that.
  ///
  /// - Returns: What became of it, and why a moment was refused; nil if none was.
  func send(after call: LinkedCall, isolation: isolated (any Actor)?) async
    -> (outcome: LinkOutcome, refusedMoment: String?)
}

/// A call of a keeper that another place takes part in.
package enum LinkedCall: Equatable, Sendable {
  case restore, save, discard, history, putBack(Moment), remove, close
  /// Decides which of two states stays.
  case resolve(keepingTheirs: Bool)
  /// No call: a lease is due, something is sent again, or the other place may have something newer.
  case look
}

/// What became of a state that was to be sent.
package enum LinkOutcome: Sendable {
  /// The other place has all that is here.
  case sent
  /// Something is only here, and is sent again later; why, is a `storeUnavailable`.
  case unsent(ArchiveError)
  /// The other place has something else, and nothing was changed there.
  case refused(Refusal)
}

extension Archive {
  /// The machine that has saved the archive, and when, as far as the archive says.
  package func savedBy() throws -> (deviceName: String?, date: Date?) {
    let facts: [String: String]? = try record(TreeRecord.forms)?.decodeIfPresent(
      forKey: DocumentKey.facts)
    return (facts?["deviceName"], Date(saved: schema))
  }
}
