/// What is wrong with the files that the command line names.
package enum UsageError: Error, Hashable, Sendable {
  case scriptUnreadable(String)
  case screenLogUnwritable(String)
  case noBundledProducts
}

extension UsageError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .scriptUnreadable(let path): "The script \(path) cannot be read."
    case .screenLogUnwritable(let path): "The screen log \(path) cannot be written."
    case .noBundledProducts: "The products that come with the program are missing."
    }
  }
}
