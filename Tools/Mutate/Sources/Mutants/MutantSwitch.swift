/// What is compiled into a module with mutants, to turn one of them on.
package enum MutantSwitch {
  static let function = "__mutant"

  /// What the environment of a process says about mutants.
  package enum Setting {
    /// One mutant is on. The process ends itself after so many seconds, even if it is the child of a
    /// test and loops for ever when that is gone. A signal would not do: threads may block it.
    case on(Int, seconds: Int)
    /// None is on, and the numbers of those that are reached are added to a file, a line each.
    case tracing(file: String)

    /// The name of the environment variable.
    package static let variable = "MUTANT"

    /// The exit status of a process whose seconds are over.
    package static let tooLong: Int32 = 142

    /// The value of the environment variable.
    package var value: String {
      switch self {
      case .on(let number, let seconds): "\(number) \(seconds)"
      case .tracing(let file): "trace \(file)"
      }
    }
  }

  /// The code of the function that tells whether a mutant is on.
  ///
  /// It is public because an argument that a public function has by default may hold a mutant.
  ///
  /// - Parameter count: One more than the highest number of a mutant.
  /// - Returns: The text of a file for the module.
  package static func source(count: Int) -> String {
    """
    internal import Foundation

    public func \(function)(_ number: Int) -> Bool {
      if number == MutantSwitch.chosen { return true }
      if MutantSwitch.trace >= 0 { MutantSwitch.noteReached(number) }
      return false
    }

    private enum MutantSwitch {
      private static let words = (getenv("\(Setting.variable)").map { String(cString: $0) } ?? "")
        .split(separator: " ", maxSplits: 1).map(String.init)

      static let chosen: Int = {
        guard words.count == 2, let number = Int(words[0]), let seconds = Double(words[1])
        else { return -1 }
        Thread.detachNewThread {
          Thread.sleep(forTimeInterval: seconds)
          _exit(\(Setting.tooLong))
        }
        return number
      }()

      static let trace: Int32 = words.count == 2 && words[0] == "trace"
        ? open(words[1], O_WRONLY | O_APPEND | O_CREAT, 0o600) : -1

      // Two threads may both find a mutant new: then it is written twice, which does no harm.
      private nonisolated(unsafe) static let reached: UnsafeMutablePointer<Bool> = {
        let reached = UnsafeMutablePointer<Bool>.allocate(capacity: \(count))
        reached.initialize(repeating: false, count: \(count))
        return reached
      }()

      static func noteReached(_ number: Int) {
        guard !reached[number] else { return }
        reached[number] = true
        let line = "\\(number)\\n"
        _ = line.withCString { write(trace, $0, strlen($0)) }
      }
    }

    """
  }
}
