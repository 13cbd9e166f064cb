internal import ArchiveCodec

/// A verified archive as a tree, ready to be brought back.
///
/// Reading it needs no actor. What an authentic but hostile archive can say of
/// the tree is settled here: every record is placed at most once, so a cycle
/// or a child of two parents cannot make the restore go round or twice.
struct StoredTree: Sendable {
  /// One node, after its parent and after its elder siblings.
  struct Node: Sendable {
    let record: UInt64
    let path: RestorationPath
    /// The place of the parent in ``StoredTree/nodes``; nil for a root.
    let parent: Int?
    let content: NodeRecord
    /// Nil for a node that was saved without state.
    let state: KeyedDecoder?
  }

  struct Unreadable: Sendable {
    let record: UInt64
    let error: ArchiveError
  }

  private struct Sibling: Hashable {
    let parent: Int?
    let identifier: String
  }

  let version: ArchiveVersion
  let facts: KeyedDecoder?
  let applicationState: KeyedDecoder?
  private(set) var nodes: [Node] = []
  private(set) var unreadable: [Unreadable] = []

  /// Whether every record could be read and placed.
  var isWhole: Bool { unreadable.isEmpty }

  init(reading archive: Archive) throws(ArchiveError) {
    version = archive.version
    var application: KeyedDecoder?
    var roots: [UInt64] = []
    var records: [UInt64: (content: NodeRecord, state: KeyedDecoder?)] = [:]
    var referred: [UInt64: [UInt64]] = [:]
    for record in try archive.readAll() {
      switch record.identifier {
      case NodeRecord.application: application = try record.content.get()
      case NodeRecord.tree:
        roots = try record.content.get().references(forKey: NodeRecord.rootsKey) ?? []
      default:
        do throws(ArchiveError) {
          let decoder = try record.content.get()
          guard let node = try decoder.container(forKey: NodeRecord.nodeKey) else {
            throw ArchiveError(.malformed, subject: "no node")
          }
          let content = try NodeRecord(from: node)
          let state = try decoder.container(forKey: NodeRecord.stateKey)
          records[record.identifier] = (content, state)
          if let referrer = content.referrer {
            referred[referrer, default: []].append(record.identifier)
          }
        } catch {
          unreadable.append(Unreadable(record: record.identifier, error: error))
        }
      }
    }
    facts = try application?.container(forKey: NodeRecord.factsKey)
    applicationState = try application?.container(forKey: NodeRecord.stateKey)
    place(roots, records, referred)
  }

  /// Orders the records: parents first, what they contain in order, what they
  /// present, then what only they refer to.
  private mutating func place(
    _ roots: [UInt64], _ stored: [UInt64: (content: NodeRecord, state: KeyedDecoder?)],
    _ referred: [UInt64: [UInt64]]
  ) {
    var records = stored
    var siblings: Set<Sibling> = []
    var stack: [(record: UInt64, parent: Int?)] = roots.reversed().map { ($0, nil) }
    while let (record, parent) = stack.popLast() {
      // Taken out, so that nothing is placed twice.
      guard let (content, state) = records.removeValue(forKey: record) else { continue }
      let sibling = Sibling(parent: parent, identifier: content.identifier)
      guard siblings.insert(sibling).inserted else {
        unreadable.append(
          Unreadable(
            record: record, error: ArchiveError(.malformed, subject: "two nodes of one path")))
        continue
      }
      let path = (parent.map { nodes[$0].path } ?? RestorationPath()).appending(content.identifier)
      let below =
        content.children + [content.presented].compactMap(\.self)
        + (referred[record] ?? [])
      stack.append(contentsOf: below.reversed().map { ($0, nodes.count) })
      nodes.append(
        Node(record: record, path: path, parent: parent, content: content, state: state))
    }
    for record in records.keys.sorted() {
      unreadable.append(
        Unreadable(record: record, error: ArchiveError(.malformed, subject: "not in the tree")))
    }
  }
}
