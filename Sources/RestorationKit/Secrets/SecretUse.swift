/// The subkeys to which the records of a save refer.
struct SecretUse: Sendable {
  let ids: Set<UInt64>
  /// How often all subkeys had been forgotten when the save began; see ``SecretKeys/clearCount``.
  let clearCount: Int
}

/// Decides which subkeys of a state are stored next, from the stored ones and the references.
///
/// A subkey is stored before the first state that refers to it, and goes after the last state that
/// did. Whenever the process ends, each secret that can be restored has its subkey.
package struct SubkeyNeed: Hashable, Sendable {
  /// The subkeys to which other archives refer that may come back: generations, and archives
  /// that are set aside.
  package enum Others: Hashable, Sendable {
    case subkeys(Set<UInt64>)
    /// An archive cannot be read now, and one day it may be.
    case unknown
  }

  /// The change of the stored subkeys.
  package enum Change: Hashable, Sendable {
    case none
    case keep(Set<UInt64>)
    case removeAll
  }

  package var stored: Set<UInt64>
  /// The subkeys to which the state refers that is written.
  package var referred: Set<UInt64>

  package init(stored: Set<UInt64>, referred: Set<UInt64>) {
    (self.stored, self.referred) = (stored, referred)
  }

  /// Whether subkeys are stored to which the state does not refer.
  package var hasUnreferred: Bool { !stored.isSubset(of: referred) }

  /// Decides which subkeys are stored before the state is written.
  ///
  /// - Parameters:
  ///   - isKnown: Whether a subkey is known here. Values that are kept as they are stored may
  ///     refer to forgotten subkeys.
  ///   - hasMoved: Whether a subkey belongs to another value than the file says.
  /// - Returns: All subkeys to store; nil if they are stored already.
  package func beforeState(
    isKnown: (UInt64) -> Bool, hasMoved: Bool
  ) -> Set<UInt64>? {
    guard hasMoved || referred.contains(where: { !stored.contains($0) && isKnown($0) }) else {
      return nil
    }
    return stored.union(referred)
  }

  /// Decides what becomes of the subkeys after the state was written.
  package func afterState(_ others: Others) -> Change {
    guard case .subkeys(let kept) = others else { return .none }
    let needed = referred.union(kept)
    return stored.isSubset(of: needed) ? .none : .keep(needed)
  }

  /// Decides what becomes of the subkeys before the state goes, while other archives may come back.
  package func beforeRemoval(_ others: Others) -> Change {
    guard case .subkeys(let needed) = others else { return .none }
    if stored.isDisjoint(with: needed) { return .removeAll }
    return stored.isSubset(of: needed) ? .none : .keep(needed)
  }
}
