/// One small change to a source file, which a good test should notice.
package struct Mutant: Hashable, Sendable {
  /// The file, as a path from the root of the package.
  package let file: String
  /// The line where the change begins, counted from 1.
  package let line: Int
  /// The lines of the source that change.
  package let before: String
  /// The same lines with the change.
  package let after: String
  let edits: [Edit]
}

/// What a mutant does at one place of its file.
struct Edit: Hashable {
  enum Form: Hashable {
    /// The expression there is another one.
    case choose(String)
    /// The statement there is left out.
    case skip
    /// A statement comes before what is there. The start of a body that is one expression needs a
    /// `return` after it, because that is no longer the only one.
    case insert(String, then: String = "")
  }

  /// Offsets in the UTF-8 of the file; empty for an insertion.
  let range: Range<Int>
  let form: Form
}

extension Mutant {
  init(_ edits: [Edit], of source: [UInt8], file: String) {
    self.file = file
    self.edits = edits
    let newline = UInt8(ascii: "\n")
    let start = edits.map(\.range.lowerBound).min() ?? 0
    let end = edits.map(\.range.upperBound).max() ?? 0
    line = source[..<start].count { $0 == newline } + 1
    let lineStart = source[..<start].lastIndex(of: newline).map { $0 + 1 } ?? 0
    let lineEnd = source[end...].firstIndex(of: newline) ?? source.count
    before = String(decoding: source[lineStart..<lineEnd], as: UTF8.self)
    var after = ""
    var position = lineStart
    for edit in edits {
      after += String(decoding: source[position..<edit.range.lowerBound], as: UTF8.self)
      switch edit.form {
      case .choose(let text): after += text
      case .skip: break
      case .insert(let text, let then): after += "\(text); \(then)"
      }
      position = edit.range.upperBound
    }
    self.after = after + String(decoding: source[position..<lineEnd], as: UTF8.self)
  }
}
