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
  func walk(from first: Int32) -> [Int32] {
    var (order, stack, referred): ([Int32], [Int32], ArraySlice<Int32>) = ([], [first], [])
    while let slot = stack.popLast() ?? referred.popFirst() {
      order.append(slot)
      let children = self[slot].children
      if children.isEmpty { continue }
      for role in [Role.presented, .child, .view] {
        stack += children.reversed().filter { self[$0].place.role == role }
      }
      referred += children.filter { self[$0].place.role.livesByReferences }
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
  package var all: [Int32: [UInt64]] = [:]
  /// Whether there may be an element to which only references lead.
  package var hasReferred = false
  /// Whether all of them are known.
  package var isWhole = true
}

/// What is stored of all elements together.
package struct DocumentHead: Hashable, Sendable {
  package var forms: [Form] = []
  /// What the app said of itself in the last save.
  package var facts: [String: String] = [:]
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

  var kind: ElementKind { self == .view ? .view : self == .object ? .object : .node }

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
  init?(saved seconds: UInt32) {
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
  var ifNumber: Date? { timeIntervalSinceReferenceDate.isNaN ? nil : self }
}

extension RestorationPath {
  func appending(_ place: Place) -> RestorationPath {
    appending(place.name, siblingIndex: Int(place.siblingIndex))
  }
}

/// The paths of the elements of a document, each made when somebody asks for it.
///
/// Paths share their beginnings, so that the paths of all elements take linear memory and time.
final class StoredPaths {
  private let elements: [Element]
  /// The paths of elements with others below them.
  private var known: [Int32: RestorationPath] = [:]
  /// The element above the one that was asked for last: siblings come one after the other.
  private var last = (parent: Document.tree, path: RestorationPath())

  init(_ document: Document) { elements = document.elements }

  subscript(slot: Int32) -> RestorationPath {
    guard slot > Document.tree else { return RestorationPath() }
    let place = elements[Int(slot)].place
    if last.parent != place.parent { last = (place.parent, path(of: place.parent)) }
    return last.path.appending(place)
  }

  private func path(of slot: Int32) -> RestorationPath {
    let left = sequence(first: slot) { [elements] in elements[Int($0)].place.parent }
      .prefix { $0 > Document.tree && known[$0] == nil }
    for slot in left.reversed() { known[slot] = self[slot] }
    return known[slot] ?? RestorationPath()
  }
}
