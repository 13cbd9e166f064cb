import Foundation
import XCTest

/// A process of a test: killed when its last reference goes, and its output line by line.
final class Child {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private let errors = Pipe()
  private let said = Lines()
  private let complained = Lines()

  /// Starts the program that a command names by its path, with no other environment.
  init(_ command: [String], environment: [String: String]) throws {
    process.executableURL = URL(filePath: command[0])
    process.arguments = Array(command.dropFirst())
    process.environment = environment
    process.standardInput = input
    process.standardOutput = output
    process.standardError = errors
    said.collect(output)
    complained.collect(errors)
    try process.run()
  }

  deinit {
    if process.isRunning { send(SIGKILL) }
    process.waitUntilExit()
    output.fileHandleForReading.readabilityHandler = nil
    errors.fileHandleForReading.readabilityHandler = nil
  }

  var identifier: Int32 { process.processIdentifier }
  var isRunning: Bool { process.isRunning }
  var lines: [String] { said.all }
  var errorLines: [String] { complained.all }

  func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

  func write(_ line: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
  }

  /// How a process has ended.
  enum Ending: Equatable {
    case exit(Int32)
    case signal(Int32)
  }

  /// Waits for the end of the process.
  func ending(within seconds: Double = 10) throws -> Ending {
    try waitFor("the end of \(process.executableURL?.path ?? "")", seconds: seconds) {
      !self.process.isRunning
    }
    return process.terminationReason == .exit
      ? .exit(process.terminationStatus) : .signal(process.terminationStatus)
  }

  /// What a program has printed when it has ended; nil if it failed.
  static func output(of command: [String], environment: [String: String]) throws -> String? {
    let child = try Child(command, environment: environment)
    guard try child.ending() == .exit(0) else { return nil }
    return child.lines.joined(separator: "\n")
  }
}

/// What comes out of a pipe.
private final class Lines: @unchecked Sendable {
  // Everything that changes is behind the lock.
  private let lock = NSLock()
  private var bytes = Data()

  func collect(_ pipe: Pipe) {
    pipe.fileHandleForReading.readabilityHandler = { handle in
      let new = handle.availableData
      if new.isEmpty { handle.readabilityHandler = nil }
      self.lock.withLock { self.bytes += new }
    }
  }

  /// The whole lines so far.
  var all: [String] {
    let text = String(decoding: lock.withLock { bytes }, as: UTF8.self)
    return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      .map(String.init)
  }
}

/// Looks again and again until something is so, and throws when that takes too long.
func waitFor(
  _ what: @autoclosure () -> String, seconds: Double = 20, until isSo: () throws -> Bool
) throws {
  let deadline = Date(timeIntervalSinceNow: seconds)
  while try !isSo() {
    guard Date() < deadline else { throw TookTooLong(what: what(), seconds: seconds) }
    Thread.sleep(forTimeInterval: 0.005)
  }
}

struct TookTooLong: Error {
  let what: String
  let seconds: Double
}
