internal import ArchiveCodec

/// The values of an app or of a scene as they are now, to be stored without its nodes.
///
/// Only the actor of the nodes may ask the nodes. If that actor is busy when the
/// process ends, only the records of values are changed in the stored state.
struct ValueChange: Sendable {
  var contents: [String: ValueContent]
  var removed: Set<String>

  /// Appends the records in which a state differs from the values.
  ///
  /// A value of which more than one state is kept stays as it is.
  ///
  /// - Parameters:
  ///   - builder: Takes the records.
  ///   - archive: The state; nil if nothing is stored.
  /// - Returns: The records to remove; nil if nothing is to be written.
  /// - Throws: `ArchiveError` for a state that is no tree, or that has no numbers for
  ///   more records.
  /// - Complexity: O(*n*) in the values, and in the records of the state.
  func append(to builder: RecordBuilder, changing archive: Archive?) throws -> [UInt64]? {
    let tree = try archive?.record(NodeRecord.tree)
    let roots = try tree?.references(forKey: NodeRecord.rootsKey) ?? []
    let stored = try archive.flatMap { (archive) throws(ArchiveError) in
      try ValueRecords(archive, below: roots.first)
    }
    let known = stored?.values ?? [:]
    let last = max(NodeRecord.tree, try archive?.recordIdentifiers().max() ?? 0)
    // One number for each value, and one for the root.
    guard last < .max - UInt64(contents.count) - 1 else {
      throw ArchiveError(.limitExceeded, subject: "records")
    }
    let gone = removed.compactMap { key in known[key].flatMap { $0.isPlain ? (key, $0) : nil } }
    let new = contents.keys.filter { known[$0] == nil }.sorted()
    var numbers = known.mapValues(\.number)
    for (key, _) in gone { numbers[key] = nil }
    for (place, key) in new.enumerated() { numbers[key] = last + 1 + UInt64(place) }
    let written = contents.filter { key, content in known[key]?.canBecome(content) ?? true }
    for (key, content) in written.sorted(by: { $0.key < $1.key }) {
      guard let number = numbers[key] else { continue }
      try builder.append(record: number) { encoder in
        try encoder.encodeValue(content, of: key, known[key]?.record)
      }
    }
    guard !new.isEmpty || !gone.isEmpty else { return written.isEmpty ? nil : [] }
    let root = stored?.root.number ?? last + 1 + UInt64(new.count)
    try builder.append(record: root) { encoder in
      let children = numbers.sorted { $0.key < $1.key }.map(\.value)
      try encoder.encodeValuesRoot(stored?.root.record, children: children)
    }
    if stored == nil {
      try builder.append(record: NodeRecord.tree) { try $0.encodeTree([root] + roots, tree) }
    }
    return gone.map(\.1.number)
  }
}

/// The records of values in a state.
private struct ValueRecords {
  struct Element {
    let number: UInt64
    let record: KeyedDecoder
    let node: KeyedDecoder

    init?(_ number: UInt64, in archive: Archive) throws(ArchiveError) {
      guard let record = try archive.record(number),
        let node = try record.container(forKey: NodeRecord.nodeKey)
      else { return nil }
      (self.number, self.record, self.node) = (number, record, node)
    }

    var identifier: String? {
      get throws(ArchiveError) {
        try node.decodeIfPresent(String.self, forKey: NodeRecord.Key.identifier.rawValue)
      }
    }

    /// Whether the record has one value, and the value was back.
    var isPlain: Bool {
      !record.contains(NodeRecord.Key.kept.rawValue)
        && ![NodeRecord.Key.hasLastState, .keptSince].contains { node.contains($0.rawValue) }
    }

    /// Whether the content may replace the stored value, and differs from it.
    func canBecome(_ content: ValueContent) -> Bool {
      do {
        guard isPlain else { return false }
        guard let state = try record.container(forKey: NodeRecord.stateKey),
          let stored = ValueContent(ofRecord: state)
        else { return true }
        return stored != content
      } catch {
        return false
      }
    }
  }

  let root: Element
  var values: [String: Element] = [:]

  /// Nil if the first root of the state is no root of values.
  init?(_ archive: Archive, below first: UInt64?) throws(ArchiveError) {
    guard let first, let root = try Element(first, in: archive),
      try root.identifier == ValuesNode.className
    else { return nil }
    self.root = root
    for number in try root.node.references(forKey: NodeRecord.Key.children.rawValue) ?? [] {
      guard let value = try Element(number, in: archive), let key = try value.identifier else {
        continue
      }
      values[key] = value
    }
  }
}

extension KeyedEncoder {
  /// Writes the record of a value, with the library's part of the stored record.
  fileprivate func encodeValue(
    _ content: ValueContent, of key: String, _ stored: KeyedDecoder?
  ) throws {
    if let stored {
      try copy(NodeRecord.nodeKey, from: stored)
    } else {
      encodeNode(key, className: ValueNode.className)
    }
    try encodeContainer(forKey: NodeRecord.stateKey) {
      try $0.copy(ValueContent.key, from: content.open(), as: ValueStore.valueKey)
    }
  }

  /// Writes the record that names the roots, and copies its other values.
  fileprivate func encodeTree(_ roots: [UInt64], _ stored: KeyedDecoder?) throws {
    encodeReferences(to: roots, forKey: NodeRecord.rootsKey)
    guard let stored else { return }
    for key in stored.keys where key != NodeRecord.rootsKey { try copy(key, from: stored) }
  }

  /// Writes the library's part of a node that the library makes.
  fileprivate func encodeNode(_ identifier: String, className: String, children: [UInt64] = []) {
    var node = NodeRecord(.node, identifier, siblingIndex: 0, className: className)
    node.children = children
    encodeContainer(forKey: NodeRecord.nodeKey) { node.encode(with: $0) }
  }

  /// Writes the root of the values with other children, and copies its other values.
  fileprivate func encodeValuesRoot(_ root: KeyedDecoder?, children: [UInt64]) throws {
    guard let root, let node = try root.container(forKey: NodeRecord.nodeKey) else {
      encodeNode(ValuesNode.className, className: ValuesNode.className, children: children)
      return encodeContainer(forKey: NodeRecord.stateKey) { _ in }
    }
    let childrenKey = NodeRecord.Key.children.rawValue
    try encodeContainer(forKey: NodeRecord.nodeKey) { encoder in
      for key in node.keys where key != childrenKey { try encoder.copy(key, from: node) }
      if !children.isEmpty { encoder.encodeReferences(to: children, forKey: childrenKey) }
    }
    for key in root.keys where key != NodeRecord.nodeKey { try copy(key, from: root) }
  }
}
