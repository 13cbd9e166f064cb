/// What a walk has still to visit, and the objects that it has met.
struct WalkAgenda {
  /// A node that is still to be visited.
  struct Visit {
    let node: any RestorableNode
    let place: Place

    // What few have lies beside it, so that the stack of most is plain memory.
    enum Place {
      case root(RowNumber, isDetached: Bool)
      case contained(RowNumber)
      case referred(RowNumber)
      /// Only to be reported, with a number in ``WalkAgenda/exclusions``.
      case excluded(Int)
    }
  }

  /// What is known of a node that is left out, before its line is written.
  struct Exclusion {
    let parent: RowNumber?
    /// Empty if it has none.
    let identifier: String
    let siblingIndex: Int
    /// The node that ends the walk below it; nil if it is this one itself.
    let gap: RestorationPath?
  }

  /// An object that somebody referred to.
  struct Referral {
    let object: any StateRestoring
    /// Nil for the application.
    let referrer: RowNumber?
    let key: String
  }

  /// Whether every object is asked, and not only those that may have changed.
  let isWhole: Bool
  /// The nodes that are still to be visited; the last is next.
  var stack: [Visit] = []
  var exclusions: [Exclusion] = []
  /// Of some nodes in a stack, what lies below them there and is not preserved.
  var gaps: [RowNumber: RestorationPath] = [:]
  /// All referrals, in their order.
  var referrals: [Referral] = []
  /// The tabs that were asked which nothing else holds.
  var tabs: [RowNumber: any StateRestoring] = [:]

  // Keep everything alive, so that identities stay unique during the walk: the arrays that nodes
  // gave, and what came alone.
  private var seenContents: [[any RestorableNode]] = []
  private var seen: [any StateRestoring] = []

  init(isWhole: Bool = false) { self.isWhole = isWhole }

  /// The agenda of a walk that begins anew; what was met stays alive, and so do the referrals of
  /// the application, which is asked once.
  func begunAnew(isWhole: Bool) -> WalkAgenda {
    var agenda = WalkAgenda(isWhole: isWhole)
    agenda.referrals = referrals.filter { $0.referrer == nil }
    (agenda.seenContents, agenda.seen) = (seenContents, seen)
    return agenda
  }

  /// Makes sure that an object stays what its address says.
  mutating func keepAlive(_ object: any StateRestoring) { seen.append(object) }
  mutating func keepAlive(_ nodes: [any RestorableNode]) { seenContents.append(nodes) }

  /// Does something with each node that the walk has met so far.
  func forEachSeenNode(_ body: (any RestorableNode) -> Void) {
    for nodes in seenContents { nodes.forEach(body) }
    for case let node as any RestorableNode in seen { body(node) }
  }
}
