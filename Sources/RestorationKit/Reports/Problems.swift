internal import Synchronization

internal import RestorationLibc

/// Says each problem once: to the closure of the app, or in a debug build to stderr.
///
/// A process has one stderr, so all keepers share this state.
package enum Problems {
  private struct State {
    var closure: (@Sendable (String) -> Void)?
    /// The problems that were said.
    var said: Set<String> = []
  }

  private static let state = Mutex(State())

  /// The closure that hears problems in place of stderr; a new one hears each problem again.
  static var closure: (@Sendable (String) -> Void)? {
    get { state.withLock(\.closure) }
    set { state.withLock { ($0.closure, $0.said) = (newValue, []) } }
  }

  /// Whether anybody is told of a problem; otherwise nobody need look for one.
  static var isHeard: Bool { closure != nil || isPrinting }

  /// Says problems that were not said yet.
  static func say(_ problems: @autoclosure () -> [String]) {
    if isHeard { tell(problems()) }
  }

  private static func tell(_ problems: [String]) {
    for problem in problems.map(oneLine) {
      let tell = state.withLock { state -> (@Sendable (String) -> Void)? in
        // A process that runs for long must not grow with problems.
        if state.said.count >= 1000 { state.said = [] }
        guard state.said.insert(problem).inserted else { return nil }
        return state.closure ?? (isPrinting ? printLine : nil)
      }
      tell?(problem)
    }
  }

  /// A problem as it is printed: a name may hold a line break, or a command to the terminal.
  private static func oneLine(_ problem: String) -> String {
    let longest = 1000
    let ends: [Unicode.GeneralCategory] = [.control, .lineSeparator, .paragraphSeparator]
    let text = String(
      String.UnicodeScalarView(
        problem.unicodeScalars.map { ends.contains($0.properties.generalCategory) ? " " : $0 }))
    return text.count > longest ? text.prefix(longest) + "…" : text
  }

  // MARK: stderr

  static var isDebugBuild: Bool { _isDebugAssertConfiguration() }

  /// Whether problems that no closure hears are printed: in a debug build, unless it runs tests.
  ///
  /// Those are found by the names that their types have in a program, since the library has nothing of them.
  private static let isPrinting =
    isDebugBuild && !["6XCTest0A4CaseC", "7Testing4TestV"].contains { _typeByName($0) != nil }

  /// Prints a line if that is possible without waiting, and without a signal that ends the process.
  @Sendable private static func printLine(_ problem: String) {
    var request = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
    guard unsafe poll(&request, 1, 0) == 1, request.revents & Int16(POLLERR | POLLNVAL) == 0 else {
      return
    }
    var mode = termios()
    let isRaw = unsafe tcgetattr(STDERR_FILENO, &mode) == 0 && mode.c_lflag & tcflag_t(ICANON) == 0
    // A terminal in raw mode does not go to the first column by itself.
    var line = "RestorationKit: \(problem)" + (isRaw ? "\r\n" : "\n")
    // A line is shorter than what a pipe takes as a whole.
    line.withUTF8 { bytes in _ = unsafe write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
  }
}
