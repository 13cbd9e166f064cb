/// How the local state relates to the store that several machines share.
public enum RemoteStatus: Hashable, Sendable {
  /// The store was not asked yet, so its state is not known.
  case unknown

  /// The store has the local state, as far as is known.
  case current

  /// The store has a newer state, which a restore brings back; no local change is lost then.
  ///
  /// With ``RemoteConflict/takenOverBy`` another process has the state in use, and a
  /// save is in conflict as long as it has.
  case newer(RemoteConflict)

  /// The store does not have the last save; it is sent again after a while, and with the next save.
  case unsent(RemoteStoreError)

  /// The store cannot be asked for its state.
  case unavailable(RemoteStoreError)

  /// The store does not have the last save, since another machine has stored something:
  /// see ``RestorationKit/StateKeeper/resolveConflict(keeping:)``.
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
