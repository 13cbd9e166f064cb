internal import Synchronization

/// States in the memory of one process, for tests and previews.
///
/// Two directories with one store behave as two machines.
public final class MemoryRemoteStateStore: RemoteStateStore {
  private struct Table {
    /// The states by the bytes of their names: equal strings may have different bytes.
    var states: [[UInt8]: RemoteState] = [:]
    var versionCount: UInt64 = 0

    subscript(name: String) -> RemoteState? {
      get { states[Array(name.utf8)] }
      set { states[Array(name.utf8)] = newValue }
    }

    mutating func nextVersion() -> RemoteVersion {
      versionCount += 1
      return RemoteVersion("\(versionCount)")
    }
  }

  private let table = Mutex(Table())
  private let listeners = Listeners<RemoteChange>()

  /// Creates an empty store.
  public init() {}

  /// The word `memory`.
  public var location: String { "memory" }

  /// The state that is stored under a name.
  public func load(_ name: String) async throws -> RemoteState? { table.withLock { $0[name] } }

  /// Stores bytes if the version is as expected.
  public func replace(
    _ name: String, with bytes: [UInt8], expecting version: RemoteVersion?
  ) async throws -> RemoteVersion? {
    change(name, expecting: version) { _ in bytes }
  }

  /// Adds bytes if the version is as expected.
  public func append(
    _ bytes: [UInt8], to name: String, expecting version: RemoteVersion
  ) async throws -> RemoteVersion? {
    change(name, expecting: version) { ($0 ?? []) + bytes }
  }

  /// Removes the bytes if the version is as expected.
  public func remove(_ name: String, expecting version: RemoteVersion) async throws -> Bool {
    change(name, expecting: version) { _ in nil } != nil
  }

  /// The names that begin with the prefix.
  public func names(prefix: String) async throws -> [String] {
    table.withLock { table in
      table.states.keys.filter { $0.starts(with: prefix.utf8) }
        .map { String(decoding: $0, as: UTF8.self) }
    }
  }

  /// Tells of every change from now on.
  public func changes() -> AsyncStream<RemoteChange> { listeners.stream(from: .any) }

  /// The bytes that are stored under a name; nil if nothing is stored.
  ///
  /// Setting the bytes is like a change by hand: they have a new version then, and nil
  /// removes them. No listener is told.
  ///
  /// - Parameter name: The name of the state.
  public subscript(bytes name: String) -> [UInt8]? {
    get { table.withLock { $0[name]?.bytes } }
    set {
      table.withLock { table in
        let version = table.nextVersion()
        table[name] = newValue.map { RemoteState(bytes: $0, version: version) }
      }
    }
  }

  /// Changes bytes, and tells of it; nil bytes are removed.
  private func change(
    _ name: String, expecting version: RemoteVersion?, _ bytes: ([UInt8]?) -> [UInt8]?
  ) -> RemoteVersion? {
    table.withLock { table in
      guard table[name]?.version == version else { return nil }
      let new = table.nextVersion()
      table[name] = bytes(table[name]?.bytes).map { RemoteState(bytes: $0, version: new) }
      listeners.tell(RemoteChange(name: name, version: table[name]?.version))
      return new
    }
  }
}
