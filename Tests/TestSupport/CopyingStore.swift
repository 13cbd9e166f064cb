internal import ArchiveCodec
package import RestorationKit
internal import Synchronization

/// A store of which somebody has made a copy at every moment.
package final class CopyingStore: Sendable {
  private let store: MemoryStateDirectory
  private let content = Mutex((copies: [String: Set<[UInt8]>](), calls: [String]()))

  package init(_ store: MemoryStateDirectory) {
    self.store = store
  }

  /// The store, for a keeper.
  package var directory: HookedStore {
    HookedStore(store) { [self] name, call throws(ArchiveError) in
      copy()
      if call.isChange { content.withLock { $0.calls.append("\(call) \(name)") } }
    }
  }

  private func copy() {
    guard let names = try? store.names() else { return }
    for name in names {
      guard let bytes = store.memory(named: name).bytes else { continue }
      content.withLock { _ = $0.copies[name, default: []].insert(bytes) }
    }
  }

  /// All that a file ever held, by its name.
  package var copies: [String: Set<[UInt8]>] {
    copy()
    return content.withLock { $0.copies }
  }

  /// The calls that change something, in order, since this was asked last.
  package func takeCalls() -> [String] {
    content.withLock { content in
      defer { content.calls = [] }
      return content.calls
    }
  }
}
