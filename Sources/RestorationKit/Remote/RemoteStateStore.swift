/// A place for states that several machines share: a database, a bucket, a service.
///
/// It stores bytes under names and knows nothing of what they are: a state is sealed before
/// it gets here. What keeps two machines from overwriting each other is the version: each
/// write says which one it changes, and is refused if another one is stored.
///
/// A store of your own is four methods: ``load(_:)``, ``replace(_:with:expecting:)``,
/// ``remove(_:expecting:)`` and ``names(prefix:)``. Check it with the conformance checks of
/// `RestorationTesting`.
///
/// **Errors.** An error never says whether a write took place: an answer can be lost on the
/// way. Whoever called looks at what is stored before trying again. So do not retry a write
/// in a store, unless you know that it did not take place. Throw ``RemoteStoreError`` where it
/// is known what is wrong; any other error counts as `unavailable`.
public protocol RemoteStateStore: Sendable {
  /// Where the store is, for a person to read, without passwords.
  var location: String { get }

  /// Reads what is stored under a name.
  ///
  /// - Parameter name: Up to 255 bytes of UTF-8 without control characters.
  /// - Returns: All of the bytes and their version; nil if nothing is stored.
  /// - Throws: ``RemoteStoreError``.
  func load(_ name: String) async throws -> RemoteState?

  /// Stores bytes in place of those of a version.
  ///
  /// All or nothing, and compared and stored in one step. When it returns, the bytes are as
  /// durable as the store makes them.
  ///
  /// - Parameters:
  ///   - name: As of ``load(_:)``.
  ///   - bytes: The bytes; never empty.
  ///   - version: The version that is replaced; nil if nothing must be stored.
  /// - Returns: The new version; nil if what is stored is not of the expected version, and
  ///   nothing was changed.
  /// - Throws: ``RemoteStoreError``.
  func replace(
    _ name: String, with bytes: [UInt8], expecting version: RemoteVersion?
  ) async throws -> RemoteVersion?

  /// Adds bytes at the end of those of a version.
  ///
  /// By default it loads and replaces all of them. Where the store can do better, a save
  /// costs what has changed.
  ///
  /// - Parameters:
  ///   - bytes: What comes after the stored bytes; never empty.
  ///   - name: As of ``load(_:)``.
  ///   - version: The version that is changed.
  /// - Returns: As ``replace(_:with:expecting:)``.
  /// - Throws: ``RemoteStoreError``.
  func append(
    _ bytes: [UInt8], to name: String, expecting version: RemoteVersion
  ) async throws -> RemoteVersion?

  /// Removes what is stored under a name.
  ///
  /// - Parameters:
  ///   - name: As of ``load(_:)``.
  ///   - version: The version that is removed.
  /// - Returns: False if what is stored is not of the expected version, or nothing is; then
  ///   nothing was changed.
  /// - Throws: ``RemoteStoreError``.
  func remove(_ name: String, expecting version: RemoteVersion) async throws -> Bool

  /// All names under which something is stored.
  ///
  /// Where a service lists them in pages, the store asks for the next page until the last one.
  ///
  /// - Parameter prefix: What they begin with, compared byte by byte; all if it is empty.
  /// - Returns: All of the names, in any order.
  /// - Throws: ``RemoteStoreError``.
  func names(prefix: String) async throws -> [String]

  /// Tells of states that were stored, also by other machines.
  ///
  /// It begins with ``RemoteChange/any`` when the store listens, so that nothing is missed that
  /// was stored before, and has it again when something may have been missed, as while a
  /// connection was lost. All that comes is a hint: changes may be missing, and may come twice or
  /// late. By default it tells of nothing, and what is newer elsewhere is found when the next
  /// save is refused.
  ///
  /// - Returns: A sequence of its own for each call. It ends when it is let go.
  func changes() -> AsyncStream<RemoteChange>
}

extension RemoteStateStore {
  /// Loads what is stored, and replaces it with the bytes at its end.
  public func append(
    _ bytes: [UInt8], to name: String, expecting version: RemoteVersion
  ) async throws -> RemoteVersion? {
    guard let stored = try await load(name), stored.version == version else { return nil }
    return try await replace(name, with: stored.bytes + bytes, expecting: version)
  }

  /// Nothing.
  public func changes() -> AsyncStream<RemoteChange> {
    AsyncStream { $0.finish() }
  }
}

/// What is stored under a name.
public struct RemoteState: Hashable, Sendable {
  /// All of the bytes.
  public let bytes: [UInt8]

  /// Their version.
  public let version: RemoteVersion

  /// Creates what a store has loaded.
  ///
  /// - Parameters:
  ///   - bytes: All of the bytes.
  ///   - version: Their version.
  public init(bytes: [UInt8], version: RemoteVersion) {
    self.bytes = bytes
    self.version = version
  }
}

/// Tells what is stored under a name from all that was or will be stored there.
///
/// The store makes it, and nobody else looks into it. No version comes twice under a name,
/// also not after the state was removed. One that the store has never made, or made for another
/// name, is no error: what is stored is not of that version.
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

  /// Its name; nil if it may be any.
  public let name: String?

  /// What is stored now; nil if it was removed, or the store does not say.
  public let version: RemoteVersion?

  /// Creates a change that a store tells.
  ///
  /// - Parameters:
  ///   - name: The name of the state; nil if it may be any.
  ///   - version: What is stored now, if that is known.
  public init(name: String?, version: RemoteVersion?) {
    self.name = name
    self.version = version
  }
}
