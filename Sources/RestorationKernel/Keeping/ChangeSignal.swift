internal import Synchronization

/// Tells the autosave of a keeper and its sequences that a state needs saving, from any thread.
final class ChangeSignal: Sendable {
  private struct Listeners {
    var autosave: AutosaveTurns?
    var sequences: [UInt64: AsyncStream<Void>.Continuation] = [:]
    var count: UInt64 = 0
  }

  private let listeners = Mutex(Listeners())

  func tell() {
    let listeners = listeners.withLock(\.self)
    listeners.autosave?.change()
    for sequence in listeners.sequences.values { sequence.yield() }
  }

  /// Lets one autosave hear of changes from now on; nil for none.
  func listen(_ autosave: AutosaveTurns?) { listeners.withLock { $0.autosave = autosave } }

  /// Ends all sequences.
  func end() {
    for sequence in listeners.withLock(\.sequences).values { sequence.finish() }
  }

  /// A sequence with an element for all changes since the element before was taken.
  var changes: AsyncStream<Void> {
    let (stream, sequence) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let number = listeners.withLock { listeners in
      listeners.count += 1
      listeners.sequences[listeners.count] = sequence
      return listeners.count
    }
    sequence.onTermination = { [weak self] _ in
      _ = self?.listeners.withLock { $0.sequences.removeValue(forKey: number) }
    }
    return stream
  }
}
