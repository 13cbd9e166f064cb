package import RestorationKit

/// What was called, in order.
@MainActor
package final class Trace {
  package private(set) var events: [String] = []
  /// The identifiers of the sessions that calls were about.
  private var sessions: [String] = []

  package init() {}

  package func add(_ event: String) {
    events.append(event)
  }

  package func clear() {
    events = []
  }
}

extension Trace {
  /// Adds a call with what it hands over, if there is any.
  func add(_ call: String, _ handed: [String?]) {
    add(([call] + handed.compactMap(\.self)).joined(separator: ", "))
  }

  /// Sessions are counted in the order of their first calls, from 1, through all
  /// launches of a test.
  package func number(of session: SceneSession) -> Int {
    if let place = sessions.firstIndex(of: session.persistentIdentifier) { return place + 1 }
    sessions.append(session.persistentIdentifier)
    return sessions.count
  }
}
