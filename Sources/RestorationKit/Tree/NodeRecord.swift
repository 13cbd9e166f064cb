internal import ArchiveCodec
internal import RestorationFoundation

/// The layout of the tree in the records of an archive.
///
/// Record 1 holds the application's state, the facts about the save, and the values
/// that the library adds in the name of a scene. Record 2 names the roots, and every
/// node, view and registered object has one of the other records. The values of the
/// library and those of the app are in different containers, so that no key of one can
/// stand for a key of the other.
package struct NodeRecord: Sendable {
  package static let application: UInt64 = 1
  package static let tree: UInt64 = 2
  static let firstNode: UInt64 = 3

  /// The most bytes of an identifier in UTF-8, as for the keys of the format.
  static let longestIdentifier = ArchiveLimits.standard.keyByteCount

  static let rootsKey = "roots"
  /// The former names of each class in the archive that has some, so that a version of
  /// the app from before the change of name knows the class.
  static let formerNamesKey = "formerNames"
  static let factsKey = "facts"
  static let hostKey = "host"
  static let nodeKey = Key.node.rawValue
  static let builtInKey = Key.builtIn.rawValue
  static let stateKey = Key.state.rawValue

  /// All keys of the library, in the order in which they are encoded.
  static let keys =
    [
      rootsKey, factsKey, hostKey,
    ] + Key.allCases.filter { !$0.isRare }.map(\.rawValue)
    + BuiltInKey.all

  let name: SiblingName
  var className: String
  /// The version of the state; if none is written, it is 1.
  var version = 1
  var restorationClassName: String?
  var storyboard: StoryboardReference?
  var views: [UInt64] = []
  var children: [UInt64] = []
  var presented: UInt64?
  /// Whether the state is that of an earlier save, because a later one could not be encoded.
  var hasLastState = false
  /// When the element was first saved as it was stored, because it was not back or
  /// nobody could read its state; nil if it was there.
  var keptSince: Date?
  /// The element above that does not contain this one: the parent that scopes a
  /// registered object, or the first node that refers to a node.
  var referrer: UInt64?

  init(_ kind: ElementKind, _ identifier: String, siblingIndex: Int, className: String) {
    name = SiblingName(kind: kind, identifier: identifier, index: siblingIndex)
    self.className = className
  }

  var kind: ElementKind { name.kind }
  var identifier: String { name.identifier }
  var siblingIndex: Int { name.index }
}

extension NodeRecord {
  enum Key: String, CaseIterable {
    case node, builtIn, state
    case kind, identifier, siblingIndex
    case className = "class"
    case version, restoresItself, restorationClass, storyboard, storyboardIdentifier, views
    case children, presented, referrer, hasLastState, keptSince, kept
    /// Only in states that are kept beside another.
    case leftOut, reason

    /// Whether few archives have the key; such a key comes after the common ones.
    var isRare: Bool {
      [.hasLastState, .keptSince, .kept, .leftOut, .reason].contains(self)
    }
  }

  func encode(with encoder: KeyedEncoder) {
    Self.encode(
      kind, identifier, siblingIndex: siblingIndex, className: className, version: version,
      restorationClassName: restorationClassName, storyboard: storyboard, with: encoder)
    Self.encode(
      views: views, children: children, presented: presented, referrer: referrer, with: encoder)
    if hasLastState { encoder.encode(true, forKey: Key.hasLastState.rawValue) }
    encoder.encode(keptSince, forKey: Key.keptSince.rawValue)
  }

  /// Writes the identity of an element, also where there is no `NodeRecord` of it.
  static func encode(
    _ kind: ElementKind, _ identifier: String, siblingIndex: Int, className: String, version: Int,
    restorationClassName: String?, storyboard: StoryboardReference?,
    with encoder: KeyedEncoder
  ) {
    if kind != .node { encoder.encode(name: kind.rawValue, forKey: Key.kind.rawValue) }
    encoder.encode(identifier, forKey: Key.identifier.rawValue)
    if siblingIndex > 0 { encoder.encode(siblingIndex, forKey: Key.siblingIndex.rawValue) }
    encoder.encode(name: className, forKey: Key.className.rawValue)
    if version != 1 { encoder.encode(version, forKey: Key.version.rawValue) }
    // Most nodes are made by their own class; the name need not stand twice.
    if restorationClassName == className {
      encoder.encode(true, forKey: Key.restoresItself.rawValue)
    } else {
      encoder.encode(name: restorationClassName, forKey: Key.restorationClass.rawValue)
    }
    guard let storyboard else { return }
    encoder.encode(name: storyboard.name, forKey: Key.storyboard.rawValue)
    encoder.encode(name: storyboard.identifier, forKey: Key.storyboardIdentifier.rawValue)
  }

  /// Writes the references of an element to others, after its identity.
  static func encode(
    views: [UInt64], children: [UInt64], presented: UInt64?, referrer: UInt64?,
    with encoder: KeyedEncoder
  ) {
    if !views.isEmpty { encoder.encodeReferences(to: views, forKey: Key.views.rawValue) }
    if !children.isEmpty { encoder.encodeReferences(to: children, forKey: Key.children.rawValue) }
    if let presented { encoder.encodeReference(to: presented, forKey: Key.presented.rawValue) }
    if let referrer { encoder.encodeReference(to: referrer, forKey: Key.referrer.rawValue) }
  }
}

/// The storyboard and the identifier in it that a node came from.
struct StoryboardReference: Hashable, Sendable {
  let name: String
  let identifier: String
}
