/// What a survey or a restore says of objects, in the order of the walk.
struct SurveyNotes {
  private enum Line {
    case slot(Int32)
    indirect case entry(ReportEntry)
  }

  /// The outcome of most elements.
  private let usual: ElementOutcome
  private var lines: [Line] = []
  private var notes: [Int32: [ReportNote]] = [:]
  private var outcomes: [Int32: ElementOutcome] = [:]
  private(set) var askedCount = 0
  /// Whether nothing is said but that what is usual has become of elements, so that no line is one of a problem.
  private(set) var isPlain = true

  init(usual: ElementOutcome = .saved) { self.usual = usual }

  mutating func add(asked slot: Int32) {
    askedCount += 1
    lines.append(.slot(slot))
  }

  /// Adds a line of an element whose object is not asked.
  mutating func add(_ slot: Int32, _ outcome: ElementOutcome) {
    lines.append(.slot(slot))
    set(outcome, slot)
  }

  mutating func add(_ entry: ReportEntry) {
    isPlain = false
    lines.append(.entry(entry))
  }

  /// Takes back the lines of elements that go after all.
  mutating func forget(_ slots: Set<Int32>) {
    for slot in slots { notes[slot] = nil }
    lines.removeAll { line in
      if case .slot(let slot) = line { slots.contains(slot) } else { false }
    }
  }

  mutating func add(_ note: ReportNote, _ slot: Int32) {
    isPlain = false
    if notes[slot]?.contains(note) != true { notes[slot, default: []].append(note) }
  }

  mutating func set(_ outcome: ElementOutcome, _ slot: Int32) {
    if outcome != usual { (outcomes[slot], isPlain) = (outcome, false) }
  }

  /// Whether the lines are few, and about few of so many elements.
  func isShort(of count: Int) -> Bool { lines.count <= min(32, count / 2) }

  /// The lines; that of the application comes first, if there is something to say of it.
  ///
  /// - Complexity: O(*n*) in the lines.
  func entries(_ document: Document) -> [ReportEntry] {
    let paths = StoredPaths(document)
    let entries = lines.map { line in
      switch line {
      case .slot(let slot):
        ReportEntry(
          slot, of: document, at: paths[slot], outcomes[slot] ?? usual, notes[slot] ?? [])
      case .entry(let entry): entry
      }
    }
    return entries.noting(notes[Document.tree] ?? [], outcomes[Document.tree] ?? usual)
  }

  /// Whether a hook of an element threw.
  func hasLoss(_ slot: Int32) -> Bool { notes[slot]?.contains(where: \.isLoss) ?? false }

  /// Whether an element has something that could not be stored, and may be the next time.
  func asksAgain(_ slot: Int32) -> Bool {
    guard !isPlain else { return false }
    return notes[slot]?.contains { note in
      if case .referenceNotStored = note { true } else { note.isLoss }
    } ?? false
  }

  /// Whether something that the app has is not stored.
  var hasLosses: Bool {
    notes.values.contains { $0.contains(where: \.isLoss) }
      || lines.contains { line in
        guard case .entry(let entry) = line else { return false }
        return entry.outcome == .duplicate || entry.notes.contains(where: \.isLoss)
      }
  }
}
