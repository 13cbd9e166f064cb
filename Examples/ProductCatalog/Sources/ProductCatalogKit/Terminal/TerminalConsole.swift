import Foundation

/// The terminal the program was started in.
@MainActor package final class TerminalConsole: Console {
  private static let enterScreen = "\u{1B}[?1049h\u{1B}[?25l"
  private static let leaveScreen = "\u{1B}[0m\u{1B}[?25h\u{1B}[?1049l"

  package private(set) var size = Size.ofTerminal
  private let mode: TerminalMode
  private let reader: InputReader
  private var shown: Canvas?

  /// Takes the terminal over.
  ///
  /// Call ``close()`` to give it back.
  init(_ mode: TerminalMode) throws(TerminalError) {
    guard let signals = Signals.openPipe() else { throw .noPipe }
    self.mode = mode
    reader = InputReader(signals: signals)
    open()
    Thread.detachNewThread { [reader] in reader.run() }
  }

  private func open() {
    mode.enterRawMode()
    OutputDescriptor.standardOutput.write(Self.enterScreen)
    size = .ofTerminal
    shown = nil
  }

  package func suspend() {
    close()
    Signals.stopJob()
    open()
  }

  package func close() {
    Self.giveBack(mode)
  }

  /// Makes the terminal what a shell expects, whatever it is now.
  static func giveBack(_ mode: TerminalMode) {
    OutputDescriptor.standardOutput.write(leaveScreen)
    mode.restore()
  }

  package func show(_ canvas: Canvas) {
    OutputDescriptor.standardOutput.write(canvas.ansi(after: shown))
    shown = canvas
  }

  package func nextEvents() async -> [InputEvent]? {
    if let signal = Signals.ending { return [.terminated(signal: signal)] }
    let events = await reader.nextEvents()
    for event in events ?? [] {
      switch event {
      case .resized(let size):
        self.size = size
        shown = nil
      // A shell may have used the terminal meanwhile, also when SIGSTOP came without a warning.
      case .continued: open()
      default: break
      }
    }
    return events
  }
}

/// Why the terminal cannot be used.
package enum TerminalError: Error, Hashable, Sendable {
  case notATerminal
  case cursorFixed
  case noPipe
}

extension TerminalError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .notATerminal:
      "The catalog needs a terminal to show its screens on. Without one, use --script FILE."
    case .cursorFixed:
      "The catalog needs a terminal that can move its cursor, and TERM names none."
        + " Without one, use --script FILE."
    case .noPipe: "The system has no file descriptor left for the catalog."
    }
  }
}
