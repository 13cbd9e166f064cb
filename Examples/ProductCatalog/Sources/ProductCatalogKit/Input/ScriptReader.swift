/// A word of a script, and the value after its colon, with quotes and escapes resolved.
struct ScriptWord {
  var text = ""
  var prefix: String?
  var value: String?
}

/// Cuts the text of a script into words.
struct ScriptReader {
  private(set) var line = 1
  private var rest: Substring

  init(_ text: String) {
    rest = Substring(text)
  }

  mutating func nextWord() throws(ScriptError) -> ScriptWord? {
    skipSpaceAndComments()
    guard !rest.isEmpty else { return nil }
    var word = ScriptWord()
    while let character = rest.first, !character.isWhitespace {
      if character == ":", word.prefix == nil, word.text.count > 1 {
        word.prefix = word.text
        rest.removeFirst()
        word.value = try value()
        word.text += ":" + (word.value ?? "")
      } else {
        word.text.append(character)
        rest.removeFirst()
      }
    }
    return word
  }

  private mutating func skipSpaceAndComments() {
    var isComment = false
    while let character = rest.first, isComment || character.isWhitespace || character == "#" {
      isComment = character == "#" || (isComment && !character.isNewline)
      if character.isNewline { line += 1 }
      rest.removeFirst()
    }
  }

  private mutating func value() throws(ScriptError) -> String {
    guard rest.first == "\"" else {
      let plain = rest.prefix { !$0.isWhitespace }
      rest = rest.dropFirst(plain.count)
      return String(plain)
    }
    rest.removeFirst()
    var value = ""
    while let character = rest.popFirst() {
      switch character {
      case "\"": return value
      case "\\": value.append(try escapedCharacter())
      default: value.append(character)
      }
    }
    throw ScriptError(line: line, problem: .unclosedQuote)
  }

  private mutating func escapedCharacter() throws(ScriptError) -> Character {
    switch rest.popFirst() {
    case "n": "\n"
    case "t": "\t"
    case "\"": "\""
    case "\\": "\\"
    default: throw ScriptError(line: line, problem: .unknownEscape)
    }
  }
}
