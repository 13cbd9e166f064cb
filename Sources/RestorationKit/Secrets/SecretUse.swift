/// The subkeys to which all refers that is stored with a save.
struct SecretUse: Sendable {
  let ids: Set<UInt64>
  /// How often all were forgotten when the save began; see ``SecretKeys/clearCount``.
  let clearCount: Int
}

/// Which subkeys of a state are stored, and which are referred to; decides which are stored next.
///
/// A subkey is stored before the first state that refers to it, and goes after the last one that
/// did. Whenever the process ends, each secret that can be restored has its subkey.
package struct SubkeyNeed: Hashable, Sendable {
  /// The subkeys to which all else refers that may come back: generations, and what was set aside.
  package enum Others: Hashable, Sendable {
    case subkeys(Set<UInt64>)
    /// Not all of it can be read now, and one day it may be.
    case unknown
  }

  /// What becomes of the stored subkeys.
  package enum Change: Hashable, Sendable {
    case none
    case keep(Set<UInt64>)
    case removeAll
  }

  package var stored: Set<UInt64>
  /// Those to which the state refers that is written.
  package var referred: Set<UInt64>

  package init(stored: Set<UInt64>, referred: Set<UInt64>) {
    (self.stored, self.referred) = (stored, referred)
  }

  /// Whether subkeys are stored to which the state does not refer.
  package var hasUnreferred: Bool { !stored.isSubset(of: referred) }

  /// Decides which subkeys are stored before the state is written.
  ///
  /// - Parameters:
  ///   - isKnown: Whether a subkey is known here. Values that are kept as they are stored may refer
  ///     to some that are forgotten.
  ///   - hasMoved: Whether some belong to another place than is stored.
  /// - Returns: All that are stored then; nil if they are stored already.
  package func beforeState(
    isKnown: (UInt64) -> Bool, hasMoved: Bool
  ) -> Set<UInt64>? {
    guard hasMoved || referred.contains(where: { !stored.contains($0) && isKnown($0) }) else {
      return nil
    }
    return stored.union(referred)
  }

  /// What becomes of the subkeys after the state was written.
  package func afterState(_ others: Others) -> Change {
    guard case .subkeys(let kept) = others else { return .none }
    let needed = referred.union(kept)
    return stored.isSubset(of: needed) ? .none : .keep(needed)
  }

  /// What becomes of the subkeys before the state goes, while something else may come back.
  package func beforeRemoval(_ others: Others) -> Change {
    guard case .subkeys(let needed) = others else { return .none }
    if stored.isDisjoint(with: needed) { return .removeAll }
    return stored.isSubset(of: needed) ? .none : .keep(needed)
  }
}
