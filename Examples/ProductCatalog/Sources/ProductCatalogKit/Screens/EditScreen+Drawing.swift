import CatalogModel

/// Where the fields of the edit screen are.
///
/// They have boxes around them if there is room.
struct EditLayout {
  private static let smallestBoxed = Size(columns: 30, rows: 8)

  let size: Size

  var isBoxed: Bool {
    size.columns >= Self.smallestBoxed.columns && size.rows >= Self.smallestBoxed.rows
  }

  var textColumns: Int { max(1, isBoxed ? size.columns - 4 : size.columns) }

  /// The rows of each field, with its box, but without the last row, which is for messages.
  func rows(ofField index: Int) -> Range<Int> {
    let titleRows = min(isBoxed ? 3 : 1, size.rows)
    let end = isBoxed ? size.rows - 1 : size.rows
    return index == 0 ? 0..<titleRows : titleRows..<max(titleRows, end)
  }
}

extension EditScreen {
  private static let question = "Save? Ctrl-S saves, Ctrl-D discards, Esc keeps editing."

  package func draw(into canvas: inout Canvas) {
    var fields = Canvas(size: fieldsSize(in: canvas.size))
    drawFields(into: &fields)
    canvas.place(fields, at: Position(row: 0, column: 0))
    shownTheirs = nil
    if let panel = panel(columns: canvas.size.columns),
      panel.draw(into: &canvas, rows: fields.size.rows..<canvas.size.rows)
    {
      shownTheirs = panel.theirs
    }
    if isAskingToLeave {
      canvas.cursor = nil
      canvas.coverLastRows(with: Self.question)
    } else if let failure, edit.theirs == nil {
      canvas.coverLastRows(with: failure)
    }
  }

  /// The words of others, which are below the fields while the user is to choose.
  private func panel(columns: Int) -> ChangedMeanwhile? {
    guard !isAskingToLeave, let theirs = edit.theirs else { return nil }
    return ChangedMeanwhile(theirs, columns: columns)
  }

  /// The room for the fields.
  func fieldsSize(in size: Size) -> Size {
    let rows = panel(columns: size.columns)?.rows(of: size.rows) ?? 0
    return Size(columns: size.columns, rows: size.rows - rows)
  }

  private func drawFields(into canvas: inout Canvas) {
    let layout = EditLayout(size: canvas.size)
    var cursor: Position?
    for (index, field) in fields.enumerated() {
      let rows = layout.rows(ofField: index)
      let isActive = index == activeFieldIndex
      if layout.isBoxed { drawBox(of: field, rows: rows, isActive: isActive, into: &canvas) }
      let margin = layout.isBoxed ? 1 : 0
      let size = Size(columns: layout.textColumns, rows: max(0, rows.count - 2 * margin))
      let text = field.drawing(size: size, isActive: isActive)
      canvas.place(text, at: Position(row: rows.lowerBound + margin, column: 2 * margin))
      cursor = cursor ?? canvas.cursor
    }
    canvas.cursor = cursor
  }

  private func drawBox(
    of field: EditField, rows: Range<Int>, isActive: Bool, into canvas: inout Canvas
  ) {
    canvas.box(rows: rows, isActive ? .accent : .dim)
    let name = isActive ? " ▸ \(field.name) " : " \(field.name) "
    let labelStyle: Style = isActive ? [.accent, .bold] : .dim
    canvas.draw(name, at: Position(row: rows.lowerBound, column: 2), labelStyle)
    guard isActive else { return }
    let place = " \(field.place(columns: canvas.size.columns - 4)) "
    let column = canvas.size.columns - 2 - place.columns
    guard column > name.columns + 3 else { return }
    canvas.draw(place, at: Position(row: rows.lowerBound, column: column), .dim)
  }
}
