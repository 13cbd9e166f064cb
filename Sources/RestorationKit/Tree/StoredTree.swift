internal import ArchiveCodec

/// A verified archive as a tree, ready to be brought back.
///
/// Reading it needs no actor. What an authentic but hostile archive can say of
/// the tree is settled here: every record is placed at most once, so a cycle
/// or a child of two parents cannot make the restore go round or twice.
struct StoredTree: Sendable {
  /// A node, view or object, after its parent and after its elder siblings.
  ///
  /// It is a class because a restore passes it on often, and it holds much.
  final class Element: Sendable {
    let record: UInt64
    let path: RestorationPath
    /// The place of the parent in ``StoredTree/elements``; nil for a root.
    let parent: Int?
    let role: Role
    let content: NodeRecord
    let values: Values

    init(
      record: UInt64, path: RestorationPath, parent: Int?, role: Role, content: NodeRecord,
      values: Values
    ) {
      self.record = record
      self.path = path
      self.parent = parent
      self.role = role
      self.content = content
      self.values = values
    }
  }

  /// What an element is to its parent.
  enum Role: Sendable {
    case root, view, child, presented
    /// It is only referred to.
    case referred
  }

  /// What is stored of an element besides its place.
  struct Values: Sendable {
    /// Nil if the library had nothing of its own to save.
    let builtIn: KeyedDecoder?
    /// Nil for what was saved without state.
    let state: KeyedDecoder?
  }

  struct Unreadable: Sendable {
    let record: UInt64
    let error: ArchiveError
  }

  let version: ArchiveVersion
  let snapshot: SnapshotUse
  let facts: SaveFacts?
  let applicationState: KeyedDecoder?
  /// What was written in the name of a scene.
  let host: KeyedDecoder?
  /// What classes were called before the save, by their names in it.
  let formerNames: [String: [String]]
  private(set) var elements: [Element] = []
  /// Those of the records of the elements.
  private(set) var fingerprints: [RecordFingerprint] = []
  private(set) var unreadable: [Unreadable] = []

  /// Whether every record could be read and placed.
  var isWhole: Bool { unreadable.isEmpty }

  init(reading archive: Archive) throws(ArchiveError) {
    version = archive.version
    var application: KeyedDecoder?
    var tree: KeyedDecoder?
    let all = try archive.verifiedRecords()
    var records = StoredRecords(count: all.count)
    for place in 0..<all.count {
      let record = all.identifier(at: place)
      switch record {
      case NodeRecord.application: application = try all.record(at: place)
      case NodeRecord.tree: tree = try all.record(at: place)
      default:
        do throws(ArchiveError) {
          try records.append(record, try all.record(at: place), all.fingerprint(at: place))
        } catch {
          unreadable.append(Unreadable(record: record, error: error))
        }
      }
    }
    snapshot = try SnapshotUse(reading: tree)
    facts = try application?.container(forKey: NodeRecord.factsKey).map(SaveFacts.init)
    applicationState = try application?.container(forKey: NodeRecord.stateKey)
    host = try application?.container(forKey: NodeRecord.hostKey)
    var formerNames: [String: [String]] = [:]
    if let names = try tree?.container(forKey: NodeRecord.formerNamesKey) {
      for name in names.keys { formerNames[name] = try names.decodeIfPresent(forKey: name) }
    }
    self.formerNames = formerNames
    place(try tree?.references(forKey: NodeRecord.rootsKey) ?? [], &records)
  }

  /// A part of a tree, for what comes late.
  init(
    _ elements: [Element], version: ArchiveVersion, facts: SaveFacts?,
    formerNames: [String: [String]]
  ) {
    self.formerNames = formerNames
    self.version = version
    self.facts = facts
    self.elements = elements
    snapshot = .matching
    applicationState = nil
    host = nil
  }

  /// Orders the records: parents first, their views, what they contain in
  /// order, what they present, then what only they refer to.
  private mutating func place(
    _ roots: [UInt64], _ records: inout StoredRecords
  ) {
    var siblings = SiblingCheck(count: records.count)
    elements.reserveCapacity(records.count)
    var stack: [(record: UInt64, parent: Int?, role: Role)] =
      roots.reversed().map { ($0, nil, .root) }
    while let (record, parent, role) = stack.popLast() {
      // Taken out, so that nothing is placed twice.
      guard let taken = records.take(record) else { continue }
      let name = SiblingCheck.Name(
        kind: taken.content.kind, parent: parent, identifier: taken.content.identifier,
        index: taken.content.siblingIndex)
      guard siblings.insert(name) else {
        unreadable.append(
          Unreadable(
            record: record, error: ArchiveError(.malformed, subject: "two nodes of one path")))
        continue
      }
      let path = (parent.map { elements[$0].path } ?? RestorationPath())
        .appending(name.identifier, siblingIndex: name.index)
      let element = Element(
        record: record, path: path, parent: parent, role: role, content: taken.content,
        values: taken.values)
      let place = elements.count
      elements.append(element)
      fingerprints.append(taken.fingerprint)
      // The last is next.
      for next in records.referred(by: record).reversed() {
        stack.append((next, place, .referred))
      }
      if let presented = element.content.presented { stack.append((presented, place, .presented)) }
      for next in element.content.children.reversed() { stack.append((next, place, .child)) }
      for next in element.content.views.reversed() { stack.append((next, place, .view)) }
    }
    for record in records.left {
      unreadable.append(
        Unreadable(record: record, error: ArchiveError(.malformed, subject: "not in the tree")))
    }
  }
}

/// The records of a tree before each has its place, of which nothing is placed twice.
private struct StoredRecords {
  typealias Stored = (
    content: NodeRecord, values: StoredTree.Values, fingerprint: RecordFingerprint
  )

  private var stored: [Stored?] = []
  private var numbers: [UInt64] = []
  private var places: RecordPlaces
  private var referred: [UInt64: [UInt64]] = [:]
  private var keys: NodeKeys?

  init(count: Int) {
    places = RecordPlaces(count: count)
    stored.reserveCapacity(count)
    numbers.reserveCapacity(count)
  }

  var count: Int { stored.count }

  mutating func append(
    _ record: UInt64, _ decoder: KeyedDecoder, _ fingerprint: RecordFingerprint
  ) throws(ArchiveError) {
    let keys = keys ?? NodeKeys(of: decoder)
    self.keys = keys
    let read = try NodeRecord.read(decoder, keys)
    places[record] = stored.count
    stored.append((read.content, read.values, fingerprint))
    numbers.append(record)
    if let referrer = read.content.referrer { referred[referrer, default: []].append(record) }
  }

  /// Takes a record out; nil if it is not there any more.
  mutating func take(_ record: UInt64) -> Stored? {
    guard let place = places[record] else { return nil }
    // Moved out: a copy would count ten references.
    var taken: Stored?
    swap(&taken, &stored[place])
    return taken
  }

  func referred(by record: UInt64) -> [UInt64] { referred[record] ?? [] }

  /// What has no place in the tree, ascending.
  var left: [UInt64] {
    stored.indices.lazy.filter { stored[$0] != nil }.map { numbers[$0] }.sorted()
  }
}
