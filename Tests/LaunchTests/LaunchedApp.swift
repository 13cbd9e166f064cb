import Foundation
import Glibc
import TestSupport
import XCTest

/// A program of `Tests/LaunchedApps` or `Tests/LaunchedAppsNow` in a process of its own, whose home is a
/// folder of the test.
final class LaunchedApp {
  enum Ending: Hashable {
    case exited(Int32)
    case killed(by: Int32)
    /// It had not ended after the limit, and was killed then.
    case stillAlive
  }

  /// How long a test waits for a line or an end that should come at once, in seconds.
  static let patience = 60

  let process = Process()
  /// It goes with the last reference to it.
  private let home: TemporaryDirectory
  private let input = Pipe()
  private let output: LineReader
  private let errors: LineReader
  private let hasEnded = DispatchSemaphore(value: 0)

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - name: The name of the program, and its arguments.
  ///   - home: Its HOME. No other variable names a folder of the user.
  ///   - isNow: Whether its main is synchronous.
  ///   - variables: Added to its environment; nil removes one.
  ///   - command: Starts it, as `setpriv` with its arguments does; nothing by default.
  ///   - onTerminal: Whether its standard error is a terminal.
  /// - Throws: An error if it cannot be started.
  init(
    _ name: String..., home: TemporaryDirectory, isNow: Bool = false,
    variables: [String: String?] = [:], through command: [String] = [],
    onTerminal: Bool = false
  ) throws {
    self.home = home
    var line = command + [Self.products + (isNow ? "/LaunchedAppsNow" : "/LaunchedApps")] + name
    process.executableURL = URL(filePath: command.isEmpty ? line.removeFirst() : "/usr/bin/env")
    process.arguments = line
    var environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("XDG_") }
    environment["HOME"] = home.path
    for (name, value) in variables { environment[name] = value }
    process.environment = environment
    let (outputPipe, errorPipe) = (Pipe(), Pipe())
    (process.standardInput, process.standardOutput) = (input, outputPipe)
    let terminal = onTerminal ? try Self.openTerminal() : nil
    process.standardError = terminal?.slave ?? errorPipe
    output = LineReader(outputPipe.fileHandleForReading)
    errors = LineReader(terminal?.master ?? errorPipe.fileHandleForReading)
    process.terminationHandler = { [hasEnded] _ in hasEnded.signal() }
    Glibc.signal(SIGPIPE, SIG_IGN)
    try process.run()
    try terminal?.slave.close()
  }

  private static func openTerminal() throws -> (master: FileHandle, slave: FileHandle) {
    var (master, slave) = (Int32(-1), Int32(-1))
    guard openpty(&master, &slave, nil, nil, nil) == 0 else { throw POSIXError(.ENOTTY) }
    return (
      FileHandle(fileDescriptor: master, closeOnDealloc: true),
      FileHandle(fileDescriptor: slave, closeOnDealloc: false)
    )
  }

  deinit {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
  }

  /// The folder of the executables, which the tests are in as well.
  static var products: String {
    URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path
  }

  // MARK: Talking

  /// The next line of its standard output; nil at its end.
  func line() throws -> String? { try output.next() }

  /// The lines of its standard output until the end.
  func rest() throws -> [String] { try output.rest() }

  /// The next line of its standard error; nil at its end.
  func errorLine() throws -> String? { try errors.next() }

  /// The lines of its standard error until the end.
  func errorLines() throws -> [String] { try errors.rest() }

  func send(_ line: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
  }

  /// Sends a line, and gives the next line of its standard output.
  func ask(_ line: String) throws -> String? {
    try send(line)
    return try self.line()
  }

  // MARK: Ending

  func signal(_ number: Int32) { kill(process.processIdentifier, number) }

  func endInput() throws { try input.fileHandleForWriting.close() }

  /// Waits for its end.
  func ending(within limit: Int = LaunchedApp.patience) -> Ending {
    guard hasEnded.wait(timeout: .now() + .seconds(limit)) == .success else {
      kill(process.processIdentifier, SIGKILL)
      return .stillAlive
    }
    hasEnded.signal()
    let status = process.terminationStatus
    return process.terminationReason == .exit ? .exited(status) : .killed(by: status)
  }

  /// Sends a signal, and waits for the end.
  @discardableResult
  func end(by number: Int32) -> Ending {
    signal(number)
    return ending()
  }
}

/// The lines that come out of a pipe.
private final class LineReader {
  struct NoLine: Error {}

  private let file: FileHandle
  private var bytes: [UInt8] = []

  init(_ file: FileHandle) { self.file = file }

  func next() throws -> String? {
    while true {
      if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
        defer { bytes.removeFirst(end + 1) }
        return String(decoding: bytes[..<end], as: UTF8.self)
      }
      guard try readMore() else {
        defer { bytes = [] }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
      }
    }
  }

  func rest() throws -> [String] {
    var lines: [String] = []
    while let line = try next() { lines.append(line) }
    return lines
  }

  private func readMore() throws -> Bool {
    let descriptor = file.fileDescriptor
    var waits = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&waits, 1, Int32(LaunchedApp.patience * 1_000)) > 0 else { throw NoLine() }
    var block = [UInt8](repeating: 0, count: 4_096)
    let count = read(descriptor, &block, block.count)
    guard count > 0 else { return false }
    bytes += block[..<count]
    return true
  }
}
