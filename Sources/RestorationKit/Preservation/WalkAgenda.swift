/// The nodes that a walk has still to visit, and the objects that it has met.
struct WalkAgenda {
  /// A node that is still to be visited.
  struct Visit {
    let node: any RestorableNode
    let place: Place

    // Facts that few visits have lie beside the stack, so that a visit of most nodes is plain
    // memory.
    enum Place {
      case root(RowNumber, isDetached: Bool)
      case contained(RowNumber)
      case referred(RowNumber)
      /// A node that is only reported, with a number in ``WalkAgenda/exclusions``.
      case excluded(Int)
    }
  }

  /// The facts about a node that is left out, before its line is written.
  struct Exclusion {
    let parent: RowNumber?
    /// Empty if the node has none.
    let identifier: String
    let siblingIndex: Int
    /// The path of the node with which this one is left out; nil if the reason is this node itself.
    let gap: RestorationPath?
  }

  /// An object that somebody referred to.
  struct Referral {
    let object: any StateRestoring
    /// Nil for the application.
    let referrer: RowNumber?
    let key: String
  }

  /// Whether every object is asked, and not only objects that may have changed.
  let isWhole: Bool
  /// The nodes that are still to be visited; the last is next.
  var stack: [Visit] = []
  var exclusions: [Exclusion] = []
  /// The paths of nodes that are not preserved, by the nodes that lie above them in a stack of
  /// nodes.
  var gaps: [RowNumber: RestorationPath] = [:]
  /// All referrals, in their order.
  var referrals: [Referral] = []

  // The arrays that nodes gave, and the objects that came alone: they keep everything alive, so
  // that identities stay unique during the walk.
  private var seenContents: [[any RestorableNode]] = []
  private var seen: [any StateRestoring] = []

  init(isWhole: Bool = false) { self.isWhole = isWhole }

  /// The agenda of a walk through everything that comes after this one.
  ///
  /// Objects that were met stay alive, and the referrals of the application stay, since it is asked
  /// once.
  func begunAnew() -> WalkAgenda {
    var agenda = WalkAgenda(isWhole: true)
    agenda.referrals = referrals.filter { $0.referrer == nil }
    (agenda.seenContents, agenda.seen) = (seenContents, seen + referrals.map(\.object))
    return agenda
  }

  /// Keeps an object alive, so that no other object gets its address during the walk.
  mutating func keepAlive(_ object: any StateRestoring) { seen.append(object) }
  mutating func keepAlive(_ nodes: [any RestorableNode]) { seenContents.append(nodes) }
}
