/// A source file with several mutants in it, each behind a switch of its own.
///
/// Each change is chosen when the code runs, so one build holds all of them. The changed half of a
/// switch holds the text as it was, because no two switches are ever on at once.
package struct Schemata: Sendable {
  /// What to compile.
  package let text: String
  private let places: [(range: Range<Int>, number: Int)]

  /// Puts the mutants of a file into its text.
  ///
  /// - Parameters:
  ///   - mutants: The mutants by their numbers; all of this file.
  ///   - source: What is in the file.
  package init(_ mutants: [Int: Mutant], in source: String) {
    var edits = mutants.flatMap { number, mutant in
      mutant.edits.map { NumberedEdit(number: number, edit: $0) }
    }
    edits.sort()
    var renderer = Renderer(source: Array(source.utf8))
    renderer.render(0..<renderer.source.count, edits[...])
    text = String(decoding: renderer.output, as: UTF8.self)
    places = renderer.places
  }

  /// The mutants that an error of the compiler is about: the innermost one there, or the nearest
  /// ones if there is none.
  ///
  /// - Parameters:
  ///   - line: The line in `text`, counted from 1.
  ///   - column: The column in bytes, counted from 1.
  /// - Returns: Their numbers; empty only if the file has no mutants.
  package func mutants(atLine line: Int, column: Int) -> Set<Int> {
    let bytes = Array(text.utf8)
    let newline = UInt8(ascii: "\n")
    var starts = [0]
    for (offset, byte) in bytes.enumerated() where byte == newline { starts.append(offset + 1) }
    guard starts.indices.contains(line - 1) else { return [] }
    let offset = starts[line - 1] + column - 1
    let around = places.filter { $0.range.contains(offset) }
    if let innermost = around.min(by: { $0.range.count < $1.range.count }) {
      return [innermost.number]
    }
    func distance(_ range: Range<Int>) -> Int {
      let first = starts.count { $0 <= range.lowerBound }
      let last = starts.count { $0 < range.upperBound }
      return first > line ? first - line : max(0, line - last)
    }
    let nearest = places.map { distance($0.range) }.min()
    return Set(places.filter { distance($0.range) == nearest }.map(\.number))
  }
}

/// Ordered so that what is outside comes before what is in it.
private struct NumberedEdit: Comparable {
  let number: Int
  let edit: Edit

  static func < (left: NumberedEdit, right: NumberedEdit) -> Bool {
    left.key < right.key
  }

  private var key: (start: Int, isInside: Int, end: Int, number: Int) {
    let range = edit.range
    return (range.lowerBound, range.isEmpty ? 0 : 1, -range.upperBound, number)
  }
}

private struct Renderer {
  let source: [UInt8]
  var output: [UInt8] = []
  var places: [(range: Range<Int>, number: Int)] = []

  mutating func render(_ range: Range<Int>, _ edits: ArraySlice<NumberedEdit>) {
    var position = range.lowerBound
    var rest = edits
    while let next = rest.popFirst() {
      let inner = rest.prefix { $0.edit.range.upperBound <= next.edit.range.upperBound }
      rest = rest.dropFirst(inner.count)
      output += source[position..<next.edit.range.lowerBound]
      let start = output.count
      render(next, inner)
      places.append((start..<output.count, next.number))
      position = next.edit.range.upperBound
    }
    output += source[position..<range.upperBound]
  }

  private mutating func render(_ next: NumberedEdit, _ inner: ArraySlice<NumberedEdit>) {
    let isOn = "\(MutantSwitch.function)(\(next.number))"
    switch next.edit.form {
    case .choose(let text):
      output += "(\(isOn) ? (\(text)) : (".utf8
      render(next.edit.range, inner)
      output += "))".utf8
    case .skip:
      output += "if !\(isOn) { ".utf8
      render(next.edit.range, inner)
      output += " }".utf8
    case .insert(let text, let then):
      output += "if \(isOn) { \(text) }\n\(then)".utf8
      render(next.edit.range, inner)
    }
  }
}
