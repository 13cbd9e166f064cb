internal import ArchiveCodec

/// The root below which the values of a store have their records, one for each key.
///
/// The root announces keys that come and go, and reports the problems of the store in its line.
final class ValuesNode: RestorableNode {
  static let className = "@values"
  static let stateTracking = StateTracking.invalidated

  /// The path of the value of a key.
  static func path(of key: String) -> RestorationPath {
    RestorationPath().appending(className).appending(key)
  }

  let restorationIdentifier = "@values"
  let store: ValueStore
  private var nodes: [String: ValueNode] = [:]
  /// The keys that nobody had read at the last end of a debug build, for the command: the old
  /// spelling of a key stays stored.
  private var unreadKeys: [String] = []

  init(_ store: ValueStore) {
    self.store = store
    let identity = ObjectIdentifier(self)
    store.listen { TrackedObjects.invalidate(identity) }
  }

  var restorationChildren: [any RestorableNode] {
    let known = nodes
    // A node that was restored and has no value any more is met once more, to
    // go with the next save.
    let keys = store.storedKeys + known.values.filter(\.isRestored).map(\.key)
    nodes = [:]
    for key in keys { add(known[key] ?? ValueNode(key)) }
    return nodes.keys.sorted().compactMap { nodes[$0] }
  }

  /// Whether there are values to store or problems to report.
  var isNeeded: Bool { !restorationChildren.isEmpty || !store.isOfScene && !store.problems.isEmpty }

  private func add(_ node: ValueNode) {
    nodes[node.key] = node
    node.store = store
  }

  func encodeRestorableState(with coder: StateEncoder) {
    // The line of the scene has the problems of a scene.
    if !store.isOfScene { for problem in store.problems { coder.note(problem) } }
    if !unreadKeys.isEmpty { coder.encode(unreadKeys, forKey: Self.unreadKey) }
  }

  func decodeRestorableState(with coder: StateDecoder) throws {
    unreadKeys = try coder.decodeIfPresent([String].self, forKey: Self.unreadKey) ?? []
    for case let node as ValueNode in coder.restoredChildren {
      add(node)
      node.isRestored = true
    }
  }

  /// The key of the keys that nobody has read, in the state of the node.
  package static let unreadKey = "unread"
  private static let mostUnread = 50

  /// Notes which keys nobody has read in this launch, as it ends.
  func noteUnread() {
    let unread = Array(store.unreadKeys.prefix(Self.mostUnread))
    guard unread != unreadKeys else { return }
    unreadKeys = unread
    invalidateRestorableState()
  }

  /// Lets a restore make the nodes of values; the table must have no registrations yet.
  static func register(in types: TypeTable) {
    do throws(RestorationError) {
      try types.register(
        ValuesNode.self, as: className, aliases: [], version: 1, migrations: [],
        TypeTable.Making(
          factory: { _, _ in throw ValuesNotAskedFor() }, isNamedBySaves: true,
          makesItsClass: true))
      try types.register(
        ValueNode.self, as: ValueNode.className, aliases: [], version: 1, migrations: [],
        TypeTable.Making(
          factory: { path, coder in
            coder.contains(ValueStore.valueKey) ? path.identifier.map { ValueNode($0) } : nil
          }, isNamedBySaves: true, makesItsClass: true))
      try FieldRecord.register(in: types)
    } catch {
      preconditionFailure("The first names of a table are free: \(error)")
    }
  }
}

/// Keeps stored values for a later launch, since nothing in this launch uses values.
private struct ValuesNotAskedFor: Error, CustomStringConvertible {
  let description = "No values are used in this launch."
}

/// The record of one value.
final class ValueNode: RestorableNode {
  static let className = "@value"
  static let stateTracking = StateTracking.invalidated

  let key: String

  /// Whether the value was restored and not saved since.
  var isRestored = false

  /// The store of the value; nil for a node that a restore makes, until the root takes it.
  var store: ValueStore? {
    didSet {
      guard let store, store !== oldValue else { return }
      let identity = ObjectIdentifier(self)
      store.listen(to: key) { TrackedObjects.invalidate(identity) }
    }
  }

  init(_ key: String) {
    self.key = key
  }

  var restorationIdentifier: String { key }

  func encodeRestorableState(with coder: StateEncoder) throws {
    isRestored = false
    try store?.encode(key, with: coder)
  }

  func decodeRestorableState(with coder: StateDecoder) {
    // Counts all keys as asked for, since the store has taken the whole record.
    for key in coder.keys { _ = coder.contains(key) }
  }
}

extension ValueStore {
  /// Takes the values of a state that is being restored, before any hook of the app may read one.
  ///
  /// - Parameters:
  ///   - outline: The elements of the state.
  ///   - isPutBack: Whether the state has been put in the place of another one.
  ///   - state: The stored values of an element; nil if the element has none, or is left out.
  /// - Complexity: O(*n*) in the roots and in the values with their bytes.
  func restore(
    from outline: StoredOutline, isPutBack: Bool, state: (Int) -> KeyedDecoder?
  ) {
    var found: [(key: String, stored: ValueContent)] = []
    Self.forEachStored(in: outline, state: state) { found.append((key: $0, stored: $1)) }
    restore(found, isPutBack: isPutBack)
  }

  /// Calls the body with each value of a state.
  static func forEachStored(
    in outline: StoredOutline, state: (Int) -> KeyedDecoder?,
    _ body: (String, ValueContent) -> Void
  ) {
    for place in places(in: outline) {
      guard let stored = state(place).flatMap(ValueContent.init(ofRecord:)) else { continue }
      body(outline.identifier(of: place), stored)
    }
  }

  /// The places of the values in a state.
  static func places(in outline: StoredOutline) -> [Int] {
    let root = outline.rows.indices.first { place in
      outline.rows[place].parent == nil && outline.rows[place].kind == .node
        && outline.identifier(of: place) == ValuesNode.className
    }
    guard let root else { return [] }
    return outline.rows.indices.filter { outline.rows[$0].parent == root }
  }

  /// The values of a state of which nothing else is read.
  ///
  /// The root of values is the first root of a state.
  static func contents(of archive: Archive) throws(ArchiveError) -> [String: ValueContent] {
    let roots = try archive.record(NodeRecord.tree)?.references(forKey: NodeRecord.rootsKey)
    guard
      let root = try roots?.first.flatMap({ (record) throws(ArchiveError) in
        try archive.record(record)
      }), let node = try root.container(forKey: NodeRecord.nodeKey),
      try node.decodeIfPresent(String.self, forKey: NodeRecord.Key.identifier.rawValue)
        == ValuesNode.className
    else { return [:] }
    var contents: [String: ValueContent] = [:]
    for record in try node.references(forKey: NodeRecord.Key.children.rawValue) ?? [] {
      guard let value = try archive.record(record),
        let key = try value.container(forKey: NodeRecord.nodeKey)?
          .decodeIfPresent(String.self, forKey: NodeRecord.Key.identifier.rawValue),
        let state = try value.container(forKey: NodeRecord.stateKey),
        let stored = ValueContent(ofRecord: state)
      else { continue }
      contents[key] = stored
    }
    return contents
  }
}
