/// A call that is under way, for other calls that wait for its end.
///
/// The object belongs to the keeper's actor, as all code does that uses it.
final class UnderWay {
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private var isFinished = false

  func end() async {
    guard !isFinished else { return }
    await withCheckedContinuation { waiting.append($0) }
  }

  func finish() {
    isFinished = true
    for continuation in waiting { continuation.resume() }
    waiting = []
  }
}
