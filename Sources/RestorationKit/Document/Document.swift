package import ArchiveCodec
package import RestorationFoundation

/// What is stored: the elements of a tree, and how each is found again.
///
/// A document is a value. A survey says how the next one differs, and the engine changes the
/// document when that is on disk.
package struct Document: Sendable {
  /// The tree itself comes first.
  ///
  /// Parents come before what is below them where a document is read;
  /// later ones come as they are met.
  package var elements: [Element]
  package var head = DocumentHead()
  package var kept = KeptParts()
  package var links = Links()
  package var nextID: UInt64 = 1
  /// Records of no element, and of bodies that were given up, which the next save removes.
  ///
  /// Nil if something is left out that could not be read: its records stay, and before the first save the
  /// file becomes a moment.
  package var leftovers: [UInt64]? = []
  /// Whether what is kept is another than what is stored of it.
  package var hasUnstoredKept = false
  /// How many of the elements have no place, or none any more.
  package var removedCount = 0

  /// The place of the tree itself, which has the roots below it, and the application's body.
  package static let tree: Int32 = 0

  package init() { elements = [Element(id: 0, place: Place(parent: -1, role: .child))] }

  /// Whether anything of an app was ever stored.
  var isEmpty: Bool { head.idLimit == 1 && self[Self.tree].body == .none }

  package subscript(slot: Int32) -> Element {
    _read { yield elements[Int(slot)] }
    _modify { yield &elements[Int(slot)] }
  }

  package func form(of slot: Int32) -> Form { head.forms[Int(self[slot].place.form)] }

  /// An element and all below it in the order of the walk: after a node its views, then the nodes that
  /// it contains and presents, each with all below it; then what only references reach.
  ///
  /// - Complexity: O(*n*) in the elements below.
  package func walk(from first: Int32, intoWindows: Bool = true) -> [Int32] {
    var (order, stack, referred): ([Int32], [Int32], ArraySlice<Int32>) = ([], [first], [])
    while let slot = stack.popLast() ?? referred.popFirst() {
      order.append(slot)
      // Read in place: the subscript takes memory for what it yields (benchmark: restore 10,000 nodes).
      let children = elements[Int(slot)].children
      if children.isEmpty { continue }
      for role in [Role.scene, .presented, .child, .view] where intoWindows || role != .scene {
        stack += children.reversed().filter { elements[Int($0)].place.role == role }
      }
      referred += children.filter { elements[Int($0)].place.role.livesByReferences }
    }
    return order
  }

  /// The kept elements and all below them; some may lie below each other.
  var keptAndBelow: Set<Int32> {
    var (all, stack) = (Set<Int32>(), Array(kept.elements.keys))
    while let slot = stack.popLast() {
      if all.insert(slot).inserted { stack += self[slot].children }
    }
    return all
  }

  /// Whether objects of any class may have to be found by themselves, and not by parent and name.
  ///
  /// The application refers to objects before they have their places.
  var findsAllByObject: Bool {
    links.hasReferred || links.all[Self.tree] != nil || !kept.isEmpty
  }

  /// Whether a save in which nobody says anything new has nothing to write.
  func isSettled(_ facts: [String: String]) -> Bool {
    !hasUnstoredKept && leftovers == [] && facts == head.facts
  }

  /// The places of all elements, by their identifiers.
  var slotsByIdentifier: KeyTable {
    var slots = KeyTable(expecting: elements.count)
    for (slot, element) in elements.enumerated() where element.id != 0 {
      slots.set(element.id, Int32(slot))
    }
    return slots
  }
}

/// To whom bodies refer, and what follows from that.
package struct Links: Sendable {
  /// The identifiers to which bodies refer, as far as they are known.
  package var all: [Int32: [UInt64]] = .init()
  /// Whether there may be an element to which only references lead.
  package var hasReferred = false
  /// Whether all of them are known.
  package var isWhole = true
}

/// What is stored of all elements together.
package struct DocumentHead: Hashable, Sendable {
  package var forms: [Form] = []
  /// What the app said of itself in the last save.
  package var facts: [String: String] = .init()
  /// When what was read was saved last.
  package var savedAt: Date?
  /// No identifier from here on was ever stored.
  package var idLimit: UInt64 = 1
}

/// An object as it is stored.
package struct Element: Sendable {
  /// The identifier for as long as the state lives.
  ///
  /// The records are ``bodyRecord`` and ``contentsRecord``.
  package var id: UInt64
  package var place: Place
  /// The fingerprint of what the object wrote; `none` if it wrote nothing.
  package var body = RecordFingerprint.none
  /// The places of what is below the element.
  package var children: [Int32] = []
  /// Whether each save has to look for objects below this one that it must ask.
  package var asksBelow = false

  /// Whether nobody has said in this launch to whom the stored body refers.
  var isUnheard = false

  package var bodyRecord: UInt64 { id == 0 ? TreeRecord.application : id * 2 }
  package var contentsRecord: UInt64 { id * 2 + 1 }

  /// The largest identifier, since records have numbers of their own above these.
  ///
  /// No state has so many elements, so that a save need not look whether there is room.
  package static let largestID: UInt64 = 1 << 62

  /// The longest name, in bytes.
  static let longestName = ArchiveLimits.standard.keyByteCount

  /// Whether an element can be stored under a name.
  static func canBeCalled(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.count <= longestName
  }
}

