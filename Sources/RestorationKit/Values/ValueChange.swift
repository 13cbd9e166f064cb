internal import ArchiveCodec

/// The values of an app or of a scene as they are now, to be stored without its nodes.
///
/// Only the actor of the nodes may ask these. Where it is busy when the process ends, this changes
/// the records of values in what is stored, and no other.
struct ValueChange: Sendable {
  /// The values without a sensitivity.
  var contents: [String: ValueContent]
  var removed: Set<String>

  /// Appends the records in which a state differs from this.
  ///
  /// A value that is stored with a sensitivity stays as it is, and so does one of which more than
  /// one state is kept.
  ///
  /// - Parameters:
  ///   - builder: Takes the records.
  ///   - archive: The state; nil if nothing is stored.
  /// - Returns: The records that go; nil if nothing is to be written.
  /// - Throws: `ArchiveError` of a state that is no tree.
  /// - Complexity: O(*n*) in the values, and in the records of the state.
  func append(to builder: RecordBuilder, changing archive: Archive?) throws -> [UInt64]? {
    let tree = try archive?.record(NodeRecord.tree)
    let roots = try tree?.references(forKey: NodeRecord.rootsKey) ?? []
    let stored = try archive.flatMap { (archive) throws(ArchiveError) in
      try ValueRecords(archive, below: roots.first)
    }
    let last = try archive?.recordIdentifiers().max() ?? NodeRecord.tree
    var next = max(NodeRecord.tree, last) + 1
    func takeNumber() -> UInt64 {
      defer { next += 1 }
      return next
    }
    var numbers = stored?.values.mapValues(\.number) ?? [:]
    var hasWritten = false
    for (key, content) in contents.sorted(by: { $0.key < $1.key }) {
      let known = stored?.values[key]
      if let known, !known.canBecome(content) { continue }
      let number = known?.number ?? takeNumber()
      numbers[key] = number
      hasWritten = true
      try builder.append(record: number) { encoder in
        if let known {
          try encoder.copy(NodeRecord.nodeKey, from: known.record)
        } else {
          encoder.encodeNode(key, className: ValueNode.className)
        }
        try encoder.encodeContainer(forKey: NodeRecord.stateKey) {
          try $0.copy(ValueContent.key, from: content.open(), as: ValueStore.valueKey)
        }
      }
    }
    let gone = removed.filter { stored?.values[$0]?.isPlain == true }
    let goneNumbers = gone.compactMap { numbers.removeValue(forKey: $0) }
    if Set(stored?.values.keys.map(\.self) ?? []) != Set(numbers.keys) {
      let root = stored?.root.number ?? takeNumber()
      try builder.append(record: root) { encoder in
        let children = numbers.sorted { $0.key < $1.key }.map(\.value)
        try encoder.encodeValuesRoot(stored?.root.record, children: children)
      }
      if stored == nil {
        try builder.append(record: NodeRecord.tree) { encoder in
          encoder.encodeReferences(to: [root] + roots, forKey: NodeRecord.rootsKey)
          guard let tree else { return SnapshotUse.matching.encode(with: encoder) }
          for key in tree.keys where key != NodeRecord.rootsKey {
            try encoder.copy(key, from: tree)
          }
        }
      }
      hasWritten = true
    }
    return hasWritten ? goneNumbers : nil
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

    /// Whether its record is that of one value without a sensitivity, which was there.
    var isPlain: Bool {
      let isOfOne = ![NodeRecord.Key.sensitive, .kept].contains { record.contains($0.rawValue) }
      let isOwn = ![NodeRecord.Key.hasLastState, .keptSince].contains { node.contains($0.rawValue) }
      return isOfOne && isOwn
    }

    /// Whether another value may take its place, and is another one.
    func canBecome(_ content: ValueContent) -> Bool {
      do {
        guard isPlain else { return false }
        guard let state = try record.container(forKey: NodeRecord.stateKey),
          let stored = RestoredContent(state)
        else { return true }
        return stored.sensitivity == nil
          && stored.fingerprint != RestoredContent(content).fingerprint
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
  /// Writes what the library has to say of a node that makes itself.
  fileprivate func encodeNode(_ identifier: String, className: String, children: [UInt64] = []) {
    var node = NodeRecord(.node, identifier, siblingIndex: 0, className: className)
    node.children = children
    encodeContainer(forKey: NodeRecord.nodeKey) { node.encode(with: $0) }
  }

  /// Writes the root of the values as it was, with other children.
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
