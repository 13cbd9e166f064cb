import Foundation

/// What the tool writes to its standard output.
final class Output {
  /// Whether a person reads it.
  let isTerminal: Bool
  let style: Style
  private var buffer: [UInt8] = []
  private let descriptor: Int32

  private static let bufferByteCount = 1 << 16

  init(descriptor: Int32 = STDOUT_FILENO) {
    self.descriptor = descriptor
    isTerminal = isatty(descriptor) == 1
    style = Style(isOn: isTerminal && Style.isWanted)
  }

  func write(_ text: String) throws {
    buffer += text.utf8
    if buffer.count >= Self.bufferByteCount { try flush() }
  }

  func line(_ text: String = "") throws {
    try write(text)
    try write("\n")
  }

  /// Writes columns: with tabs between them for a script, with spaces for a person.
  func columns(_ columns: [String], widths: [Int]) throws {
    guard isTerminal else { return try line(columns.joined(separator: "\t")) }
    let padded = zip(columns, widths).map { text, width in
      let padding = String(repeating: " ", count: max(0, abs(width) - Style.width(of: text)))
      return width < 0 ? padding + text : text + padding
    }
    try line((padded + columns.dropFirst(widths.count)).joined(separator: "  "))
  }

  func flush() throws {
    defer { buffer.removeAll(keepingCapacity: true) }
    var start = 0
    while start < buffer.count {
      let count = buffer[start...].withUnsafeBytes { bytes in
        Foundation.write(descriptor, bytes.baseAddress, bytes.count)
      }
      if count < 0 {
        if errno == EINTR { continue }
        if errno == EPIPE { throw ExitStatus.outputClosed }
        throw Failure(.systemFailed, "The output cannot be written: system error \(errno).")
      }
      start += count
    }
  }

  /// Says something to whoever started the tool.
  static func complain(_ text: String) {
    let style = Style(isOn: isatty(STDERR_FILENO) == 1 && Style.isWanted)
    FileHandle.standardError.write(Data("restoration: \(style.bad(text))\n".utf8))
  }
}

/// Tells a person how far a long reading is; silent where no terminal is.
struct Progress {
  private let isOn = isatty(STDERR_FILENO) == 1
  let total: Int

  func callAsFunction(_ count: Int) {
    // Less than these take no time.
    guard isOn, total > 1 << 14 else { return }
    let percent = min(100, count * 100 / max(1, total))
    let end = count >= total ? "\r\u{1B}[K" : ""
    FileHandle.standardError.write(
      Data("\rReading \(count) of \(total) records, \(percent) %\(end)".utf8))
  }

  /// Takes the line away.
  func end() {
    guard isOn, total > 1 << 14 else { return }
    FileHandle.standardError.write(Data("\r\u{1B}[K".utf8))
  }
}
