import Foundation

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The built program, run in a terminal.
final class TerminalProcess {
  private let process = Process()
  /// Here so that it stays as long as the process.
  private let sandbox: Sandbox

  /// Starts the program; without a terminal for its input or output these lead nowhere.
  init(
    in sandbox: Sandbox, input: Terminal?, output: Terminal?, errors: URL? = nil,
    term: String? = "xterm"
  ) throws {
    self.sandbox = sandbox
    process.executableURL = CatalogProcess.executable(named: "catalog")
    var environment = sandbox.environment
    environment["TERM"] = term
    process.environment = environment
    process.standardInput = input?.program ?? FileHandle.nullDevice
    process.standardOutput = output?.program ?? FileHandle.nullDevice
    if let errors {
      try Data().write(to: errors)
      process.standardError = try FileHandle(forWritingTo: errors)
    } else {
      process.standardError = output?.program ?? FileHandle.nullDevice
    }
    try process.run()
  }

  deinit {
    if process.isRunning {
      send(SIGKILL)
      process.waitUntilExit()
    }
  }

  /// Sends a signal to the process alone.
  func send(_ signal: Int32) {
    kill(process.processIdentifier, signal)
  }

  /// Whether the process is stopped and can be continued.
  var isStopped: Bool {
    var info = unsafe siginfo_t()
    let options = WSTOPPED | WNOHANG | WNOWAIT
    _ = unsafe waitid(P_PID, id_t(process.processIdentifier), &info, options)
    return unsafe info.si_code == CLD_STOPPED
  }

  var isRunning: Bool { process.isRunning }

  /// Waits for the end of the process.
  ///
  /// - Returns: Its exit status.
  func end() -> Int32 {
    process.waitUntilExit()
    return process.terminationStatus
  }
}
