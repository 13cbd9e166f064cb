import Foundation
import XCTest

/// The built program, run with keys from a script.
final class CatalogProcess {
  private let process = Process()
  private let output: URL
  private let errors: URL
  private let log: URL
  /// Its directory stays as long as the program runs, which would make it again.
  private let sandbox: Sandbox

  /// Starts the program; with `stays` it goes on when the script has ended.
  init(
    _ script: String = "", stays: Bool = false, in sandbox: Sandbox, term: String? = nil
  ) throws {
    self.sandbox = sandbox
    let scriptFile = sandbox.newFile()
    try Data(script.utf8).write(to: scriptFile)
    (output, errors, log) = (sandbox.newFile(), sandbox.newFile(), sandbox.newFile())
    process.executableURL = Self.executable(named: "catalog")
    process.arguments =
      ["--script", scriptFile.path, "--screen-log", log.path, "--report"]
      + (stays ? ["--stay"] : [])
    process.environment = sandbox.environment.merging(term.map { ["TERM": $0] } ?? [:]) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try Self.emptyFile(output)
    process.standardError = try Self.emptyFile(errors)
    try process.run()
  }

  deinit {
    if process.isRunning { kill() }
  }

  /// Beside the test bundle, where a build puts all its products.
  static func executable(named name: String) -> URL {
    #if os(macOS)
    let bundle = Bundle(for: CatalogProcess.self).bundleURL
    return bundle.deletingLastPathComponent().appending(path: name)
    #else
    return Bundle.main.bundleURL.appending(path: name)
    #endif
  }

  private static func emptyFile(_ location: URL) throws -> FileHandle {
    try Data().write(to: location)
    return try FileHandle(forWritingTo: location)
  }

  /// Ends the process as nothing it could prepare for does.
  func kill() {
    #if canImport(Darwin)
    Darwin.kill(process.processIdentifier, SIGKILL)
    #else
    Glibc.kill(process.processIdentifier, SIGKILL)
    #endif
    process.waitUntilExit()
  }

  /// Asks the process to end, as a closing session does.
  ///
  /// - Returns: Its exit status.
  func terminate() -> Int32 {
    process.terminate()
    return end()
  }

  var wasKilled: Bool {
    process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGKILL
  }

  /// Waits for the end of the process.
  ///
  /// - Returns: Its exit status.
  func end() -> Int32 {
    process.waitUntilExit()
    return process.terminationStatus
  }

  /// The screens shown so far.
  var screens: [LoggedScreen] {
    get throws { try LoggedScreen.all(in: log) }
  }

  var errorOutput: String {
    get throws { String(decoding: try Data(contentsOf: errors), as: UTF8.self) }
  }
}
