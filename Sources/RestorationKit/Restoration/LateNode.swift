internal import ArchiveCodec

/// A node that came after the restore, or that is back and has kept its state, and the records that are kept
/// for it.
struct LateNode {
  enum Place {
    /// The node was not back; its element is kept at the place.
    case element(Int)
    /// The node is back, and gets a state that it has kept.
    case state(KeptState.ID)
  }

  let node: any RestorableNode
  let kept: KeptRecords
  let place: Place

  /// Whether the node was back before.
  var isBack: Bool { if case .state = place { true } else { false } }
}

extension LateNode {
  /// Keeps what did not come back.
  ///
  /// - Returns: The objects that are back, with the places at which their elements were kept.
  func settle(
    _ result: KeptRecords.RestoreResult
  ) -> [(index: Int, object: any StateRestoring)] {
    switch place {
    case .element(let index): return kept.settleLate(index, result)
    case .state(let id):
      // A state of which a field was replaced is not back whole, so it stays.
      guard let outcome = result.outcomes.first, result.restored.mended[0]?.isWhole != false else {
        return []
      }
      kept.settle(id, of: node, outcome)
      return []
    }
  }
}
