/// The outcomes of the stored elements of a restore so far, by their places.
struct ElementOutcomes {
  private let outline: StoredOutline
  /// One outcome for each element that was looked for.
  private(set) var all: [RestorationReport.NodeOutcome] = []
  /// The traits of the objects that are back.
  private(set) var traits: [TypeTraits]
  /// The elements that saves keep, each with all below it.
  private(set) var kept: Set<Int> = []
  /// The elements whose objects are back and keep their state for later.
  private(set) var keepsOwnState: Set<Int> = []
  /// The stacks of which a node is not back, and whether saves keep that node: the nodes that lay
  /// on it are left out.
  private var cutStacks: [Int: Bool] = [:]
  /// The elements of stacks that are not back, and at which the stacks are not cut.
  private(set) var notThere: Set<Int> = []
  /// The identifiers that several children of one element have, by its place; nil until somebody asks.
  private var sharedNames: [Int: Set<String>]?
  /// The roots that the app gave to the restore, and that are not back.
  private(set) var unusedRoots: Set<Int> = []

  init(_ outline: StoredOutline) {
    self.outline = outline
    traits = Array(repeating: [], count: outline.rows.count)
    all.reserveCapacity(outline.rows.count)
  }

  subscript(index: Int) -> RestorationReport.NodeOutcome { all[index] }

  /// Whether an element is one of the tabs of the node that contains it.
  func isTab(_ index: Int) -> Bool { container(of: index, that: .tabs) != nil }

  /// Whether saves keep the missing node on which an element lay in a stack; nil if no node of the
  /// stack is missing so far.
  func keepsNode(below index: Int) -> Bool? {
    cutStacks.isEmpty ? nil : container(of: index, that: .stack).flatMap { cutStacks[$0] }
  }

  private func container(of index: Int, that trait: TypeTraits) -> Int? {
    let row = outline.rows[index]
    guard row.role == .child, let parent = row.parent, traits[parent].contains(trait) else {
      return nil
    }
    return parent
  }

  /// Adds the verdict on the next element.
  ///
  /// - Parameters:
  ///   - verdict: The verdict.
  ///   - traits: The traits of the object; none if the object is not back.
  mutating func append(_ verdict: ElementVerdict, _ traits: TypeTraits = []) {
    let index = all.count
    all.append(verdict.outcome)
    note(index, verdict, traits)
    guard !verdict.outcome.isBack, let stack = container(of: index, that: .stack) else { return }
    if cutStacks[stack] == nil, verdict.isOfUnknownClass, hasOwnName(index) {
      notThere.insert(index)
    } else {
      cutStacks[stack] = cutStacks[stack] == true || verdict.isKept
    }
  }

  /// Whether no sibling has the identifier of an element.
  ///
  /// Without the element, the number that tells it from an equal sibling would pass to that one.
  private mutating func hasOwnName(_ index: Int) -> Bool {
    guard let parent = outline.rows[index].parent else { return true }
    let shared =
      sharedNames
      ?? outline.rows.indices.reduce(into: [:]) { shared, index in
        guard outline.siblingIndex(of: index) > 0, let parent = outline.rows[index].parent else {
          return
        }
        shared[parent, default: []].insert(outline.identifier(of: index))
      }
    sharedNames = shared
    return shared[parent]?.contains(outline.identifier(of: index)) != true
  }

  /// Replaces the verdict on a view when its node has loaded it.
  mutating func settle(_ index: Int, _ verdict: ElementVerdict, _ traits: TypeTraits = []) {
    all[index] = verdict.outcome
    note(index, verdict, traits)
  }

  private mutating func note(_ index: Int, _ verdict: ElementVerdict, _ traits: TypeTraits) {
    self.traits[index] = traits
    if verdict.isKept { kept.insert(index) }
  }

  /// Notes that an object that is back could not be decoded.
  mutating func fail(_ index: Int, _ error: String) {
    guard let step = all[index].step else { return }
    all[index] = .decodeFailed(by: step, error)
  }

  /// Notes that an object that is back keeps its state for later, whether or not it could decode it.
  ///
  /// A state that nobody got to see is kept anyway, for the reason that it already has.
  mutating func keep(_ index: Int, because reason: String) {
    switch all[index] {
    case .restored(let step), .restoredWithoutState(let step), .decodeFailed(let step, _):
      all[index] = .kept(by: step, reason)
      keepsOwnState.insert(index)
    default: break
    }
  }

  mutating func noteUnusedRoot(_ index: Int) { unusedRoots.insert(index) }

  /// Leaves out the first element, and all others since they are below it.
  mutating func leaveOutAll() {
    all = outline.rows.indices.map { $0 == 0 ? .skipped : .parentMissing(outline.path(of: 0)) }
  }
}
