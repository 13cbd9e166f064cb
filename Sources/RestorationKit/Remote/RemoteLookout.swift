internal import Synchronization

/// Looks after copies of which the store may have something newer, or whose lease is due.
///
/// Some at once, since a store answers so many only. One that gets no answer for long does not
/// count among them, so it holds up no other.
final class RemoteLookout: Sendable {
  private struct Content {
    /// Those that have come since the others were turned round.
    var coming: [RemoteCopy] = []
    /// The last one is the next.
    var waiting: [RemoteCopy] = []
    var isWaiting: Set<ObjectIdentifier> = []
    /// Whether a copy that is looked after has to be once more.
    var underWay: [ObjectIdentifier: Bool] = [:]
    var count = 0
  }

  private static let largestCount = 16
  private static let patience = Duration.seconds(2)

  private let content = Mutex(Content())

  /// Looks after copies, each of them once at a time.
  func look(after copies: [RemoteCopy]) {
    content.withLock { content in
      for copy in copies {
        let id = ObjectIdentifier(copy)
        if content.underWay[id] != nil {
          content.underWay[id] = true
        } else if content.isWaiting.insert(id).inserted {
          content.coming.append(copy)
        }
      }
    }
    begin()
  }

  private func begin() {
    while let copy = next() {
      Task {
        let turn = Turn(of: self)
        let limit = Task {
          do { try await Task.sleep(for: Self.patience) } catch { return }
          turn.end()
        }
        await copy.wake()
        limit.cancel()
        turn.end()
        let id = ObjectIdentifier(copy)
        let isDueAgain = content.withLock { $0.underWay.removeValue(forKey: id) }
        if isDueAgain == true { look(after: [copy]) }
      }
    }
  }

  private func next() -> RemoteCopy? {
    content.withLock { content in
      guard content.count < Self.largestCount else { return nil }
      if content.waiting.isEmpty {
        (content.waiting, content.coming) = (content.coming.reversed(), [])
      }
      guard let copy = content.waiting.popLast() else { return nil }
      content.isWaiting.remove(ObjectIdentifier(copy))
      content.underWay[ObjectIdentifier(copy)] = false
      content.count += 1
      return copy
    }
  }

  /// The place of one among those at once, until its end or the end of patience.
  private final class Turn: Sendable {
    private let lookout: Mutex<RemoteLookout?>

    init(of lookout: RemoteLookout) {
      self.lookout = Mutex(lookout)
    }

    func end() {
      guard let lookout = lookout.withLock({ $0.take() }) else { return }
      lookout.content.withLock { $0.count -= 1 }
      lookout.begin()
    }
  }
}
