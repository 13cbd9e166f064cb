import ArchiveCodec
import RestorationKit
import TestSupport

/// All texts that were ever stored, and those of them that must still be there.
///
/// A ledger shares no rule with the library: it reads the stored bytes, and hears what the app has done.
@MainActor
struct Ledger {
  private let launch: Launch
  /// The texts that must be found in the file or in the history.
  private var required: Set<String> = []
  /// The texts that may be gone.
  private var released: Set<String> = []
  /// The texts that may be too old, unless a node goes on with one.
  private var aged: Set<String> = []
  /// What was stored at the last look.
  private var before: TestSupport.StoredRecords?
  /// Whether a save has met the nodes of this launch.
  private var hasSaved = false
  /// The nodes of the tree at the last look, by their paths.
  private var nodes: [String: LedgerNode] = [:]

  init(_ launch: Launch) { self.launch = launch }

  // MARK: What the app does

  /// All that is stored may go.
  mutating func discard() {
    released.formUnion(required)
    (required, before, nodes) = ([], nil, [:])
  }

  /// What is stored at a path, or below it, may go.
  mutating func release(from path: String) {
    for element in before?.elements ?? [] where element.path.isAtOrBelow(path) {
      release(texts(of: element))
    }
  }

  /// What lies beside a node may go.
  mutating func releaseUnread(of node: LedgerNode) {
    for element in before?.elements ?? [] where nodes[element.path.withoutNumbers] === node {
      release(texts(of: element))
    }
  }

  /// What is kept may go from now on: the time of the bound has passed.
  mutating func age() { aged.formUnion(required) }

  /// What a node has replaced may go.
  mutating func release(_ texts: some Sequence<String>) {
    released.formUnion(texts)
    required.subtract(texts)
  }

  /// Notes the tree of a launch that has restored.
  mutating func begin(with tree: [String: LedgerNode]) throws {
    (before, nodes, hasSaved) = (try launch.storedRecords(), tree, false)
  }

  /// Notes a node that has come late, and has read what was kept for it.
  mutating func note(_ node: LedgerNode, at path: String) {
    // One that was there may have been removed since the last look.
    if let before = nodes[path], before !== node { nodes["\(path), before"] = before }
    nodes[path] = node
  }

  /// What was stored at the last look, in words.
  var words: [String] {
    (before?.elements ?? []).map { "\($0.path): \(texts(of: $0).joined(separator: " "))" }
  }

  // MARK: What is stored

  /// Looks at what a save has stored.
  ///
  /// - Parameters:
  ///   - tree: The nodes by their paths.
  ///   - others: The nodes that only references reach.
  /// - Returns: The texts that are lost.
  /// - Throws: The errors of reading what is stored.
  mutating func check(_ tree: [String: LedgerNode], _ others: [LedgerNode]) throws -> [String] {
    let after = try launch.storedRecords()
    // What belongs to no element goes with the next save.
    let file = Set((after?.elements ?? []).flatMap { texts(of: $0) })
    for node in Array(tree.values) + others {
      // A text that is there has been written, and what the node had until then is replaced.
      guard let encoded = node.encoded, file.contains(encoded) else { continue }
      release(node.owned.subtracting([encoded]))
      node.owned = [encoded]
    }
    releaseRemoved(tree)
    releaseMoved(tree)
    let owned = (Array(tree.values) + others).reduce(into: Set<String>()) { $0.formUnion($1.owned) }
    release(aged.subtracting(owned.subtracting(ownedByUnread)).subtracting(file))
    let missing = required.subtracting(file)
    var lost: [String] = []
    let history = missing.isEmpty ? [] : try historyTexts()
    for text in missing where !history.contains(text) {
      guard let element = before?.elements.first(where: { texts(of: $0).contains(text) }) else {
        lost.append("\(text), which was nowhere before")
        continue
      }
      if isUnreferred(element, after) || isCrowdedOut(text, element, after)
        || hasFailedAgain(text, element, after)
      {
        continue
      }
      lost.append("\(text), which was at \(element.path) as \(texts(of: element))")
    }
    released.formUnion(missing)
    required = file.subtracting(released)
    (before, nodes, hasSaved) = (after, tree, true)
    return lost
  }

  /// The texts of elements to which only unread bodies refer: each is as old as any that nobody has, also if its
  /// object is there.
  private var ownedByUnread: Set<String> {
    let elements = before?.elements ?? []
    let referred = elements.reduce(into: Set<UInt64>()) { referred, element in
      referred.formUnion((try? element.state?.references(forKey: "friends")) ?? [])
    }
    return elements.reduce(into: []) { texts, element in
      guard element.isReferred, !referred.contains(element.record) else { return }
      texts.formUnion(self.texts(of: element))
    }
  }

