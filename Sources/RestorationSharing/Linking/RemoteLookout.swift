internal import Synchronization

/// Looks after copies when the store may have a newer state, or when their lease is due.
///
/// A few copies are looked after at once, since a store cannot answer many. A copy that
/// waits long for its answer leaves its place to another, so it holds up no other.
final class RemoteLookout: Sendable {
  private struct Queue {
    /// The waiting copies, the next one first.
    var waiting: ArraySlice<RemoteCopy> = []
    var isWaiting: Set<ObjectIdentifier> = []
    /// The copies that are looked after, and whether each has to be looked after once more.
    var underWay: [ObjectIdentifier: Bool] = [:]
    var count = 0
  }

  private static let largestCount = 16
  private static let patience = Duration.seconds(2)

  private let queue = Mutex(Queue())

  /// Looks after copies; each copy is looked after once at a time.
  func look(after copies: [RemoteCopy]) {
    queue.withLock { queue in
      for copy in copies {
        let id = ObjectIdentifier(copy)
        if queue.underWay[id] != nil {
          queue.underWay[id] = true
        } else if queue.isWaiting.insert(id).inserted {
          queue.waiting.append(copy)
        }
      }
    }
    begin()
  }

  private func begin() {
    while let copy = next() {
      Task {
        let place = Place(in: self)
        let limit = Task {
          do { try await Task.sleep(for: Self.patience) } catch { return }
          place.leave()
        }
        await copy.wake()
        limit.cancel()
        place.leave()
        let id = ObjectIdentifier(copy)
        let isDueAgain = queue.withLock { $0.underWay.removeValue(forKey: id) }
        if isDueAgain == true { look(after: [copy]) }
      }
    }
  }

  private func next() -> RemoteCopy? {
    queue.withLock { queue in
      guard queue.count < Self.largestCount, let copy = queue.waiting.popFirst() else { return nil }
      queue.isWaiting.remove(ObjectIdentifier(copy))
      queue.underWay[ObjectIdentifier(copy)] = false
      queue.count += 1
      return copy
    }
  }

  /// One of the few places, taken until the work ends or takes too long.
  private final class Place: Sendable {
    private let lookout: Mutex<RemoteLookout?>

    init(in lookout: RemoteLookout) { self.lookout = Mutex(lookout) }

    func leave() {
      guard let lookout = lookout.withLock({ $0.take() }) else { return }
      lookout.queue.withLock { $0.count -= 1 }
      lookout.begin()
    }
  }
}
