/// Keys to press and pauses to make, written as words with spaces between them.
///
/// A word is the name of a key (`down`, `enter`, `ctrl-s`), a single character, or one of
/// `text:"hello"`, `wait:200ms`, `resize:100x30` and `screen`. `down*5` presses a key five times,
/// `text` comes at once as a pasted text does, and `#` starts a comment that ends with the line.
package struct Script: Hashable, Sendable {
  package enum Step: Hashable, Sendable {
    case key(Key)
    /// Keys that come at once, as those of a text that is pasted do.
    case paste([Key])
    case wait(Duration)
    case resize(Size)
    case snapshot
  }

  package let steps: [Step]

  package init(_ text: String) throws(ScriptError) {
    var reader = ScriptReader(text)
    var steps: [Step] = []
    while let word = try reader.nextWord() {
      guard let meaning = Self.steps(for: word) else {
        throw ScriptError(line: reader.line, problem: .unknownWord(word.text))
      }
      steps += meaning
    }
    self.steps = steps
  }

  private static func steps(for word: ScriptWord) -> [Step]? {
    switch word.prefix {
    case "text": word.value.map { [.paste(keys(typing: $0))] }
    case "wait": word.value.flatMap { duration($0) }.map { [.wait($0)] }
    case "resize": word.value.flatMap { Size($0) }.map { [.resize($0)] }
    default: word.text == "screen" ? [.snapshot] : presses(word.text)
    }
  }

  private static func keys(typing text: String) -> [Key] {
    text.map { character in
      switch character {
      case "\n": .enter
      case "\t": .tab
      default: .text(String(character))
      }
    }
  }

  private static func presses(_ word: String) -> [Step]? {
    if let key = Key(named: word) { return [.key(key)] }
    let parts = word.split(separator: "*")
    guard parts.count == 2, let key = Key(named: String(parts[0])),
      let times = Int(parts[1]), (1...10_000).contains(times)
    else { return nil }
    return Array(repeating: .key(key), count: times)
  }

  private static func duration(_ text: String) -> Duration? {
    let digits = text.prefix(while: \.isWholeNumber)
    guard let number = Int(digits), number <= 1_000_000 else { return nil }
    switch text.dropFirst(digits.count) {
    case "ms": return .milliseconds(number)
    case "s": return .seconds(number)
    default: return nil
    }
  }
}
