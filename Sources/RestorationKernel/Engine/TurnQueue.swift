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
  /// The calls that wait, the first one first.
  // A slice: the first one goes without moving the others.
  private var waiting: ArraySlice<WaitingCall> = []
  /// Counts the bodies that came before calls which were made earlier, and have stored something.
  ///
  /// Calls that were made before such a body change nothing any more.
  var overtakingCount = 0

  package init() {}

  /// Runs a body when all turns before it have ended.
  ///
  /// One that overtakes runs at once, before the turns that wait and in the midst of the one that runs: for a
  /// caller that blocks the actor, where no turn could end.
  package func run<Value, Failure: Error>(
    _ kind: Kind = .other, overtaking isOvertaking: Bool = false,
    _ body: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let interrupted = isOvertaking ? running : nil
    if running != nil, !isOvertaking { await turn() }
    running = kind
    defer { if interrupted == nil { end() } else { running = interrupted } }
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

  /// Gives the next call its turn; nobody who calls meanwhile comes between.
  private func end() {
    // The kind is known when the body begins; until then nothing of it is under way.
    running = waiting.isEmpty ? nil : .other
    waiting.popFirst()?.continuation.resume()
  }
}

/// A call that waits for its turn.
///
/// A struct, since the Swift runtime takes long to make an array of continuations for the first time.
private struct WaitingCall {
  let continuation: CheckedContinuation<Void, Never>
}