/// What the element above says of an element.
package struct Place: Hashable, Sendable {
  package var parent: Int32
  package var role: Role
  package var name = ""
  /// Which of the siblings of this name.
  package var siblingIndex: Int32 = 0
  package var form: Int32 = 0
  /// Whether the object could not say anything yet, so that a restore gives it nothing.
  var lacksState = false

  /// Names that are equal, but spelled with other characters, are other names to store.
  package static func == (left: Place, right: Place) -> Bool {
    left.parent == right.parent && left.role == right.role
      && left.siblingIndex == right.siblingIndex && left.form == right.form
      && left.lacksState == right.lacksState && left.name.utf8.elementsEqual(right.name.utf8)
  }

  /// The role and the flag, as a contents record has them.
  var storedRole: UInt8 { role.rawValue | (lacksState ? Self.lacksStateMark : 0) }

  static let lacksStateMark: UInt8 = 1 << 7
}

/// How an element lies below the one above it.
package enum Role: UInt8, Sendable {
  case child, presented, view
  /// A registered object, below the element that scopes it.
  case object
  /// A node to which only references lead, the first of them from the element above.
  case referred
  /// A window, below the tree.
  case scene

  package var kind: ElementKind {
    self == .view ? .view : self == .object ? .object : self == .scene ? .scene : .node
  }

  /// The names of siblings of one sort differ.
  var sort: Role { kind == .node ? .child : self }

  /// Whether the element stays for as long as a reference leads there.
  var livesByReferences: Bool { self == .referred || self == .object }
}

/// The storyboard that has made a node, and the name of the node there.
struct StoryboardReference: Hashable, Sendable {
  let name: String
  let identifier: String
}

/// How objects of one kind are made, and read.
package struct Form: Hashable, Sendable {
  package var className: String
  package var restorationClassName: String?
  var storyboard: StoryboardReference?
  package var version = 1
}

extension ApplicationEnvironment {
  /// What the app says of itself in a save.
  package var facts: [String: String] {
    let facts = [
      "applicationVersion": applicationVersion, "userInterfaceIdiom": userInterfaceIdiom,
      "systemVersion": systemVersion, "deviceName": deviceName,
    ]
    return facts.compactMapValues(\.self)
  }
}

extension Date {
  /// The time of a save, which its commit has as the seconds since 2001; nil if there is none.
  package init?(saved seconds: UInt32) {
    guard seconds > 0 else { return nil }
    self.init(timeIntervalSinceReferenceDate: TimeInterval(seconds))
  }

  /// The seconds since 2001 that a commit has; 0 for a time before that.
  var savedSeconds: UInt32 {
    UInt32(exactly: timeIntervalSinceReferenceDate.rounded(.down)) ?? 0
  }

  /// The date; nil if it is no number, as one that an app or a file gives may be.
  ///
  /// The system ends the process that describes such a date, and it is neither before nor after any other.
  package var ifNumber: Date? { timeIntervalSinceReferenceDate.isNaN ? nil : self }
}

extension RestorationPath {
  func appending(_ place: Place) -> RestorationPath {
    appending(place.name, siblingIndex: Int(place.siblingIndex))
  }
}

/// The paths of the elements of a document, each made when somebody asks for it; those in a window begin below the
/// window, whose name no app has chosen.
///
/// Paths share their beginnings, so that the paths of all elements take linear memory and time.
package final class StoredPaths {
  private let elements: [Element]
  /// The paths of elements with others below them.
  private var known: [Int32: RestorationPath] = .init()
  /// The element above the one that was asked for last: siblings come one after the other.
  private var last: (parent: Int32, path: RestorationPath)?

  private let namesWindows: Bool

  /// The paths of the elements in a window begin with the window if it is to be named.
  package init(_ document: Document, namingWindows namesWindows: Bool = false) {
    (elements, self.namesWindows) = (document.elements, namesWindows)
  }

  package subscript(slot: Int32) -> RestorationPath {
    guard slot > Document.tree else { return RestorationPath() }
    let place = elements[Int(slot)].place
    if last?.parent != place.parent { last = (place.parent, path(of: place.parent)) }
    return (last?.path ?? RestorationPath()).appending(place)
  }

  private func path(of slot: Int32) -> RestorationPath {
    var (left, above): ([Int32], Int32) = ([], slot)
    while above > Document.tree, known[above] == nil,
      namesWindows || elements[Int(above)].place.role != .scene
    {
      left.append(above)
      above = elements[Int(above)].place.parent
    }
    for slot in left.reversed() { known[slot] = self[slot] }
    return known[slot] ?? RestorationPath()
  }
}

