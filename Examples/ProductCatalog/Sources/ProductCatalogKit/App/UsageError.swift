/// What is wrong with the command line.
package enum UsageError: Error, Hashable, Sendable {
  case unknownOption(String)
  case missingValue(String)
  case malformedSize(String)
  case needsScript(String)
  case scriptUnreadable(String)
  case screenLogUnwritable(String)
  case noBundledProducts
}

extension UsageError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .unknownOption(let option): "There is no option \(option). Try --help."
    case .missingValue(let option): "The option \(option) needs a value."
    case .malformedSize(let text): "“\(text)” is not a size such as 80x24."
    case .needsScript(let option): "The option \(option) goes with --script only."
    case .scriptUnreadable(let path): "The script \(path) cannot be read."
    case .screenLogUnwritable(let path): "The screen log \(path) cannot be written."
    case .noBundledProducts: "The products that come with the program are missing."
    }
  }
}