  /// What a node had that is not in the tree any more may go, with all below it that is not elsewhere.
  private mutating func releaseRemoved(_ tree: [String: LedgerNode]) {
    let present = Set(tree.values.map { ObjectIdentifier($0) })
    for node in nodes.values where !present.contains(ObjectIdentifier(node)) { release(node.owned) }
    let paths = Set((before?.elements ?? []).map(\.path))
    for element in before?.elements ?? [] where !element.isReferred {
      let above = element.path.prefixes.compactMap { path -> LedgerNode? in
        // An element may have a number where its node has none; what is stored is that of the node that was there.
        let node =
          nodes["\(path), before"] ?? nodes[path]
          ?? (paths.contains(path.withoutNumbers) ? nil : nodes[path.withoutNumbers])
        // What a node could not read goes with the one above that place, if the node is known by it and has moved.
        guard let node, present.contains(ObjectIdentifier(node)), isKnownByPlace(node),
          tree[path.withoutNumbers] !== node
        else { return node }
        return nil
      }.first
      if let above, !present.contains(ObjectIdentifier(above)) { release(texts(of: element)) }
    }
  }

  /// A node that does not say when it changes is known by its place, and so are all before the first save: at another one it is a new node, which
  /// has nothing stored if its hook throws.
  private mutating func releaseMoved(_ tree: [String: LedgerNode]) {
    for element in before?.elements ?? [] {
      guard let node = nodes[element.path.withoutNumbers], tree[element.path] !== node,
        node.throwsInEncode, isKnownByPlace(node)
      else { continue }
      release(texts(of: element))
    }
  }

  private func isKnownByPlace(_ node: LedgerNode) -> Bool {
    !hasSaved || type(of: node).stateTracking == .always
  }

  /// Whether only references reached an element, and none of what is stored does any more.
  private func isUnreferred(
    _ element: TestSupport.StoredRecords.Element, _ after: TestSupport.StoredRecords?
  ) -> Bool {
    guard element.isReferred else { return false }
    // What only an unread body of another element refers to goes with the one that it lies below.
    let above = element.path.split(separator: "/").dropLast().joined(separator: "/")
    let owner = before?.elements.first { $0.path == above }?.record
    if let owner, after?.elements.contains(where: { $0.record == owner }) != true { return true }
    let bodies = (after?.elements ?? []).flatMap { [$0.state] + $0.kept.map(\.state) }
    return !bodies.contains { body in
      (try? body?.references(forKey: "friends"))?.contains(element.record) ?? false
    }
  }

  /// Whether an element has two other bodies beside its own by now, of which the first stays.
  private func isCrowdedOut(
    _ text: String, _ element: TestSupport.StoredRecords.Element,
    _ after: TestSupport.StoredRecords?
  ) -> Bool {
    guard let now = after?.elements.first(where: { $0.record == element.record }) else {
      return false
    }
    return now.kept.count == 2 && texts(of: element).last != text
  }

  /// Whether an own body, which was stored in a launch that could not read an earlier one, was replaced in a
  /// launch that could read neither.
  private func hasFailedAgain(
    _ text: String, _ element: TestSupport.StoredRecords.Element,
    _ after: TestSupport.StoredRecords?
  ) -> Bool {
    let now = after?.elements.first(where: { $0.record == element.record }).map { texts(of: $0) }
    let stored = texts(of: element)
    return stored.count > 1 && stored.first == text && stored.last == now?.last
      && stored.count == now?.count
  }

  private func texts(of element: TestSupport.StoredRecords.Element) -> [String] {
    ([element.state] + element.kept.map(\.state)).compactMap { body in
      (try? body?.decodeIfPresent(forKey: "value")) ?? nil
    }
  }

  private func texts(ofStateNamed name: String) throws -> Set<String> {
    guard let key = try launch.keys.key(creating: false),
      let archive = try Archive.open(
        launch.store.memory(named: name), key: key,
        context: ArchiveContext([Launch.application, "main"]))
    else { return [] }
    return Set(
      try archive.readAll().compactMap { try $0.content.get().decodeIfPresent(forKey: "value") })
  }

  private func historyTexts() throws -> Set<String> {
    try launch.store.names().filter { $0.hasPrefix("main.history-") }.reduce(into: []) {
      $0.formUnion(try texts(ofStateNamed: $1))
    }
  }
}

extension TestSupport.StoredRecords.Element {
  /// Nodes that nobody contains have such names.
  fileprivate var isReferred: Bool { path.split(separator: "/").last?.hasPrefix("friend") ?? false }
}

extension String {
  fileprivate func isAtOrBelow(_ path: String) -> Bool { self == path || hasPrefix(path + "/") }

  /// The path without the numbers of equal siblings.
  fileprivate var withoutNumbers: String {
    split(separator: "/").map { $0.prefix { $0 != "[" } }.joined(separator: "/")
  }

  /// The path and those above, the longest first.
  fileprivate var prefixes: [String] {
    let parts = split(separator: "/")
    return parts.indices.reversed().map { parts[...$0].joined(separator: "/") }
  }
}
