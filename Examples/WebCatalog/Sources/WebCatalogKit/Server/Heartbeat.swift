/// Events, and nil where none has come for some time, so that a page that has gone is noticed.
extension AsyncStream where Element: Sendable {
  func withHeartbeat(every pause: Duration) -> AsyncStream<Element?> {
    // Nobody may read for long, and a page that comes back looks at everything anew.
    AsyncStream<Element?>(bufferingPolicy: .bufferingNewest(16)) { continuation in
      let beats = Task {
        while (try? await Task.sleep(for: pause)) != nil { continuation.yield(nil) }
      }
      let events = Task {
        for await event in self { continuation.yield(event) }
        continuation.finish()
      }
      continuation.onTermination = { _ in
        beats.cancel()
        events.cancel()
      }
    }
  }
}
