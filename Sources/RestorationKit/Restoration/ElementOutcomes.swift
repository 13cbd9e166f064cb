/// The outcomes of the stored elements of a restore so far, by their places.
struct ElementOutcomes {
  private let outline: StoredOutline
  /// One outcome for each element that was looked for.
  private(set) var all: [RestorationReport.NodeOutcome] = []
  /// The traits of the objects that are back.
  private(set) var traits: [TypeTraits]
  /// The elements that saves keep, each with all below it.
  private(set) var kept: Set<Int> = []
  /// The stacks of which a node is not back, and whether saves keep that node: the nodes that lay
  /// on it are left out.
  private var cutStacks: [Int: Bool] = [:]
  /// The roots that the app gave to the restore, and that are not back.
  private(set) var unusedRoots: Set<Int> = []

  init(_ outline: StoredOutline) {
    self.outline = outline
    traits = Array(repeating: [], count: outline.rows.count)
    all.reserveCapacity(outline.rows.count)
  }

  subscript(place: Int) -> RestorationReport.NodeOutcome { all[place] }

  /// Whether an element is one of the tabs of the node that contains it.
  func isTab(_ place: Int) -> Bool { container(of: place, that: .tabs) != nil }

  /// Whether saves keep the missing node on which an element lay in a stack; nil if no node of the
  /// stack is missing so far.
  func keepsNode(below place: Int) -> Bool? {
    cutStacks.isEmpty ? nil : container(of: place, that: .stack).flatMap { cutStacks[$0] }
  }

  private func container(of place: Int, that trait: TypeTraits) -> Int? {
    let row = outline.rows[place]
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
    let place = all.count
    all.append(verdict.outcome)
    note(place, verdict, traits)
    guard !verdict.outcome.isBack, let stack = container(of: place, that: .stack) else { return }
    cutStacks[stack] = cutStacks[stack] == true || verdict.isKept
  }

  /// Replaces the verdict on a view when its node has loaded it.
  mutating func settle(_ place: Int, _ verdict: ElementVerdict, _ traits: TypeTraits = []) {
    all[place] = verdict.outcome
    note(place, verdict, traits)
  }

  private mutating func note(_ place: Int, _ verdict: ElementVerdict, _ traits: TypeTraits) {
    self.traits[place] = traits
    if verdict.isKept { kept.insert(place) }
  }

  /// Notes that an object that is back could not be decoded.
  mutating func fail(_ place: Int, _ error: String) {
    guard let step = all[place].step else { return }
    all[place] = .decodeFailed(by: step, error)
  }

  mutating func noteUnusedRoot(_ place: Int) { unusedRoots.insert(place) }

  /// Leaves out the first element, and all others since they are below it.
  mutating func leaveOutAll() {
    all = outline.rows.indices.map { $0 == 0 ? .skipped : .parentMissing(outline.path(of: 0)) }
  }
}
