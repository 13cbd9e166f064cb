internal import Dispatch
internal import Synchronization

internal import RestorationLibc

/// Says each problem once: to the closure of the app, or in a debug build to stderr.
///
/// A process has one stderr, so all keepers share this state.
package enum Problems {
  /// The facts that decide where a problem is said.
  package struct Facts: Hashable, Sendable {
    /// Whether the app, or a test, has set a closure.
    package var hasClosure: Bool
    package var isDebugBuild: Bool
    /// Whether stderr was open when the process began.
    ///
    /// Otherwise its number may be that of any file by now, also of a document of the user.
    package var wasOpen: Bool
    /// Whether the process runs tests.
    package var isTesting: Bool
    /// Whether stderr is a terminal on which a program draws the whole screen.
    package var isRaw: Bool

    package init(
      hasClosure: Bool, isDebugBuild: Bool, wasOpen: Bool, isTesting: Bool, isRaw: Bool
    ) {
      (self.hasClosure, self.isDebugBuild, self.wasOpen) = (hasClosure, isDebugBuild, wasOpen)
      (self.isTesting, self.isRaw) = (isTesting, isRaw)
    }
  }

  /// The place where a problem is said.
  package enum Place: Hashable, Sendable {
    case closure
    case stderr
    /// On stderr, when the terminal is back in its usual mode or the process ends.
    case stderrLater
    case nowhere
  }

  package static func place(_ facts: Facts) -> Place {
    if facts.hasClosure { return .closure }
    guard facts.isDebugBuild, facts.wasOpen, !facts.isTesting else { return .nowhere }
    return facts.isRaw ? .stderrLater : .stderr
  }

  private struct State {
    var closure: (@Sendable (String) -> Void)?
    /// The problems that were said.
    var said: Set<String> = []
    /// The lines that wait for the terminal.
    var waiting: [String] = []

    mutating func isNew(_ problem: String) -> Bool {
      // A process that runs for long must not grow with problems.
      if said.count >= 1000 { said = [] }
      return said.insert(problem).inserted
    }
  }

  private static let state = Mutex(State())

  /// The closure that hears problems in place of stderr; a new one hears each problem again.
  static var closure: (@Sendable (String) -> Void)? {
    get { state.withLock(\.closure) }
    set { state.withLock { ($0.closure, $0.said) = (newValue, []) } }
  }

  /// Whether anybody is told of a problem; otherwise nobody need look for one.
  static var isHeard: Bool { place(facts(isRaw: false)) != .nowhere }

  /// Says problems that were not said yet.
  static func say(_ problems: @autoclosure () -> [String]) {
    guard isHeard else { return }
    for problem in problems() { say(oneLine(problem)) }
  }

  private static func say(_ problem: String) {
    let place = place(facts(isRaw: isDebugBuild && isRaw))
    let (isNew, isFirst, closure) = state.withLock { state in
      let isNew = state.isNew(problem)
      if isNew, place == .stderr || place == .stderrLater {
        state.waiting.append("RestorationKit: \(problem)")
      }
      return (isNew, state.waiting.count == 1, state.closure)
    }
    guard isNew else { return }
    switch place {
    case .closure: closure?(problem)
    case .stderr: printWaiting()
    // With lines before it a timer waits already.
    case .stderrLater: if isFirst { watchTerminal() }
    case .nowhere: break
    }
  }

  /// A problem as it is printed: a name may hold a line break, or a command to the terminal.
  private static func oneLine(_ problem: String) -> String {
    let longest = 1000
    let line = problem.split(whereSeparator: \.isNewline).joined(separator: " ")
    let text = String(
      String.UnicodeScalarView(
        line.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
    return text.count > longest ? text.prefix(longest) + "…" : text
  }

  // MARK: stderr

  private static func facts(isRaw: Bool) -> Facts {
    Facts(
      hasClosure: state.withLock { $0.closure != nil }, isDebugBuild: isDebugBuild,
      wasOpen: wasOpen, isTesting: isTesting, isRaw: isRaw)
  }

  #if DEBUG
  static let isDebugBuild = true
  #else
  static let isDebugBuild = false
  #endif

  /// Found by the names that their types have in a program, since the library has nothing of them.
  private static let isTesting =
    ["6XCTest0A4CaseC", "7Testing4TestV"].contains { _typeByName($0) != nil }

  private static let wasOpen = flagsOfStderr() >= 0

  private static var isRaw: Bool {
    var mode = termios()
    return unsafe tcgetattr(STDERR_FILENO, &mode) == 0 && mode.c_lflag & tcflag_t(ICANON) == 0
  }

  /// Prints the lines that wait at the end of the process.
  static func printAtEnd() { _ = hasEnd }

  private static let hasEnd = atexit { Problems.printWaiting() } == 0

  /// Prints the lines that wait for the terminal.
  static func printWaiting() {
    let lines = state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
    guard !lines.isEmpty else { return }
    // A terminal in raw mode does not go to the first column by itself.
    let end = isRaw ? "\r\n" : "\n"
    for line in lines { printLine(line + end) }
  }

  /// Looks now and then whether the terminal is back in its usual mode.
  private static func watchTerminal() {
    printAtEnd()
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .milliseconds(200)) {
      if isRaw { watchTerminal() } else { printWaiting() }
    }
  }

  /// Prints a line if that is possible without waiting, and without a signal that ends the process.
  private static func printLine(_ line: String) {
    var request = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
    guard unsafe poll(&request, 1, 0) == 1, request.revents & Int16(POLLERR | POLLNVAL) == 0 else {
      return
    }
    var line = line
    // A line is shorter than what a pipe takes as a whole.
    line.withUTF8 { bytes in _ = unsafe write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
  }
}

#if DEBUG && compiler(>=6.3) && os(Linux)
// The system calls the function before `main`. Later the number of stderr may have been taken by
// any file.
@section(".data")
@used
nonisolated(unsafe) private var flagsAtStart: Int32 = 0
private func flagsOfStderr() -> Int32 { unsafe flagsAtStart }
@section(".init_array")
@used
private let noteFlags: @convention(c) () -> Void = {
  unsafe flagsAtStart = fcntl(STDERR_FILENO, F_GETFD)
}
#else
private func flagsOfStderr() -> Int32 { fcntl(STDERR_FILENO, F_GETFD) }
#endif
