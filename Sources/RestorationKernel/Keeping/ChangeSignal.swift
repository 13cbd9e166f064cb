internal import Synchronization

/// Tells the autosave of a keeper and its sequences that a state needs saving, from any thread.
final class ChangeSignal: Sendable {
  private typealias Sequences = Set<AsyncStream<Void>.Continuation>
  private let listeners = Mutex<(autosave: AutosaveTurns?, sequences: Sequences)>((nil, []))

  func tell() {
    let (autosave, sequences) = listeners.withLock { $0 }
    autosave?.change()
    for sequence in sequences { sequence.yield() }
  }

  /// The autosave that hears of changes.
  var autosave: AutosaveTurns? {
    get { listeners.withLock { $0.autosave } }
    set { listeners.withLock { $0.autosave = newValue } }
  }

  /// Ends all sequences.
  func end() {
    for sequence in listeners.withLock({ $0.sequences }) { sequence.finish() }
  }

  /// A sequence with an element for all changes since the element before was taken.
  var changes: AsyncStream<Void> {
    let (stream, sequence) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    _ = listeners.withLock { $0.sequences.insert(sequence) }
    sequence.onTermination = { [weak self] _ in
      _ = self?.listeners.withLock { $0.sequences.remove(sequence) }
    }
    return stream
  }
}
