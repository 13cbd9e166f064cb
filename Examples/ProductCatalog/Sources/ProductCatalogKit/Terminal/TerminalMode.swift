#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// How the terminal treats what is typed: as it was found, and byte by byte for the catalog.
struct TerminalMode {
  private let found: termios

  /// Reads the mode of standard input; nil if that is not a terminal.
  init?() {
    var found = termios()
    guard isatty(STDOUT_FILENO) == 1, unsafe tcgetattr(STDIN_FILENO, &found) == 0 else {
      return nil
    }
    self.found = found
  }

  func enterRawMode() {
    var raw = found
    unsafe cfmakeraw(&raw)
    unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, &raw)
  }

  func restore() {
    var found = found
    unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &found)
  }
}

extension Size {
  private static let usual = Size(columns: 80, rows: 24)

  /// The size of the terminal, or the usual one where the terminal does not tell.
  static var ofTerminal: Size {
    var window = winsize()
    guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0,
      window.ws_row > 0
    else { return usual }
    return Size(columns: Int(window.ws_col), rows: Int(window.ws_row))
  }
}
