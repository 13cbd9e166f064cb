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
  static let nodeKey = Key.node.rawValue
  static let builtInKey = Key.builtIn.rawValue
  static let stateKey = Key.state.rawValue
  /// Beside the state, also that of the application: a container that has the values
  /// with a sensitivity under ``valuesKey``, see ``StoredSensitiveValue``.
  static let sensitiveKey = Key.sensitive.rawValue
  static let valuesKey = "values"

  /// All keys of the library, in the order in which they are encoded.
  static let keys =
    [
      rootsKey, snapshotKey, factsKey, hostKey,
    ] + Key.allCases.filter { !$0.isRare }.map(\.rawValue)
    + BuiltInKey.all

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
  /// When it was first saved as it was stored, because it was not back or nobody could
  /// read its state; nil if it was there.
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
  enum Key: String, CaseIterable {
    case node, builtIn, state
    case kind, identifier, siblingIndex
    case className = "class"
    case version, restoresItself, restorationClass, storyboard, storyboardIdentifier, views
    case children, presented, referrer, hasLastState, keptSince, sensitive, kept
    /// Only in what is kept beside another state.
    case leftOut

    /// Whether few archives have it; it has its place behind those that all have.
    var isRare: Bool { [.hasLastState, .keptSince, .sensitive, .kept, .leftOut].contains(self) }
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

  /// Writes what an element is, without a record that would hold it.
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
    // Most nodes are made by their own class; its name need not stand twice.
    if restorationClassName == className {
      encoder.encode(true, forKey: Key.restoresItself.rawValue)
    } else {
      encoder.encode(name: restorationClassName, forKey: Key.restorationClass.rawValue)
    }
    guard let storyboard else { return }
    encoder.encode(name: storyboard.name, forKey: Key.storyboard.rawValue)
    encoder.encode(name: storyboard.identifier, forKey: Key.storyboardIdentifier.rawValue)
  }

  /// Writes what an element is connected with; it follows what it is.
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
