#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#else
import Glibc
#endif

/// How the terminal treats what is typed: line by line for a shell, and byte by byte for the catalog.
struct TerminalMode {
  private static let unfitNames = ["", "dumb"]

  /// Whether the terminal was found as a program leaves it that was killed.
  let wasLeftRaw: Bool
  private let usual: termios

  /// Reads the mode of the terminal, and changes nothing.
  init(environment: [String: String]) throws(TerminalError) {
    var found = termios()
    guard isatty(STDOUT_FILENO) == 1, unsafe tcgetattr(STDIN_FILENO, &found) == 0 else {
      throw .notATerminal
    }
    guard !Self.unfitNames.contains(environment["TERM"] ?? "") else { throw .cursorFixed }
    wasLeftRaw = found.c_lflag & tcflag_t(ICANON) == 0
    usual = wasLeftRaw ? found.takingLines : found
  }

  func enterRawMode() {
    var raw = usual
    unsafe cfmakeraw(&raw)
    unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, &raw)
  }

  func restore() {
    var usual = usual
    unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &usual)
  }
}

extension termios {
  /// The opposite of what `cfmakeraw` does, as in `stty sane`.
  fileprivate var takingLines: termios {
    var modes = self
    modes.c_iflag |= tcflag_t(BRKINT | ICRNL | IXON)
    modes.c_oflag |= tcflag_t(OPOST | ONLCR)
    modes.c_lflag |= tcflag_t(ICANON | ECHO | ECHOE | ECHOK | ISIG | IEXTEN)
    return modes
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
