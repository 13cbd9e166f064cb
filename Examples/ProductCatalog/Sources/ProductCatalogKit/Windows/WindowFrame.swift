/// Draws all windows; where there is no room for them, only the one with the focus.
@MainActor package struct WindowFrame {
  let size: Size

  package init(size: Size) {
    self.size = size
  }

  /// The part of the terminal that belongs to the screen with the focus.
  func bodySize(_ windows: Windows) -> Size {
    ScreenFrame(size: focusedArea(windows).size).bodySize
  }

  package func draw(_ windows: Windows, notice: String? = nil) -> Canvas {
    var canvas = Canvas(size: size)
    let areas = WindowLayout(size: size, count: windows.all.count).areas
    for (window, area) in zip(windows.all, areas ?? []) where window !== windows.focused {
      let frame = ScreenFrame(size: area.size, isFocused: false)
      canvas.place(frame.draw(window.navigation), at: area.origin)
    }
    if let focused = windows.focused {
      let area = focusedArea(windows)
      let frame = ScreenFrame(size: area.size)
      // The last one that is placed has the cursor.
      canvas.place(frame.draw(focused.navigation), at: area.origin)
      // Over the whole width, because below a narrow window there is room for few keys.
      StatusLine(windows, showsAll: areas != nil).draw(
        into: &canvas, at: frame.belowBody(from: area.origin))
    }
    if let notice { canvas.coverLastRows(with: notice, from: 1) }
    return canvas
  }

  private func focusedArea(_ windows: Windows) -> (origin: Position, size: Size) {
    let areas = WindowLayout(size: size, count: windows.all.count).areas
    guard let areas, let index = windows.all.firstIndex(where: { $0 === windows.focused }) else {
      return (Position(row: 0, column: 0), size)
    }
    return areas[index]
  }
}
