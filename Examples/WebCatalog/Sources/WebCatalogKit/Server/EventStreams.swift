import Synchronization

/// Counts the streams of events that each user has at this server.
final class EventStreams: Sendable {
  static let mostOfOneUser = 32

  private let counts = Mutex<[String: Int]>([:])

  /// Begins one, which ends with the last reference to it at the latest.
  ///
  /// - Throws: `tooManyStreams` if the user has as many as one may have.
  func begin(of user: User) throws(WebProblem) -> Stream {
    let hasRoom = counts.withLock { counts in
      guard counts[user.mark, default: 0] < Self.mostOfOneUser else { return false }
      counts[user.mark, default: 0] += 1
      return true
    }
    guard hasRoom else { throw .tooManyStreams }
    return Stream(of: user, in: self)
  }

  final class Stream: Sendable {
    private let user: User
    private let streams: EventStreams
    private let hasEnded = Mutex(false)

    fileprivate init(of user: User, in streams: EventStreams) {
      (self.user, self.streams) = (user, streams)
    }

    deinit { end() }

    func end() {
      let isFirst = hasEnded.withLock { hasEnded in
        defer { hasEnded = true }
        return !hasEnded
      }
      if isFirst { streams.end(of: user) }
    }
  }

  private func end(of user: User) {
    counts.withLock { counts in
      let count = counts[user.mark, default: 1] - 1
      counts[user.mark] = count > 0 ? count : nil
    }
  }
}
