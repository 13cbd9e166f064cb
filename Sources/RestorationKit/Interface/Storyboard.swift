/// A named set of factories, one for each identifier.
///
/// A restore asks storyboards last. A node that came from a storyboard is saved with
/// the storyboard's name and its identifier there. The storyboard makes the node anew
/// if nothing else provides it.
///
///     let main = Storyboard("Main")
///     main.register("detail") { DetailScreen() }
///     try keeper.register(main)
///     let detail = try main.instantiate("detail")
public final class Storyboard {
  /// The name of the storyboard in archives.
  public let name: String

  private var factories: [String: () throws -> any RestorableNode] = .init()
  /// The identifiers of the nodes that were made.
  private(set) var made = WeakTable<String>()

  /// Creates a storyboard without factories.
  ///
  /// - Parameter name: A name that is stable across launches.
  public init(_ name: String) {
    self.name = name
  }

  /// Sets the factory of an identifier; the last one stays, and is kept alive.
  ///
  /// - Parameters:
  ///   - identifier: The name of the node in the storyboard.
  ///   - factory: Makes a new node.
  public func register(_ identifier: String, _ factory: @escaping () throws -> any RestorableNode) {
    factories[identifier] = factory
  }

  /// Makes a node and remembers that the node came from this storyboard.
  ///
  /// - Parameter identifier: The name of the node in the storyboard.
  /// - Returns: A new node, or nil if there is no factory.
  /// - Throws: The error of the factory.
  public func instantiate(_ identifier: String) throws -> (any RestorableNode)? {
    guard let node = try factories[identifier]?() else { return nil }
    made[node] = identifier
    return node
  }
}

@available(*, unavailable, message: "a storyboard belongs to the actor of its nodes")
extension Storyboard: Sendable {}
