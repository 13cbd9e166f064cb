/// Text broken into lines of a given width, at spaces where there are any.
///
/// Spaces that do not fit hang over the edge of their line, so that no line starts with them.
struct TextLayout {
  /// The characters of each line.
  ///
  /// A line break belongs to no line.
  private(set) var lines: [Range<Int>] = []
  private let characters: [Character]

  init(_ characters: [Character], columns: Int) {
    self.characters = characters
    var start = 0
    while let next = breakLine(from: start, columns: max(2, columns)) { start = next }
  }

  init(_ text: String, columns: Int) {
    self.init(Array(text), columns: columns)
  }

  var texts: [String] {
    lines.map { String(characters[$0]) }
  }

  private mutating func breakLine(from start: Int, columns limit: Int) -> Int? {
    var used = 0
    var afterSpace: Int?
    for index in start..<characters.count {
      let character = characters[index]
      if character.isNewline {
        lines.append(start..<index)
        return index + 1
      }
      used += character.columns
      if character == " " {
        afterSpace = index + 1
      } else if used > limit {
        lines.append(start..<(afterSpace ?? index))
        return afterSpace ?? index
      }
    }
    lines.append(start..<characters.count)
    return nil
  }
}

extension TextLayout {
  /// The line and column at which a character, or the end of the text, is drawn.
  func position(ofOffset offset: Int) -> Position {
    let row = lines.lastIndex { $0.lowerBound <= offset } ?? 0
    let before = lines[row].lowerBound..<min(max(offset, lines[row].lowerBound), characters.count)
    return Position(row: row, column: characters[before].reduce(0) { $0 + $1.columns })
  }

  /// The offset drawn nearest to a position, on the position's line.
  func offset(at position: Position) -> Int {
    let line = lines[min(max(0, position.row), lines.count - 1)]
    var column = 0
    for index in line {
      column += characters[index].columns
      if column > position.column { return index }
    }
    return endOffset(ofLineAt: line.lowerBound)
  }

  func startOffset(ofLineAt offset: Int) -> Int {
    lines[position(ofOffset: offset).row].lowerBound
  }

  /// The last offset of a line: before its last character where the next line goes straight on.
  func endOffset(ofLineAt offset: Int) -> Int {
    let row = position(ofOffset: offset).row
    let end = lines[row].upperBound
    let goesOn = row + 1 < lines.count && lines[row + 1].lowerBound == end
    return goesOn ? max(lines[row].lowerBound, end - 1) : end
  }
}
