#if os(Linux)
import Foundation
import XCTest

/// A test of this bundle that runs in a process of its own and is talked to line
/// by line.
package final class TestProcess {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var isEnded = false

  /// Starts the process.
  ///
  /// - Parameters:
  ///   - test: The test, as `Module.Class/method`.
  ///   - variables: Added to the environment.
  /// - Throws: What starting it throws.
  package init(_ test: String, _ variables: [String: String]) throws {
    process.executableURL = URL(
      filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
    process.arguments = [test]
    process.environment = ProcessInfo.processInfo.environment.merging(
      variables, uniquingKeysWith: { $1 })
    process.standardInput = input
    process.standardError = output
    process.standardOutput = FileHandle.nullDevice
    try process.run()
  }

  deinit { kill() }

  /// How a lock names it.
  package var name: String {
    "process \(process.processIdentifier), \(ProcessInfo.processInfo.processName)"
  }

  /// Sends a line.
  package func send(_ line: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
  }

  /// The next line that it answers; nil if it has ended and said no more.
  package func answer() throws -> String? {
    var text: [UInt8] = []
    while let byte = try output.fileHandleForReading.read(upToCount: 1)?.first {
      if byte == UInt8(ascii: "\n") { return String(decoding: text, as: UTF8.self) }
      text.append(byte)
    }
    return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
  }

  /// Sends a line and gives the next answer.
  package func ask(_ line: String) throws -> String? {
    try send(line)
    return try answer()
  }

  /// Kills it and waits for its end.
  package func kill() {
    guard !isEnded else { return }
    isEnded = true
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    XCTAssertEqual(process.terminationReason, .uncaughtSignal)
  }

  /// Sends it a signal.
  package func send(signal: Int32) {
    Foundation.kill(process.processIdentifier, signal)
  }

  /// Waits for its end.
  ///
  /// - Returns: The signal that has ended it; nil if it ended by itself.
  package func endingSignal() -> Int32? {
    isEnded = true
    process.waitUntilExit()
    return process.terminationReason == .uncaughtSignal ? process.terminationStatus : nil
  }

  /// Lets it read the end of its input, and waits until it has ended well.
  ///
  /// - Throws: If its input cannot be closed.
  package func end() throws {
    isEnded = true
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    XCTAssertEqual(process.terminationStatus, 0)
  }

  /// In the process: answers with a line.
  package static func say(_ line: String) {
    FileHandle.standardError.write(Data("\(line)\n".utf8))
  }
}
#endif
