import Foundation
#if canImport(FoundationInternationalization)
import FoundationInternationalization
#endif
package import RestorationKit

/// The state of all windows as it was at one time.
package typealias EarlierWindows = Moment

extension EarlierWindows {
  fileprivate var text: String {
    switch reason {
    case .session, .version, .replaced: "at the start"
    case .putBack: "before going back"
    case .crashed, .unread, .conflict, .damaged: "could not be opened"
    }
  }
}

/// The windows of earlier launches, to go back to.
///
/// It has no identifier, so it is gone after a kill.
@MainActor package final class EarlierScreen {
  package let sessions: [EarlierWindows]
  package private(set) var selected = 0
  /// Why windows are not open again, in a sentence.
  package internal(set) var problem: String?

  package init(_ sessions: [EarlierWindows]) {
    self.sessions = sessions
  }

  private func window(rows: Int) -> ListWindow { ListWindow(count: sessions.count, rows: rows) }
}

extension EarlierScreen: @MainActor Screen {
  package var restorationIdentifier: String? { nil }

  package var title: String { "Earlier windows" }

  package var note: Note? { nil }

  package var keyHints: [KeyHint] {
    [KeyHint("↑↓", "Move"), KeyHint("Enter", "Open again"), KeyHint("Esc", "Back")]
  }

  package func handle(_ key: Key, size: Size) -> ScreenResponse {
    let window = window(rows: size.rows)
    switch key {
    case .up: selected = window.clampedRow(selected - 1)
    case .down: selected = window.clampedRow(selected + 1)
    case .home: selected = 0
    case .end: selected = window.clampedRow(.max)
    case .enter where sessions.indices.contains(selected): return .putBack(sessions[selected], self)
    case .escape, .backspace: return .pop
    case .text("q"): return .quit
    default: break
    }
    return .stay
  }

  package func draw(into canvas: inout Canvas) {
    guard !sessions.isEmpty else {
      canvas.draw("Nothing is kept of earlier launches.", at: Position(row: 0, column: 2), .dim)
      return
    }
    let window = window(rows: canvas.size.rows)
    let visible = window.visible(from: window.offset(nearest: 0, showing: selected))
    for row in visible {
      let (session, isSelected) = (sessions[row], row == selected)
      let date = session.date.formatted(date: .abbreviated, time: .shortened)
      let text = "\(date)  \(session.text)"
      canvas.draw(
        (isSelected ? "▸ " : "  ") + text.fitting(columns: canvas.size.columns - 3),
        at: Position(row: row - visible.lowerBound, column: 0), isSelected ? .reverse : [])
    }
    canvas.scrollBar(
      rows: 0..<canvas.size.rows, offset: visible.lowerBound, count: sessions.count)
    if let problem { canvas.coverLastRows(with: problem) }
  }
}
