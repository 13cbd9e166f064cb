internal import ArchiveCodec
internal import RestorationFoundation

/// The numbers that the library's keys have in an archive, found once for all
/// records.
struct NodeKeys {
  private var keys: [NodeRecord.Key?] = []

  /// Finds the keys of the archive that a record comes from.
  init(of record: KeyedDecoder) {
    for key in NodeRecord.Key.allCases {
      guard let symbol = record.symbol(of: key.rawValue) else { continue }
      let place = Int(symbol)
      while keys.count <= place { keys.append(nil) }
      keys[place] = key
    }
  }

  /// The key of a value; nil if only a newer version knows it.
  fileprivate func key(of field: Field, in record: KeyedDecoder) -> NodeRecord.Key? {
    // An archive that has no room for more names writes keys inline.
    guard let symbol = field.symbol else { return NodeRecord.Key(rawValue: record.key(of: field)) }
    return symbol < UInt32(keys.count) ? keys[Int(symbol)] : nil
  }
}

extension NodeRecord {
  /// The content of the record of an element.
  struct Parts {
    var name = SiblingName()
    var form = FormKey()
    var connections = StoredConnections()
    /// Where the containers begin in the record; 0 if there is none.
    var builtIn = 0
    var state = 0
    var kept = 0
    var hasLastState = false
    var keptSince: Date?
  }

  /// Tells the forms of elements apart, without a text for each.
  ///
  /// A name has the number of its symbol; a name that is written inline has a number less than 0.
  struct FormKey: Hashable {
    var className: Int32?
    var restorationClass: Int32?
    var storyboard: Int32?
    var storyboardIdentifier: Int32?
    var version = 1
    var restoresItself = false

    var hasInlineNames: Bool {
      [className, restorationClass, storyboard, storyboardIdentifier].contains { $0 ?? 0 < 0 }
    }
  }

  /// The variable parts of many records, in arrays that the records share.
  struct Lists {
    /// The records that the elements refer to.
    var references: [UInt64] = []
    /// The names that are written inline.
    var names: [String] = []

    /// The name with a number.
    func name(_ number: Int32?, of record: KeyedDecoder) -> String? {
      number.map { $0 < 0 ? names[Int(~$0)] : record.name(ofSymbol: UInt32($0)) }
    }
  }

  /// Reads the record of an element in one pass over its values, and appends to
  /// the lists.
  static func read(
    _ record: KeyedDecoder, _ keys: NodeKeys, _ lists: inout Lists
  ) throws(ArchiveError) -> Parts {
    var parts = Parts()
    var hasNode = false
    try record.forEachField { (field) throws(ArchiveError) in
      switch keys.key(of: field, in: record) {
      case .node:
        hasNode = true
        try parts.read(field, of: record, keys, &lists)
      case .builtIn: parts.builtIn = try record.containerStart(of: field)
      case .state: parts.state = try record.containerStart(of: field)
      case .kept: parts.kept = try record.containerStart(of: field)
      default: break
      }
    }
    guard hasNode else { throw ArchiveError(.malformed, subject: "no node") }
    return parts
  }
}

extension NodeRecord.Parts {
  fileprivate typealias Key = NodeRecord.Key

  fileprivate mutating func read(
    _ node: Field, of record: KeyedDecoder, _ keys: NodeKeys,
    _ lists: inout NodeRecord.Lists
  ) throws(ArchiveError) {
    var identifier: String?
    try record.forEachField(of: node) { (field) throws(ArchiveError) in
      switch keys.key(of: field, in: record) {
      case .kind: name.kind = try Self.kind(named: record.name(of: field))
      case .identifier: identifier = try record.decode(of: field)
      case .siblingIndex: name.index = try record.decode(of: field)
      case .className: form.className = try Self.name(of: field, in: record, &lists)
      case .version: form.version = try record.decode(of: field)
      case .restoresItself: form.restoresItself = try record.decode(of: field)
      case .restorationClass: form.restorationClass = try Self.name(of: field, in: record, &lists)
      case .storyboard: form.storyboard = try Self.name(of: field, in: record, &lists)
      case .storyboardIdentifier:
        form.storyboardIdentifier = try Self.name(of: field, in: record, &lists)
      case .views: connections.views = try Self.read(field, of: record, &lists)
      case .children: connections.children = try Self.read(field, of: record, &lists)
      case .presented: connections.presented = try record.reference(of: field)
      case .referrer: connections.referrer = try record.reference(of: field)
      case .hasLastState: hasLastState = try record.decode(of: field)
      case .keptSince: keptSince = try record.decode(Date.self, of: field).ifNumber
      case .node, .builtIn, .state, .kept, .leftOut, .reason, nil: break
      }
    }
    guard form.version >= 1 else {
      throw ArchiveError(.malformed, path: [Key.version.rawValue], subject: "version")
    }
    guard form.className != nil else { throw Self.missing(.className) }
    guard let identifier else { throw Self.missing(.identifier) }
    name.identifier = identifier
    if form.storyboard != nil, form.storyboardIdentifier == nil {
      throw Self.missing(.storyboardIdentifier)
    }
  }

  /// The number of the name in a field.
  private static func name(
    of field: Field, in record: KeyedDecoder, _ lists: inout NodeRecord.Lists
  ) throws(ArchiveError) -> Int32 {
    if let symbol = try record.nameSymbol(of: field) { return Int32(symbol) }
    lists.names.append(try record.name(of: field))
    return ~Int32(lists.names.count - 1)
  }

  /// Appends the references in a field; returns their range in the list.
  private static func read(
    _ field: Field, of record: KeyedDecoder, _ lists: inout NodeRecord.Lists
  ) throws(ArchiveError) -> Range<Int32> {
    let start = lists.references.count
    try record.forEachReference(of: field) { lists.references.append($0) }
    guard lists.references.count <= Int32.max else {
      lists.references.removeSubrange(start...)
      throw ArchiveError(.limitExceeded, subject: "references")
    }
    return Int32(start)..<Int32(lists.references.count)
  }

  private static func kind(named name: String) throws(ArchiveError) -> ElementKind {
    guard let kind = ElementKind(rawValue: name), kind == .view || kind == .object else {
      throw ArchiveError(.malformed, path: [Key.kind.rawValue], subject: "kind")
    }
    return kind
  }

  private static func missing(_ key: Key) -> ArchiveError {
    ArchiveError(.keyNotFound, path: [key.rawValue])
  }
}

extension StoredForm {
  /// Reads the form of one element from its record.
  init(reading record: KeyedDecoder) throws(ArchiveError) {
    var lists = NodeRecord.Lists()
    let parts = try NodeRecord.read(record, NodeKeys(of: record), &lists)
    self.init(parts.form, lists, of: record)
  }

  init(_ key: NodeRecord.FormKey, _ lists: NodeRecord.Lists, of record: KeyedDecoder) {
    let className = lists.name(key.className, of: record) ?? ""
    self.init(
      className: className,
      restorationClassName: key.restoresItself
        ? className : lists.name(key.restorationClass, of: record),
      storyboard: lists.name(key.storyboard, of: record).map {
        StoryboardReference(
          name: $0, identifier: lists.name(key.storyboardIdentifier, of: record) ?? "")
      },
      version: key.version)
  }
}