/// What stays stored though nobody has claimed or read it, by the elements.
package struct KeptParts: Sendable {
  /// The elements that nobody has claimed, the uppermost ones alone.
  package var elements: [Int32: Kept] = .init()
  /// The bodies that an object of an element could not read, oldest first.
  package var bodies: [Int32: [Kept]] = .init()
  /// The own bodies of elements whose objects are back and have not read them, until others are stored.
  var withheld: [Int32: Kept] = .init()
  /// What objects said before they were given a body late, until it is stored as an unread one.
  var pending: [Int32: [KeyedDecoder]] = .init()

  package var isEmpty: Bool {
    elements.isEmpty && bodies.isEmpty && withheld.isEmpty && pending.isEmpty
  }

  /// Asked for each object: a copy of what is withheld would take longer than the answer (benchmark: save 10,000
  /// nodes).
  func isWithheld(_ slot: Int32) -> Bool { !withheld.isEmpty && withheld[slot] != nil }

  /// The bodies that a late restore may give an object which is back; nil stands for its own one.
  func untaken(_ slot: Int32) -> [UInt64?] {
    let withheld = withheld[slot]
    let hasDecoded = [nil, .replaced, .fieldReplaced].contains(withheld?.reason)
    let others = (bodies[slot] ?? []).filter {
      [.decodeThrew, .fieldReplaced, .notFound].contains($0.reason) && $0.id != withheld?.given
    }
    return others.map(\.id) + (hasDecoded ? [] : [nil])
  }

  mutating func remove(_ slot: Int32) {
    (elements[slot], bodies[slot], withheld[slot], pending[slot]) = (nil, nil, nil, nil)
  }
}

/// An element that nobody has claimed, or a body that the object of an element has not read.
package struct Kept: Hashable, Sendable {
  /// The record of an unread body has twice this number; 0 for an element, and for its own body.
  var id: UInt64 = 0
  package var reason: Reason
  /// The form of a body.
  package var form: Int32 = 0
  /// Nil until the first save that keeps it.
  package var since: Date?
  /// The stored bytes, as far as they are known; of an element those of all bodies in it.
  var byteCount = 0
  /// The outcome of an element at the restore of this launch, for reports.
  var outcome: ElementOutcome?
  /// The unread body that the object has decoded in place of its own.
  var given: UInt64?
  /// Whether the object had its own body before: the next save writes what the object goes on with.
  var replacesOwn = false
  /// What the object said at the end of the restore; nil if it could not say anything.
  ///
  /// Nothing is stored as long as it says that.
  var said: RecordFingerprint?

  package var record: UInt64 { id * 2 }

  /// How many unread bodies one element has at most: the first one and the one before the last.
  static let largestBodyCount = 2

  /// Why nobody has an element, or has read a body.
  package enum Reason: UInt8, Sendable {
    case notFound, unknownClass, factoryThrew, newerVersion, migrationFailed, leftOut
    case decodeThrew, otherClass, fieldReplaced, replaced

    /// Why an element is kept, or why an object that is back has not read its body.
    init(_ outcome: ElementOutcome?) {
      self =
        switch outcome {
        case .newerVersion: .newerVersion
        case .migrationFailed: .migrationFailed
        case .unknownRestorationClass: .unknownClass
        case .factoryFailed: .factoryThrew
        case .skipped: .leftOut
        case .classMismatch: .otherClass
        case .decodeFailed: .decodeThrew
        default: .notFound
        }
    }

    /// Whether the app could not read anything of the body, so that what it says is stored beside it.
    var staysBeside: Bool { self == .newerVersion || self == .migrationFailed || self == .leftOut }
  }
}

// MARK: - For reports

extension Document {
  /// The kept elements, then the bodies that the objects of elements have not read.
  func keptElements(_ types: TypeTable) -> [ReportEntry] {
    guard !kept.isEmpty else { return [] }
    let paths = StoredPaths(self)
    func line(_ slot: Int32, _ part: Kept, isStateAlone: Bool) -> ReportEntry {
      let form = head.forms[Int(isStateAlone ? part.form : self[slot].place.form)]
      return ReportEntry(
        kind: self[slot].place.role.kind, path: paths[slot], className: form.className,
        outcome: isStateAlone ? part.outcome(of: form, types) : part.outcome ?? .notFound,
        since: part.since, byteCount: part.byteCount)
    }
    let own = kept.withheld.filter { $0.value.reason.staysBeside && kept.elements[$0.key] == nil }
    // The application has no class, and no element of a report.
    let slots = Set(kept.bodies.keys).union(own.keys).subtracting([Self.tree])
    return kept.elements.ordered { $0.key < $1.key }.map { line($0, $1, isStateAlone: false) }
      + slots.sorted().flatMap { slot in
        ((kept.bodies[slot] ?? []).reversed() + [own[slot]].compactMap(\.self)).map {
          line(slot, $0, isStateAlone: true)
        }
      }
  }
}

