/// A place for states that several machines share: a database, a bucket, a service.
///
/// A store keeps bytes under names and does not interpret them: a state is sealed before
/// the store gets it. The version keeps two machines from overwriting each other: each
/// write names the version that it changes, and is refused if another one is stored.
///
/// A store of your own is four methods: ``load(_:)``, ``replace(_:with:expecting:)``,
/// ``remove(_:expecting:)`` and ``names(prefix:)``. Check it with the conformance
/// checks of `RestorationSharingTesting`.
///
/// **Errors.** An error never says whether a write took place: an answer can be lost on
/// the way. The caller looks at the stored state before it tries again. So do not retry a
/// write in a store, unless you know that it did not take place. Throw
/// ``RemoteStoreError`` where the cause is known; any other error counts as `unavailable`.
public protocol RemoteStateStore: Sendable {
  /// Where the store is, for a person to read, without passwords.
  var location: String { get }

  /// Reads the bytes that are stored under a name.
  ///
  /// - Parameter name: Up to 255 bytes of UTF-8 without control characters.
  /// - Returns: All of the bytes and their version; nil if nothing is stored.
  /// - Throws: ``RemoteStoreError``.
  func load(_ name: String) async throws -> RemoteState?

  /// Replaces the bytes of a version, or stores the first bytes.
  ///
  /// The write is atomic, and compares and stores in one step. When the call returns,
  /// the bytes are as durable as the store makes them.
  ///
  /// - Parameters:
  ///   - name: As in ``load(_:)``.
  ///   - bytes: The bytes; never empty.
  ///   - version: The version that is replaced; nil if nothing must be stored.
  /// - Returns: The new version; nil if another version than the expected one is
  ///   stored; then nothing was changed.
  /// - Throws: ``RemoteStoreError``.
  func replace(
    _ name: String, with bytes: [UInt8], expecting version: RemoteVersion?
  ) async throws -> RemoteVersion?

  /// Adds bytes at the end of those of a version.
  ///
  /// By default the method loads and replaces all of the bytes. In a store that can do
  /// better, the cost of a save is in proportion to its changes.
  ///
  /// - Parameters:
  ///   - bytes: The bytes to add; never empty.
  ///   - name: As in ``load(_:)``.
  ///   - version: The version that is changed.
  /// - Returns: As ``replace(_:with:expecting:)``.
  /// - Throws: ``RemoteStoreError``.
  func append(
    _ bytes: [UInt8], to name: String, expecting version: RemoteVersion
  ) async throws -> RemoteVersion?

  /// Removes the bytes that are stored under a name.
  ///
  /// - Parameters:
  ///   - name: As in ``load(_:)``.
  ///   - version: The version that is removed.
  /// - Returns: False if another version than the expected one is stored, or nothing;
  ///   then nothing was changed.
  /// - Throws: ``RemoteStoreError``.
  func remove(_ name: String, expecting version: RemoteVersion) async throws -> Bool

  /// All names under which something is stored.
  ///
  /// If a service lists the names in pages, the store asks for the next page until the last one.
  ///
  /// - Parameter prefix: The beginning of the names, compared byte by byte; all if it
  ///   is empty.
  /// - Returns: All of the names, in any order.
  /// - Throws: ``RemoteStoreError``.
  func names(prefix: String) async throws -> [String]

  /// Tells of states that were stored, also by other machines.
  ///
  /// The sequence begins with ``RemoteChange/any`` when the store listens, so that no
  /// earlier change is missed, and has it again when changes may have been missed, as
  /// while a connection was lost. Each element is a hint: changes may be missing, and
  /// may come twice or late. By default the sequence is empty, and newer states of
  /// other machines are found when the next save is refused.
  ///
  /// - Returns: A sequence of its own for each call. The store ends it when the app
  ///   lets it go.
  func changes() -> AsyncStream<RemoteChange>
}

extension RemoteStateStore {
  /// Loads the stored bytes, and replaces them by the same bytes with the new ones at their end.
  public func append(
    _ bytes: [UInt8], to name: String, expecting version: RemoteVersion
  ) async throws -> RemoteVersion? {
    guard let stored = try await load(name), stored.version == version else { return nil }
    return try await replace(name, with: stored.bytes + bytes, expecting: version)
  }

  /// An empty sequence.
  public func changes() -> AsyncStream<RemoteChange> {
    AsyncStream { $0.finish() }
  }
}

/// The bytes that are stored under a name.
public struct RemoteState: Hashable, Sendable {
  /// All of the bytes.
  public let bytes: [UInt8]

  /// The version of the bytes.
  public let version: RemoteVersion

  /// Creates a state as a store loads it.
  ///
  /// - Parameters:
  ///   - bytes: All of the bytes.
  ///   - version: The version of the bytes.
  public init(bytes: [UInt8], version: RemoteVersion) {
    self.bytes = bytes
    self.version = version
  }
}

/// Tells the bytes under a name from all earlier and later ones.
///
/// The store makes the version, and only the store interprets it. No version comes twice
/// under a name, also not after the state was removed. A version that the store has
/// never made, or made for another name, is no error: it is just not the stored version.
public struct RemoteVersion: Hashable, Codable, Sendable {
  /// The version in the words of the store; up to 255 bytes.
  public let name: String

  /// Creates a version.
  ///
  /// - Parameter name: The version in the words of the store.
  public init(_ name: String) {
    self.name = name
  }
}

extension RemoteVersion: CustomStringConvertible {
  /// The version in the words of the store.
  public var description: String { name }
}

/// A state that was stored or removed.
public struct RemoteChange: Hashable, Sendable {
  /// Any state may have been stored or removed until now.
  public static let any = RemoteChange(name: nil, version: nil)

  /// The name of the state; nil if any state may have changed.
  public let name: String?

  /// The version that is stored now; nil if the state was removed, or the store does not say.
  public let version: RemoteVersion?

  /// Creates a change that a store announces.
  ///
  /// - Parameters:
  ///   - name: The name of the state; nil if any state may have changed.
  ///   - version: The version that is stored now, if it is known.
  public init(name: String?, version: RemoteVersion?) {
    self.name = name
    self.version = version
  }
}
