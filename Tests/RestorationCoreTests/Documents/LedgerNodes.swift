import RestorationKit

/// A node of a random app: it knows which stored texts are its own.
@MainActor
class LedgerNode: @MainActor RestorableNode {
  class var stateTracking: StateTracking { .always }

  var name: String { didSet { changed() } }
  var text: String { didSet { changed() } }
  var below: [LedgerNode] = [] { didSet { changed() } }
  var friends: [LedgerNode] = [] { didSet { changed() } }
  var throwsInEncode = false { didSet { changed() } }
  var throwsInDecode = false
  /// Called when the node is about to be decoded.
  var onDecode: (() -> Void)?
  /// The stored texts that the node has decoded or written.
  var owned: Set<String> = []
  /// The text of the last hook that did not throw.
  private(set) var encoded: String?

  var restorationIdentifier: String? { name }
  var restorationChildren: [any RestorableNode] { below }

  struct Failure: Error {}

  required init(_ name: String, _ text: String) { (self.name, self.text) = (name, text) }

  func changed() {}

  func encodeRestorableState(with coder: StateEncoder) throws {
    if throwsInEncode { throw Failure() }
    coder.encode(text, forKey: "value")
    coder.encode(friends, forKey: "friends")
    encoded = text
  }

  func decodeRestorableState(with coder: StateDecoder) throws {
    onDecode?()
    if throwsInDecode { throw Failure() }
    text = try coder.decode(forKey: "value")
    friends = try coder.decodeObjects(forKey: "friends")
    (owned, encoded) = ([text], nil)
  }
}

/// The classes of a random app; none is another one's.
final class PlainLedgerNode: LedgerNode {}

final class TellingLedgerNode: LedgerNode {
  override class var stateTracking: StateTracking { .invalidated }

  override func changed() { invalidateRestorableState() }
}

/// Objects of this class are made by a factory, which may say no.
final class MadeLedgerNode: LedgerNode {}

/// What an app remembers of its nodes when it starts anew.
@MainActor
final class LedgerPlan {
  let name: String
  let type: LedgerNode.Type
  let below: [LedgerPlan]

  init(_ name: String, _ type: LedgerNode.Type, below: [LedgerPlan] = []) {
    (self.name, self.type, self.below) = (name, type, below)
  }

  convenience init(of node: LedgerNode) {
    self.init(node.name, Swift.type(of: node), below: node.below.map(LedgerPlan.init(of:)))
  }
}
