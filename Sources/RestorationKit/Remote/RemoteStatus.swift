/// How a state that is worked on here stands to the store that several machines share.
public enum RemoteStatus: Hashable, Sendable {
  /// The store was not asked yet, so nobody knows what it has.
  case unknown

  /// The store has what is here, as far as is known.
  case current

  /// The store has something newer, which a restore brings back; nothing here is lost by that.
  ///
  /// With ``RemoteConflict/takenOverBy`` another process has the state in use, and a save is in
  /// conflict as long as it has.
  case newer(RemoteConflict)

  /// What was saved here is not in the store; it is sent again in a while, and with the next
  /// save.
  case unsent(RemoteStoreError)

  /// The store cannot be asked what it has.
  case unavailable(RemoteStoreError)

  /// What was saved here is not in the store, since another machine has stored something:
  /// see ``StateKeeper/resolveConflict(keeping:)``.
  case conflict(RemoteConflict)
}

extension RemoteStatus: CustomStringConvertible {
  /// The status in a sentence.
  public var description: String {
    switch self {
    case .unknown: "The store was not asked yet."
    case .current: "The store has what is here."
    case .newer(let conflict):
      "The store has something newer: \(conflict). Restore again to bring it back."
    case .unsent(let error): "What was saved is not in the store yet. \(error)"
    case .unavailable(let error): "Nobody knows what the store has. \(error)"
    case .conflict(let conflict):
      "What was saved is not in the store, since \(conflict). Choose with"
        + " resolveConflict(keeping:)."
    }
  }
}
