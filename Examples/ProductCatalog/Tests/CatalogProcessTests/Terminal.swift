import Foundation

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A terminal without a window: what is typed at one end is what a program reads at the other.
final class Terminal {
  private let typist: FileHandle
  let program: FileHandle
  private var received = Data()

  init() throws {
    var ends: (typist: Int32, program: Int32) = (-1, -1)
    guard unsafe openpty(&ends.typist, &ends.program, nil, nil, nil) == 0 else {
      throw POSIXError(.ENODEV)
    }
    typist = FileHandle(fileDescriptor: ends.typist, closeOnDealloc: true)
    program = FileHandle(fileDescriptor: ends.program, closeOnDealloc: true)
    _ = fcntl(ends.typist, F_SETFL, O_NONBLOCK)
  }

  func type(_ text: String) throws {
    try typist.write(contentsOf: Data(text.utf8))
  }

  /// Everything that was written to the terminal so far.
  var output: String {
    var bytes = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = unsafe read(typist.fileDescriptor, &bytes, bytes.count)
      guard count > 0 else { return String(decoding: received, as: UTF8.self) }
      received += bytes[..<count]
    }
  }

  /// What was written after the first characters.
  func output(after length: Int) -> String { String(output.dropFirst(length)) }

  /// Whether keys come one by one, as programs with screens want it.
  var isRaw: Bool { modes.c_lflag & tcflag_t(ICANON) == 0 }

  /// Whether lines can be typed: they are seen, Enter ends them, and Ctrl-C interrupts.
  var takesLines: Bool {
    let local = tcflag_t(ICANON | ECHO | ISIG)
    return modes.c_lflag & local == local && modes.c_iflag & tcflag_t(ICRNL) != 0
      && modes.c_oflag & tcflag_t(OPOST) != 0
  }

  /// Makes the terminal take lines, as a shell does when it gets it back.
  func takeLines() {
    var modes = modes
    modes.c_lflag |= tcflag_t(ICANON | ECHO | ISIG)
    unsafe tcsetattr(program.fileDescriptor, TCSANOW, &modes)
  }

  /// Takes lines without showing them, as programs do that ask for a password.
  func stopEchoing() {
    var modes = modes
    modes.c_lflag &= ~tcflag_t(ECHO)
    unsafe tcsetattr(program.fileDescriptor, TCSANOW, &modes)
  }

  private var modes: termios {
    var modes = termios()
    unsafe tcgetattr(program.fileDescriptor, &modes)
    return modes
  }
}
