public import ArchiveCodec

/// Gives back the state of one node, or of the application.
///
/// Absent is nil. A value of another type throws. It is read-only, and the
/// same for the factory that makes the node and for the node's own decoding.
/// One that is kept finds no nodes after the restore.
public final class StateDecoder {
  /// The path of the node; empty for the application.
  public let path: RestorationPath

  private let values: KeyedDecoder?
  private let facts: KeyedDecoder?
  private let nodes: RestoredNodes
  private let children: [UInt64]
  private let presented: UInt64?

  init(
    path: RestorationPath, values: KeyedDecoder?, facts: KeyedDecoder?, nodes: RestoredNodes,
    children: [UInt64] = [], presented: UInt64? = nil
  ) {
    self.path = path
    self.values = values
    self.facts = facts
    self.nodes = nodes
    self.children = children
    self.presented = presented
  }

  /// The nodes that this node contained and that are back, in saved order.
  ///
  /// - Complexity: O(*n*) in their number.
  public var restoredChildren: [any RestorableNode] {
    children.compactMap { nodes[$0] }
  }

  /// The node that this node presented, if it is back.
  public var restoredPresented: (any RestorableNode)? {
    presented.flatMap { nodes[$0] }
  }

  /// The keys that were encoded.
  public var keys: [String] { values?.keys ?? [] }

  /// Whether there is a value for the key.
  ///
  /// - Parameter key: The key that it was encoded with.
  /// - Returns: Whether the key is there.
  public func contains(_ key: String) -> Bool {
    source(of: key)?.contains(key) ?? false
  }

  /// Reads a value that must be there.
  ///
  /// - Parameters:
  ///   - type: The type that was encoded; integers may differ in width.
  ///   - key: The key that it was encoded with.
  /// - Returns: The value.
  /// - Throws: ``ArchiveCodec/ArchiveError`` with `keyNotFound`,
  ///   `typeMismatch` or `numberOutOfRange`.
  public func decode<Value: ArchiveValue>(
    _ type: Value.Type = Value.self, forKey key: String
  ) throws(ArchiveError) -> Value {
    guard let value = try decodeIfPresent(type, forKey: key) else {
      throw ArchiveError(.keyNotFound, path: [key])
    }
    return value
  }

  /// Reads a value, nil if there is none.
  ///
  /// - Parameters:
  ///   - type: The type that was encoded; integers may differ in width.
  ///   - key: The key that it was encoded with, or a ``ReservedKey``.
  /// - Returns: The value, or nil if the key is absent.
  /// - Throws: ``ArchiveCodec/ArchiveError`` with `typeMismatch` or
  ///   `numberOutOfRange`. An absent key is not an error.
  public func decodeIfPresent<Value: ArchiveValue>(
    _ type: Value.Type = Value.self, forKey key: String
  ) throws(ArchiveError) -> Value? {
    try source(of: key)?.decodeIfPresent(type, forKey: key)
  }

  /// Reads a value of any decodable type that must be there.
  ///
  /// - Parameters:
  ///   - type: The type that was encoded, or one that decodes the same form.
  ///   - key: The key that it was encoded with.
  /// - Returns: The value.
  /// - Throws: What the value throws; `DecodingError` if the stored value does
  ///   not fit; ``ArchiveCodec/ArchiveError`` with `keyNotFound`.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self, forKey key: String
  ) throws -> Value {
    guard let value = try decodeIfPresent(type, forKey: key) else {
      throw ArchiveError(.keyNotFound, path: [key])
    }
    return value
  }

  /// Reads a value of any decodable type, nil if there is none.
  ///
  /// - Parameters:
  ///   - type: The type that was encoded, or one that decodes the same form.
  ///   - key: The key that it was encoded with, or a ``ReservedKey``.
  /// - Returns: The value, or nil if the key is absent.
  /// - Throws: What the value throws; `DecodingError` if the stored value does
  ///   not fit. An absent key is not an error.
  public func decodeIfPresent<Value: Decodable>(
    _ type: Value.Type = Value.self, forKey key: String
  ) throws -> Value? {
    try source(of: key)?.decodeIfPresent(type, forKey: key)
  }

  /// Reads a reference to a node, nil if there is none or the node is not back.
  ///
  /// While nodes are being made, only those that were made before are there;
  /// parents are made before their children.
  ///
  /// - Parameters:
  ///   - type: The type that the node must have.
  ///   - key: The key that it was encoded with.
  /// - Returns: The node that everybody who refers to it gets, or nil.
  /// - Throws: ``RestorationError`` with `nodeTypeMismatch` if it is back with
  ///   another type; ``ArchiveCodec/ArchiveError`` with `typeMismatch` if the
  ///   key holds something else.
  public func decodeNode<Node>(_ type: Node.Type = Node.self, forKey key: String) throws -> Node? {
    try values?.reference(forKey: key).flatMap { try node($0, type, key) }
  }

  /// Reads references to nodes, in saved order, without those that are not back.
  ///
  /// - Parameters:
  ///   - type: The type that the nodes must have.
  ///   - key: The key that they were encoded with.
  /// - Returns: The nodes; none if the key is absent.
  /// - Throws: As ``decodeNode(_:forKey:)``.
  public func decodeNodes<Node>(_ type: Node.Type = Node.self, forKey key: String) throws -> [Node]
  {
    try values?.references(forKey: key)?.compactMap { try node($0, type, key) } ?? []
  }

  /// Opens the values that were written under one key, nil if there are none.
  ///
  /// - Parameter key: The key that the container was encoded with.
  /// - Returns: A coder for the values of the container, or nil.
  /// - Throws: ``ArchiveCodec/ArchiveError`` with `typeMismatch` if the key
  ///   holds something else.
  public func container(forKey key: String) throws(ArchiveError) -> StateDecoder? {
    guard let inner = try values?.container(forKey: key) else { return nil }
    return StateDecoder(path: path, values: inner, facts: facts, nodes: nodes)
  }

  private func source(of key: String) -> KeyedDecoder? {
    ReservedKey.contains(key) ? facts : values
  }

  private func node<Node>(_ record: UInt64, _ type: Node.Type, _ key: String) throws -> Node? {
    guard let node = nodes[record] else { return nil }
    guard let typed = node as? Node else {
      throw RestorationError(
        .nodeTypeMismatch, "\(path), key \(key): \(Swift.type(of: node)) is not a \(type)")
    }
    return typed
  }
}

@available(*, unavailable, message: "a coder belongs to the actor that restores")
extension StateDecoder: Sendable {}

/// The nodes that are back, by their record.
final class RestoredNodes {
  private var nodes: [UInt64: any RestorableNode] = [:]

  func forget() {
    nodes = [:]
  }

  subscript(record: UInt64) -> (any RestorableNode)? {
    get { nodes[record] }
    set { nodes[record] = newValue }
  }
}
