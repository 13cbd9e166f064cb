internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// How the tree lies in the records of an archive.
///
/// Record 1 holds the application's state, the facts about the save, and what the
/// library has to add in the name of a scene; record
/// 2 names the roots, and every node, view and registered object has one of the
/// others. What the library writes and what the app writes are in different
/// containers, so that no key of one can stand for a key of the other.
struct NodeRecord: Sendable {
  static let application: UInt64 = 1
  static let tree: UInt64 = 2
  static let firstNode: UInt64 = 3

  /// In bytes of UTF-8, as for the keys of the format.
  static let longestIdentifier = ArchiveLimits.standard.keyByteCount

  static let rootsKey = "roots"
  static let snapshotKey = "snapshot"
  /// Of each class in the archive that has some, so that a version of the app
  /// from before it was renamed knows it.
  static let formerNamesKey = "formerNames"
  static let factsKey = "facts"
  static let hostKey = "host"
  static let nodeKey = "node"
  static let builtInKey = "builtIn"
  static let stateKey = "state"

  /// All keys of the library, in the order in which they are encoded.
  static let keys =
    [
      rootsKey, snapshotKey, factsKey, hostKey, nodeKey, builtInKey, stateKey, Key.kind,
      Key.identifier,
      Key.siblingIndex, Key.className, Key.version, Key.restoresItself, Key.restorationClass,
      Key.storyboard,
      Key.storyboardIdentifier, Key.views, Key.children, Key.presented, Key.referrer,
    ] + BuiltInKey.all

  let kind: ElementKind
  let identifier: String
  let siblingIndex: Int
  var className: String
  /// The version of the state; what is not written is 1.
  var version = 1
  var restorationClassName: String?
  var storyboard: StoryboardReference?
  var views: [UInt64] = []
  var children: [UInt64] = []
  var presented: UInt64?
  /// Whether its state is that of an earlier save, because a later one could not
  /// be encoded.
  var hasLastState = false
  /// When it was first saved without having been back; nil if it was there.
  var keptSince: Date?
  /// The element above, if this one is not contained: what scopes a registered
  /// object, or the first node that refers to a node.
  var referrer: UInt64?

  init(_ kind: ElementKind, _ identifier: String, siblingIndex: Int, className: String) {
    self.kind = kind
    self.className = className
    self.identifier = identifier
    self.siblingIndex = siblingIndex
  }
}

extension NodeRecord {
  private enum Key {
    static let kind = "kind"
    static let identifier = "identifier"
    static let siblingIndex = "siblingIndex"
    static let className = "class"
    static let version = "version"
    static let restoresItself = "restoresItself"
    static let restorationClass = "restorationClass"
    static let storyboard = "storyboard"
    static let storyboardIdentifier = "storyboardIdentifier"
    static let views = "views"
    static let children = "children"
    static let presented = "presented"
    static let referrer = "referrer"
    static let hasLastState = "hasLastState"
    static let keptSince = "keptSince"
  }

  func encode(with encoder: KeyedEncoder) {
    Self.encode(
      kind, identifier, siblingIndex: siblingIndex, className: className, version: version,
      restorationClassName: restorationClassName, storyboard: storyboard, with: encoder)
    Self.encode(
      views: views, children: children, presented: presented, referrer: referrer, with: encoder)
    if hasLastState { encoder.encode(true, forKey: Key.hasLastState) }
    encoder.encode(keptSince, forKey: Key.keptSince)
  }

  /// Writes what an element is, without a record that would hold it.
  static func encode(
    _ kind: ElementKind, _ identifier: String, siblingIndex: Int, className: String, version: Int,
    restorationClassName: String?, storyboard: StoryboardReference?,
    with encoder: KeyedEncoder
  ) {
    if kind != .node { encoder.encode(name: kind.rawValue, forKey: Key.kind) }
    encoder.encode(identifier, forKey: Key.identifier)
    if siblingIndex > 0 { encoder.encode(siblingIndex, forKey: Key.siblingIndex) }
    encoder.encode(name: className, forKey: Key.className)
    if version != 1 { encoder.encode(version, forKey: Key.version) }
    // Most nodes are made by their own class; its name need not stand twice.
    if restorationClassName == className {
      encoder.encode(true, forKey: Key.restoresItself)
    } else {
      encoder.encode(name: restorationClassName, forKey: Key.restorationClass)
    }
    guard let storyboard else { return }
    encoder.encode(name: storyboard.name, forKey: Key.storyboard)
    encoder.encode(name: storyboard.identifier, forKey: Key.storyboardIdentifier)
  }

  /// Writes what an element is connected with; it follows what it is.
  static func encode(
    views: [UInt64], children: [UInt64], presented: UInt64?, referrer: UInt64?,
    with encoder: KeyedEncoder
  ) {
    if !views.isEmpty { encoder.encodeReferences(to: views, forKey: Key.views) }
    if !children.isEmpty { encoder.encodeReferences(to: children, forKey: Key.children) }
    if let presented { encoder.encodeReference(to: presented, forKey: Key.presented) }
    if let referrer { encoder.encodeReference(to: referrer, forKey: Key.referrer) }
  }

  init(from decoder: KeyedDecoder) throws(ArchiveError) {
    if let name = try decoder.name(forKey: Key.kind) {
      guard let kind = ElementKind(rawValue: name), kind == .view || kind == .object else {
        throw ArchiveError(.malformed, path: [Key.kind], subject: "kind")
      }
      self.kind = kind
    } else {
      kind = .node
    }
    identifier = try decoder.decode(forKey: Key.identifier)
    siblingIndex = try decoder.decodeIfPresent(forKey: Key.siblingIndex) ?? 0
    className = try Self.name(forKey: Key.className, in: decoder)
    version = try decoder.decodeIfPresent(forKey: Key.version) ?? 1
    guard version >= 1 else {
      throw ArchiveError(.malformed, path: [Key.version], subject: "version")
    }
    restorationClassName =
      try decoder.decodeIfPresent(Bool.self, forKey: Key.restoresItself) == true
      ? className : try decoder.name(forKey: Key.restorationClass)
    if let name = try decoder.name(forKey: Key.storyboard) {
      storyboard = StoryboardReference(
        name: name, identifier: try Self.name(forKey: Key.storyboardIdentifier, in: decoder))
    }
    views = try decoder.references(forKey: Key.views) ?? []
    children = try decoder.references(forKey: Key.children) ?? []
    presented = try decoder.reference(forKey: Key.presented)
    referrer = try decoder.reference(forKey: Key.referrer)
    hasLastState = try decoder.decodeIfPresent(forKey: Key.hasLastState) ?? false
    keptSince = try decoder.decodeIfPresent(forKey: Key.keptSince)
  }

  private static func name(
    forKey key: String, in decoder: KeyedDecoder
  ) throws(ArchiveError) -> String {
    guard let name = try decoder.name(forKey: key) else {
      throw ArchiveError(.keyNotFound, path: [key])
    }
    return name
  }
}

/// The storyboard and the identifier in it that a node came from.
struct StoryboardReference: Hashable, Sendable {
  let name: String
  let identifier: String
}
