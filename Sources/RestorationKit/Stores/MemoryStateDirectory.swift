public import ArchiveCodec
internal import Synchronization

/// States in memory, for tests and previews.
public final class MemoryStateDirectory: StateDirectory {
  private let storages = Mutex([String: MemoryStorage]())

  /// Creates an empty directory.
  public init() {}

  /// The storage of one state; the same at every call.
  public func storage(named name: String) -> any ArchiveStorage {
    memory(named: name)
  }

  /// The names of the states that have bytes.
  public func names() throws(ArchiveError) -> [String] {
    storages.withLock { storages in storages.filter { $0.value.bytes != nil }.map(\.key) }
  }

  /// The storage of one state, to look at its bytes or to change them.
  ///
  /// - Parameter name: The name of the state.
  /// - Returns: The storage; the same at every call.
  public func memory(named name: String) -> MemoryStorage {
    storages.withLock { storages in
      let storage = storages[name] ?? MemoryStorage()
      storages[name] = storage
      return storage
    }
  }
}
