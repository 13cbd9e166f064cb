/// A call that waits until another one resumes it.
///
/// A struct, since the Swift runtime takes long to make an array of continuations for the first time.
struct WaitingCall: Sendable {
  private let continuation: CheckedContinuation<Void, Never>

  init(_ continuation: CheckedContinuation<Void, Never>) {
    self.continuation = continuation
  }

  func resume() { continuation.resume() }
}
