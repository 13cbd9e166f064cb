internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The numbers that the library's keys have in an archive, found once for all
/// records.
struct NodeKeys {
  private var keys: [NodeRecord.Key?] = []

  /// The keys of the archive that a record comes from.
  init(of record: KeyedDecoder) {
    for key in NodeRecord.Key.allCases {
      guard let symbol = record.symbol(of: key.rawValue) else { continue }
      let place = Int(symbol)
      while keys.count <= place { keys.append(nil) }
      keys[place] = key
    }
  }

  /// What a value is; nil if only a newer version knows it.
  fileprivate func key(of field: Field, in record: KeyedDecoder) -> NodeRecord.Key? {
    // Keys are written inline where an archive has no room for more names.
    guard let symbol = field.symbol else { return NodeRecord.Key(rawValue: record.key(of: field)) }
    return symbol < UInt32(keys.count) ? keys[Int(symbol)] : nil
  }
}

extension NodeRecord {
  /// Reads the record of an element in one pass over its values.
  static func read(
    _ record: KeyedDecoder, _ keys: NodeKeys
  ) throws(ArchiveError) -> (content: NodeRecord, values: StoredTree.Values) {
    var content: NodeRecord?
    var builtIn: KeyedDecoder?
    var state: KeyedDecoder?
    var cursor = FieldCursor(record)
    while let field = try cursor.next() {
      switch keys.key(of: field, in: record) {
      case .node: content = try NodeRecord(from: record.container(of: field), keys)
      case .builtIn: builtIn = try record.container(of: field)
      case .state: state = try record.container(of: field)
      default: break
      }
    }
    guard let content else { throw ArchiveError(.malformed, subject: "no node") }
    return (content, StoredTree.Values(builtIn: builtIn, state: state))
  }

  private init(from decoder: KeyedDecoder, _ keys: NodeKeys) throws(ArchiveError) {
    var kind = ElementKind.node
    var identifier: String?
    var siblingIndex = 0
    var className: String?
    var version = 1
    var restoresItself = false
    var restorationClass: String?
    var storyboard: String?
    var storyboardIdentifier: String?
    var views: [UInt64] = []
    var children: [UInt64] = []
    var presented: UInt64?
    var referrer: UInt64?
    var hasLastState = false
    var keptSince: Date?
    var cursor = FieldCursor(decoder)
    while let field = try cursor.next() {
      switch keys.key(of: field, in: decoder) {
      case .kind: kind = try Self.kind(named: decoder.name(of: field))
      case .identifier: identifier = try decoder.decode(of: field)
      case .siblingIndex: siblingIndex = try decoder.decode(of: field)
      case .className: className = try decoder.name(of: field)
      case .version: version = try decoder.decode(of: field)
      case .restoresItself: restoresItself = try decoder.decode(of: field)
      case .restorationClass: restorationClass = try decoder.name(of: field)
      case .storyboard: storyboard = try decoder.name(of: field)
      case .storyboardIdentifier: storyboardIdentifier = try decoder.name(of: field)
      case .views: try decoder.forEachReference(of: field) { views.append($0) }
      case .children: try decoder.forEachReference(of: field) { children.append($0) }
      case .presented: presented = try decoder.reference(of: field)
      case .referrer: referrer = try decoder.reference(of: field)
      case .hasLastState: hasLastState = try decoder.decode(of: field)
      case .keptSince: keptSince = try decoder.decode(of: field)
      case .node, .builtIn, .state, nil: break
      }
    }
    guard version >= 1 else {
      throw ArchiveError(.malformed, path: [Key.version.rawValue], subject: "version")
    }
    let name = try Self.require(className, .className)
    self.init(
      kind, try Self.require(identifier, .identifier), siblingIndex: siblingIndex, className: name)
    self.version = version
    restorationClassName = restoresItself ? name : restorationClass
    if let storyboard {
      self.storyboard = StoryboardReference(
        name: storyboard,
        identifier: try Self.require(storyboardIdentifier, .storyboardIdentifier))
    }
    self.views = views
    self.children = children
    self.presented = presented
    self.referrer = referrer
    self.hasLastState = hasLastState
    self.keptSince = keptSince
  }

  private static func kind(named name: String) throws(ArchiveError) -> ElementKind {
    guard let kind = ElementKind(rawValue: name), kind == .view || kind == .object else {
      throw ArchiveError(.malformed, path: [Key.kind.rawValue], subject: "kind")
    }
    return kind
  }

  private static func require(_ text: String?, _ key: Key) throws(ArchiveError) -> String {
    guard let text else { throw ArchiveError(.keyNotFound, path: [key.rawValue]) }
    return text
  }
}
