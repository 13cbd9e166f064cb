package import RestorationSharing
internal import Synchronization

/// A store that tells of changes when a test says so.
package final class TellingStore: RemoteStateStore {
  private let base: any RemoteStateStore
  private let listeners = Mutex<[AsyncStream<RemoteChange>.Continuation]>([])

  package init(_ base: any RemoteStateStore) {
    self.base = base
  }

  package func tell(_ change: RemoteChange) {
    for listener in listeners.withLock({ $0 }) { listener.yield(change) }
  }

  package func changes() -> AsyncStream<RemoteChange> {
    let (stream, continuation) = AsyncStream.makeStream(of: RemoteChange.self)
    listeners.withLock { $0.append(continuation) }
    return stream
  }

  package var location: String { base.location }

  package func load(_ name: String) async throws -> RemoteState? { try await base.load(name) }

  package func replace(
    _ name: String, with bytes: [UInt8], expecting version: RemoteVersion?
  ) async throws -> RemoteVersion? {
    try await base.replace(name, with: bytes, expecting: version)
  }

  package func remove(_ name: String, expecting version: RemoteVersion) async throws -> Bool {
    try await base.remove(name, expecting: version)
  }

  package func names(prefix: String) async throws -> [String] {
    try await base.names(prefix: prefix)
  }
}