extension Kept {
  /// Why a body is not read, as this version of the app sees it.
  fileprivate func outcome(of form: Form, _ types: TypeTable) -> ElementOutcome {
    let known =
      types.version(ofClass: form.className, restoredBy: form.restorationClassName) ?? .first
    let isNewer = form.version > known.number
    if reason == .leftOut, !isNewer { return .skipped }
    let isRefused =
      isNewer || reason == .migrationFailed
      || reason == .newerVersion && known.steps(from: form.version) == nil
    return isRefused ? known.refusal(of: form.version)(.existing) : .restored(by: .existing)
  }
}

/// How the next document differs from the one before.
package struct Change: Sendable {
  package var bodies: [(slot: Int32, body: RecordFingerprint)]
  /// What else is another; nil if nothing is.
  package var edits: Edits?

  /// What may be another besides the bodies of stored elements.
  package struct Edits: Sendable {
    package var added: [Element] = []
    package var places: [Int32: Place] = .init()
    package var children: [(slot: Int32, slots: [Int32])] = []
    package var asksBelow: Set<Int32> = []
    /// The elements whose references are known from now on.
    package var heard: Set<Int32> = []
    package var references: [Int32: [UInt64]] = .init()
    /// Whether there may be an element to which only references lead.
    package var hasReferred: Bool
    /// Whether the references of all stored bodies are known from now on.
    package var isWhole: Bool
    package var kept: KeptParts
    package var removed: [Int32] = []
    /// Nil if it is as before.
    package var head: DocumentHead?
    package var nextID: UInt64
  }
}

extension Document {
  package mutating func apply(_ change: consuming Change) {
    for (slot, body) in change.bodies { self[slot].body = body }
    guard let edits = change.edits else { return }
    elements.append(contentsOf: edits.added)
    for (slot, place) in edits.places { self[slot].place = place }
    for (slot, slots) in edits.children { self[slot].children = slots }
    for slot in edits.asksBelow { self[slot].asksBelow = true }
    for slot in edits.heard { self[slot].isUnheard = false }
    for (slot, ids) in edits.references { links.all[slot] = ids.isEmpty ? nil : ids }
    kept = edits.kept
    (links.hasReferred, links.isWhole) = (edits.hasReferred, edits.isWhole)
    for slot in edits.removed {
      self[slot] = Element(id: 0, place: Place(parent: -1, role: .referred))
      links.all[slot] = nil
    }
    removedCount += edits.removed.count
    leftovers = []
    hasUnstoredKept = false
    if let head = edits.head { self.head = head }
    nextID = edits.nextID
  }

  /// Takes the fingerprints of the records of the elements from a slot on, both in the order of identifiers.
  mutating func setFingerprints(
    _ records: [(record: UInt64, fingerprint: RecordFingerprint)], from first: Int
  ) {
    var rest = records[...]
    for index in elements.indices[first...] where elements[index].body != .none {
      let record = elements[index].bodyRecord
      rest = rest.drop { $0.record < record }
      if let next = rest.first, next.record == record { elements[index].body = next.fingerprint }
    }
  }

  /// Forgets what bodies are, since the names in them have other numbers now.
  mutating func forgetFingerprints() {
    for index in elements.indices where elements[index].body != .none {
      elements[index].body = .unknown
    }
  }

  /// Drops the slots of removed elements; returns the new slot of each, -1 for a removed one.
  package mutating func pack() -> [Int32] {
    let order = walk(from: Self.tree)
    var slots = [Int32](repeating: -1, count: elements.count)
    for (index, slot) in order.enumerated() { slots[Int(slot)] = Int32(index) }
    elements = order.map { slot in
      var element = self[slot]
      if element.place.parent >= 0 { element.place.parent = slots[Int(element.place.parent)] }
      element.children = element.children.map { slots[Int($0)] }
      return element
    }
    func moved<Value>(_ values: [Int32: Value]) -> [Int32: Value] {
      .init(values.map { (slots[Int($0.key)], $0.value) }, uniquingKeysWith: { first, _ in first })
    }
    links.all = moved(links.all)
    (kept.elements, kept.bodies) = (moved(kept.elements), moved(kept.bodies))
    (kept.withheld, kept.pending) = (moved(kept.withheld), moved(kept.pending))
    removedCount = 0
    return slots
  }
}
