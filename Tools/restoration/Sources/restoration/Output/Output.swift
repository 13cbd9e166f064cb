import Foundation

/// What the tool writes to its standard output.
final class Output {
  /// Whether a person reads it.
  let isTerminal: Bool
  let style: Style
  private var buffer: [UInt8] = []
  /// The names of the columns that follow, until the first line of them.
  private var header: (names: [String], widths: [Int])?
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

  /// Writes a line with the names of the columns before the first line that has some.
  func table(_ names: [String], widths: [Int], _ options: TableOptions) {
    header = options.noHeader ? nil : (names, widths)
  }

  /// What follows has other columns.
  func endTable() { header = nil }

  /// Writes columns: with tabs between them for a script, with spaces for a person.
  func columns(_ columns: [String], widths: [Int]) throws {
    if let (names, widths) = header {
      header = nil
      try self.columns(names.map(style.faint), widths: widths)
    }
    guard isTerminal else { return try line(columns.joined(separator: "\t")) }
    let padded = zip(columns, widths).map { text, width in
      let padding = String(repeating: " ", count: max(0, abs(width) - Style.width(of: text)))
      return width < 0 ? padding + text : text + padding
    }
    try line((padded + columns.dropFirst(widths.count)).joined(separator: "  "))
  }

  /// Writes one JSON value.
  func json(_ body: (JSONWriter) throws -> Void) throws {
    try body(JSONWriter(self))
    try line()
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
    say("restoration: \(style.bad(text.escaped))\n")
  }

  /// Writes what a person should see; that it is closed, or that nobody reads it, ends nothing.
  static func say(_ text: String, to descriptor: Int32 = STDERR_FILENO) {
    _ = Array(text.utf8).withUnsafeBytes {
      Foundation.write(descriptor, $0.baseAddress, $0.count)
    }
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
    Output.say("\rReading \(count) of \(total) records, \(percent) %\(end)")
  }

  /// Takes the line away.
  func end() {
    guard isOn, total > 1 << 14 else { return }
    Output.say("\r\u{1B}[K")
  }
}
