/// What has become of the elements of a restore so far.
struct ElementOutcomes {
  typealias Outcome = RestorationReport.NodeOutcome

  private let document: Document
  private var all: [Outcome?]
  /// The traits of the objects that are back.
  private(set) var traits: [TypeTraits]
  /// The elements that saves keep, each with all below it.
  private(set) var kept: Set<Int32> = []
  /// The stacks of which a node is not back, and whether saves keep that node: the nodes that lay
  /// on it are left out.
  private var cutStacks: [Int32: Bool] = [:]
  private var notes: [Int32: [ReportNote]] = [:]
  /// Whether an element was left out, since restoring it crashed.
  private(set) var hasLeftOut = false

  init(_ document: Document) {
    self.document = document
    all = Array(repeating: nil, count: document.elements.count)
    traits = Array(repeating: [], count: document.elements.count)
  }

  subscript(slot: Int32) -> Outcome? { all[Int(slot)] }

  func isDecodable(_ slot: Int32) -> Bool { all[Int(slot)]?.isDecodable ?? false }

  /// Whether the object of an element is there, and is a node where a node was saved.
  func isFound(_ slot: Int32) -> Bool {
    if case .classMismatch? = all[Int(slot)] { return document[slot].place.role.kind == .node }
    return isDecodable(slot)
  }

  /// Whether the object of an element was decoded to the end.
  func isDecoded(_ slot: Int32) -> Bool {
    if case .decodeFailed? = all[Int(slot)] { false } else { isDecodable(slot) }
  }

  /// Whether an element is one of the tabs of the node that contains it.
  func isTab(_ slot: Int32) -> Bool { container(of: slot, that: .tabs) != nil }

  /// Whether saves keep the missing node on which an element lay in a stack; nil if no node of the
  /// stack is missing so far.
  func keepsNode(below slot: Int32) -> Bool? {
    cutStacks.isEmpty ? nil : container(of: slot, that: .stack).flatMap { cutStacks[$0] }
  }

  private func container(of slot: Int32, that trait: TypeTraits) -> Int32? {
    let place = document[slot].place
    guard place.role == .child, place.parent > Document.tree,
      traits[Int(place.parent)].contains(trait)
    else { return nil }
    return place.parent
  }

  /// Takes the verdict on an element.
  ///
  /// The traits are those of the object, none if the object is not back.
  mutating func set(_ verdict: ElementVerdict, _ slot: Int32, _ traits: TypeTraits = []) {
    all[Int(slot)] = verdict.outcome
    self.traits[Int(slot)] = traits
    if verdict.isKept { kept.insert(slot) }
    if verdict.outcome == .skipped { hasLeftOut = true }
    guard !verdict.outcome.isBack, let stack = container(of: slot, that: .stack) else { return }
    // A node whose class this version does not know is as if it had not been in the stack, unless the
    // number that tells it from an equal sibling would pass to that one.
    if cutStacks[stack] == nil, verdict.isOfUnknownClass, hasOwnName(slot, in: stack) { return }
    cutStacks[stack] = cutStacks[stack] == true || verdict.isKept
  }

  private func hasOwnName(_ slot: Int32, in parent: Int32) -> Bool {
    let name = document[slot].place.name
    return document[parent].children.count { document[$0].place.name == name } == 1
  }

  /// Notes that an object that is back could not be decoded.
  mutating func fail(_ slot: Int32, _ error: String) {
    guard let step = all[Int(slot)]?.step else { return }
    all[Int(slot)] = .decodeFailed(by: step, error)
  }

  /// Notes that an object has decoded another body after one that it could not.
  mutating func succeed(_ slot: Int32) {
    guard let step = all[Int(slot)]?.step else { return }
    all[Int(slot)] = .restored(by: step)
  }

  /// Keeps an element though its object is back: nothing above contains it.
  mutating func keep(_ slot: Int32) { kept.insert(slot) }

  mutating func note(_ note: ReportNote, _ slot: Int32) { notes[slot, default: []].append(note) }

  func notes(of slot: Int32) -> [ReportNote] { notes.isEmpty ? [] : notes[slot] ?? [] }
}
