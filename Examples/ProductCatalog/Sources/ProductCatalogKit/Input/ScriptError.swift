/// What is wrong with a script, and on which of its lines.
package struct ScriptError: Error, Hashable, Sendable {
  package enum Problem: Hashable, Sendable {
    case unknownWord(String)
    case unknownEscape
    case unclosedQuote
  }

  package let line: Int
  package let problem: Problem

  package init(line: Int, problem: Problem) {
    self.line = line
    self.problem = problem
  }
}

extension ScriptError: CustomStringConvertible {
  package var description: String {
    "Line \(line) of the script: \(problem.sentence)"
  }
}

extension ScriptError.Problem {
  fileprivate var sentence: String {
    switch self {
    case .unknownWord(let word): "there is no key or command named “\(word)”."
    case .unknownEscape: "a backslash is followed by one of n, t, \" and \\."
    case .unclosedQuote: "a quoted text has no end."
    }
  }
}
