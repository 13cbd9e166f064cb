internal import Synchronization

/// Looks after copies when the store may have a newer state, or when their lease is due.
///
/// A few copies are looked after at once, since a store cannot answer many. A copy that
/// waits long for its answer leaves its place to another, so it holds up no other.
final class RemoteLookout: Sendable {
  private struct Queue {
    var waiting: [ObjectIdentifier: RemoteCopy] = [:]
    /// The copies that are looked after: one that is to be looked after once more waits for the end of that.
    var underWay: Set<ObjectIdentifier> = []
    /// Those of them that have a place.
    var placed: Set<ObjectIdentifier> = []
  }

  private static let largestCount = 16
  private static let patience = Duration.seconds(2)

  private let queue = Mutex(Queue())

  /// Looks after copies; each copy is looked after once at a time.
  func look(after copies: [RemoteCopy]) {
    queue.withLock { queue in
      for copy in copies { queue.waiting[ObjectIdentifier(copy)] = copy }
    }
    begin()
  }

  private func begin() {
    while let (id, copy) = next() {
      Task {
        let limit = Task {
          do { try await Task.sleep(for: Self.patience) } catch { return }
          leavePlace(id)
        }
        await copy.wake()
        limit.cancel()
        queue.withLock { _ = $0.underWay.remove(id) }
        leavePlace(id)
      }
    }
  }

  private func next() -> (ObjectIdentifier, RemoteCopy)? {
    queue.withLock { queue in
      guard queue.placed.count < Self.largestCount,
        let (id, copy) = queue.waiting.first(where: { !queue.underWay.contains($0.key) })
      else { return nil }
      queue.waiting[id] = nil
      queue.underWay.insert(id)
      queue.placed.insert(id)
      return (id, copy)
    }
  }

  private func leavePlace(_ id: ObjectIdentifier) {
    queue.withLock { _ = $0.placed.remove(id) }
    begin()
  }
}
