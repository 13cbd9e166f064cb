/// Lets calls that wait for something run alone, in the order in which they are made.
///
/// A queue belongs to the actor of the keeper, as all code does that uses it. A body must not
/// wait for a turn of its own queue, which would never come.
package final class TurnQueue {
  /// The kind of a turn, for calls that block the actor and so cannot wait for its end.
  package enum Kind {
    case restore
    case other
  }

  /// The turn that runs now, or is about to begin; nil if there is none.
  package private(set) var running: Kind?
  private var waiting: [WaitingCall] = []
  /// How many of those that wait have had their turn.
  private var startedCount = 0
  /// Counts the bodies that came before calls which were made earlier, and have stored something.
  package private(set) var overtakingCount = 0
  private var lastNumber: UInt64 = 0

  package init() {}

  /// Runs a body when all turns before it have ended.
  ///
  /// - Complexity: O(1), and the body's.
  package func run<Value, Failure: Error>(
    _ kind: Kind = .other, _ body: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    if running != nil { await turn() }
    running = kind
    defer { end() }
    return try await body()
  }

  /// Waits for a turn.
  ///
  /// A function of its own: inlined, the compiler lets the runtime make the type of the continuation
  /// before it is known whether there is one.
  @inline(never)
  private func turn() async {
    await withCheckedContinuation { waiting.append(WaitingCall(continuation: $0)) }
  }

  /// Runs a body at once, before the turns that wait and in the midst of the one that runs: for a
  /// caller that blocks the actor, where no turn could end.
  package func overtake<Value, Failure: Error>(
    _ kind: Kind, _ body: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let interrupted = running
    running = kind
    defer { if interrupted == nil { end() } else { running = interrupted } }
    return try await body()
  }

  /// Notes that a body which overtakes has stored something: calls that were made before it change
  /// nothing any more.
  package func noteOvertaking() { overtakingCount += 1 }

  /// Gives out the number of a change, so that a file which was slow while the actor was blocked
  /// writes no older change over a newer one.
  package func newNumber() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }

  /// Gives the next call its turn; nobody who calls meanwhile comes between.
  private func end() {
    guard startedCount < waiting.count else {
      (running, waiting, startedCount) = (nil, [], 0)
      return
    }
    let next = waiting[startedCount]
    startedCount += 1
    if startedCount > 32, startedCount > waiting.count / 2 {
      waiting.removeFirst(startedCount)
      startedCount = 0
    }
    // The kind is known when the body begins; until then nothing of it is under way.
    running = .other
    next.continuation.resume()
  }
}

/// A call that waits for its turn.
///
/// A struct, since the Swift runtime takes long to make an array of continuations for the first time.
private struct WaitingCall {
  let continuation: CheckedContinuation<Void, Never>
}
