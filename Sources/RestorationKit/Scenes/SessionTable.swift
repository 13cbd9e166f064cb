package import RestorationFoundation

/// How a host stands to one session.
package enum SessionState {
  /// The host does not know the session: it is new, or was forgotten.
  case unknown
  /// The session is open and has no scene.
  case stored
  /// The session is open, and its scene is being made; if that fails, the state before is back.
  indirect case connecting(from: SessionState)
  /// The session is open and has a scene, which lives as long as this state.
  case connected(RestorableScene)
  /// The scene was closed, and can be opened again.
  case closed(at: Date)
  /// The session is gone; its files are being removed, and the delegate has not been told.
  case discarded

  /// What happens to a session.
  package enum Event {
    case connect, appear(RestorableScene), fail, leave
    case close(at: Date), discard, forget
    /// Another machine has saved what was discarded here.
    case bringBack
  }

  /// The state after an event; nil if the event changes nothing in this state.
  ///
  /// A session that connects is not closed, which waits for the end of its turn.
  package func after(_ event: Event) -> SessionState? {
    switch (self, event) {
    case (.unknown, .connect), (.stored, .connect), (.closed, .connect): .connecting(from: self)
    case (.connecting, .appear(let scene)): .connected(scene)
    case (.connecting(let before), .fail): before
    case (.connected, .leave): .stored
    case (.stored, .close(let date)): .closed(at: date)
    case (.stored, .discard), (.connecting, .discard), (.closed, .discard): .discarded
    case (.discarded, .bringBack): .stored
    case (.discarded, .forget): .unknown
    default: nil
    }
  }

  var scene: RestorableScene? {
    if case .connected(let scene) = self { scene } else { nil }
  }

  /// When the scene was closed; nil in any other state.
  var closedAt: Date? {
    if case .closed(let date) = self { date } else { nil }
  }

  var isOpen: Bool {
    switch self {
    case .stored, .connecting, .connected: true
    case .unknown, .closed, .discarded: false
    }
  }

  var isDiscarded: Bool {
    if case .discarded = self { true } else { false }
  }

  /// Whether a scene is being made that is the first one of its session.
  var isFirstConnection: Bool {
    if case .connecting(from: .unknown) = self { true } else { false }
  }
}

/// The sessions that a host knows, each in one state.
///
/// The open ones stand in the order in which they were used, the closed ones in that in which they
/// were closed, both with the last one first, and the discarded ones with the first one first.
struct SessionTable {
  struct Row {
    let session: SceneSession
    let engine: StateEngine
    fileprivate(set) var state: SessionState
    /// The calls that have the session to themselves, one after the other.
    let turns = TurnQueue()
  }

  private(set) var rows: [Row] = []
  /// The removals of what is discarded.
  let removals = TurnQueue()
  /// The calls that put sessions of earlier launches back.
  let returns = TurnQueue()

  var open: [SceneSession] { sessions(where: \.isOpen) }
  var closed: [SceneSession] { sessions { $0.closedAt != nil } }
  var discarded: [SceneSession] { sessions(where: \.isDiscarded) }

  private func sessions(where isIn: (SessionState) -> Bool) -> [SceneSession] {
    rows.filter { isIn($0.state) }.map(\.session)
  }

  /// The row of a session; nil for one that the host does not know.
  ///
  /// - Complexity: O(*n*) in the sessions, as all that follows.
  subscript(session: SceneSession) -> Row? { row(session.persistentIdentifier) }

  func row(_ identifier: String) -> Row? {
    rows.first { $0.session.persistentIdentifier == identifier }
  }

  /// Adds a session behind the others; false if it is known.
  mutating func add(_ row: Row) -> Bool {
    guard self[row.session] == nil else { return false }
    rows.append(row)
    row.session.facts.closedAt = row.state.closedAt
    return true
  }

  /// Adds a new session, in front of the others.
  mutating func connect(_ session: SceneSession, _ engine: StateEngine) {
    rows.insert(
      Row(session: session, engine: engine, state: .connecting(from: .unknown)), at: 0)
  }

  /// Changes the state of a session; false if the event changes nothing in its state.
  @discardableResult
  mutating func change(_ session: SceneSession, _ event: SessionState.Event) -> Bool {
    guard let place = rows.firstIndex(where: { $0.session == session }),
      let state = rows[place].state.after(event)
    else { return false }
    var row = rows.remove(at: place)
    let before = row.state
    row.state = state
    session.scene = state.scene
    session.facts.closedAt = state.closedAt
    switch (event, before) {
    case (.forget, _), (.fail, .connecting(from: .unknown)): break
    case (.close, _), (.appear, .connecting(from: .closed)):
      rows.insert(row, at: 0)
    case (.discard, _): rows.append(row)
    default: rows.insert(row, at: place)
    }
    return true
  }

  mutating func moveToFront(_ session: SceneSession) {
    guard let place = rows.firstIndex(where: { $0.session == session }) else { return }
    rows.insert(rows.remove(at: place), at: 0)
  }

  /// Forgets what a list said that is read again.
  mutating func forgetListed() {
    rows.removeAll { !$0.state.isOpen }
  }

  /// Discards closed sessions over a bound.
  mutating func discardClosed(over bound: ClosedSceneBound, at now: Date) {
    for (place, session) in closed.enumerated() {
      let age = session.closedAt.map(now.timeIntervalSince) ?? 0
      if place >= bound.count || age > bound.age { change(session, .discard) }
    }
  }
}
