internal import Synchronization

/// Tells its listeners that a state needs saving, from any thread.
final class ChangeSignal: Sendable {
  enum News {
    case changed
    /// A save that no autosave has made has stored nothing.
    case notStored
    /// A save that no autosave has made is stored; `isPolled` says whether polls can
    /// compare objects with it.
    case stored(isPolled: Bool)
    /// The changes so far are not to be saved any more.
    case discarded
    /// Nothing is saved any more.
    case ended
  }

  typealias Listener = @Sendable (News) -> Void

  private struct Content {
    var listeners: [UInt64: Listener] = [:]
    var count: UInt64 = 0
  }

  /// The only cost of a change while nobody listens.
  private let isHeard = Atomic<Bool>(false)
  private let content = Mutex(Content())

  func tell(_ news: News = .changed) {
    guard isHeard.load(ordering: .acquiring) else { return }
    let listeners = content.withLock { $0.listeners.values }
    for listener in listeners { listener(news) }
  }

  /// Tells a listener until ``forget(_:)`` is called with the returned number.
  func listen(_ listener: @escaping Listener) -> UInt64 {
    content.withLock { content in
      content.count += 1
      content.listeners[content.count] = listener
      isHeard.store(true, ordering: .releasing)
      return content.count
    }
  }

  func forget(_ number: UInt64) {
    content.withLock { content in
      content.listeners[number] = nil
      isHeard.store(!content.listeners.isEmpty, ordering: .releasing)
    }
  }

  /// A sequence with an element for all changes since the element before was taken.
  var changes: AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let number = listen { news in
      switch news {
      case .changed: continuation.yield()
      // The end of a save is no element: an app that saves with each element would go on for ever.
      case .notStored, .stored, .discarded: break
      case .ended: continuation.finish()
      }
    }
    continuation.onTermination = { [weak self] _ in self?.forget(number) }
    return stream
  }
}
