/// The line below the window with the focus: which of the windows it is, and what keys do.
@MainActor struct StatusLine {
  private static let gap = 2

  private let place: String?
  private let hints: [KeyHint]

  /// - Parameters:
  ///   - windows: The windows.
  ///   - showsAll: Whether all of them are seen, so that their places need no words.
  init(_ windows: Windows, showsAll: Bool) {
    let count = windows.all.count
    let index = windows.all.firstIndex { $0 === windows.focused }
    place = showsAll ? nil : index.map { "Window \($0 + 1) of \(count)" }
    let leaving = [KeyHint("Ctrl-O", "Next window"), KeyHint("Ctrl-W", "Close it")]
    let opening = [KeyHint("Ctrl-N", "New window")]
    hints =
      (count > 1 ? leaving : []) + (windows.focused?.navigation.top.keyHints ?? [])
      + (count < Windows.limit ? opening : [])
  }

  /// Draws as much as there is room for, but nothing in the first row, which says where you are.
  func draw(into canvas: inout Canvas, at start: Position) {
    guard start.row > 0 else { return }
    var position = start
    if let place {
      position.column = canvas.draw(place, at: position, .bold) + Self.gap
    }
    for hint in hints(fitting: canvas.size.columns - position.column) {
      position.column = canvas.draw(hint.key, at: position, .bold)
      position.column = canvas.draw(" \(hint.action)", at: position, .dim) + Self.gap
    }
  }

  /// The first of the hints, with short names of keys if not all fit with their long ones.
  private func hints(fitting columns: Int) -> [KeyHint] {
    guard Self.columns(hints) > columns else { return hints }
    var hints = hints.map(\.withShortKey)
    while Self.columns(hints) > columns, !hints.isEmpty { hints.removeLast() }
    return hints
  }

  private static func columns(_ hints: [KeyHint]) -> Int {
    hints.reduce(-gap) { $0 + $1.key.columns + 1 + $1.action.columns + gap }
  }
}

extension KeyHint {
  fileprivate var withShortKey: KeyHint {
    KeyHint(key.replacing("Ctrl-", with: "^"), action)
  }
}
