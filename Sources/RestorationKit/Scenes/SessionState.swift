/// How a host stands to one session.
package enum SessionState: Equatable, Sendable, CaseIterable {
  /// Nobody has opened the window yet.
  case new
  /// The window is open, and not connected.
  case stored
  /// The window was closed, and can be opened again.
  case closed
  /// The scene of a new, a stored or a closed window is being made.
  case opening, connecting, reopening
  /// The window has a scene.
  case connected
  /// The window was discarded, or could not be opened.
  case gone

  /// What happens to a session.
  package enum Event: CaseIterable, Sendable {
    case connect, appear, fail, leave, close, discard
  }

  /// The state after an event; nil if the event changes nothing in this state.
  package func after(_ event: Event) -> SessionState? {
    switch (self, event) {
    case (.new, .connect): .opening
    case (.stored, .connect): .connecting
    case (.closed, .connect): .reopening
    case (.opening, .appear), (.connecting, .appear), (.reopening, .appear): .connected
    case (.opening, .fail): .gone
    case (.connecting, .fail): .stored
    case (.reopening, .fail): .closed
    case (.connected, .leave): .stored
    case (.connected, .close), (.stored, .close): .closed
    case (.new, .discard), (.gone, .discard): nil
    case (_, .discard): .gone
    default: nil
    }
  }

  /// Whether the window comes back in the next launch.
  var isOpen: Bool { [.stored, .opening, .connecting, .connected].contains(self) }

  /// Whether the window was closed, and nobody has opened it again.
  var isClosed: Bool { self == .closed || self == .reopening }
}
