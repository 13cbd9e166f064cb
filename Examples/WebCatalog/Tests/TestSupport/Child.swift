package import Foundation
import Glibc

/// A process of a test, which ends with the last reference to it, and with the test's own process.
///
/// Foundation's `Process` sometimes misses the end of one that is killed while it ends by itself.
package final class Child {
  package let identifier: pid_t
  private let name: String
  private var ended: Int32?

  /// Starts a program, which is looked for as a shell does.
  ///
  /// What it prints and what it complains of goes to one file.
  package init(
    _ command: [String], environment: [String: String] = ProcessInfo.processInfo.environment,
    output: URL? = nil
  ) throws {
    // It is ended by the system if the test is killed.
    let command = ["setpriv", "--pdeathsig", "KILL"] + command
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(
      &actions, 1, output?.path ?? "/dev/null", O_WRONLY | O_CREAT | O_APPEND, 0o600)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    let arguments = command.map { strdup($0) }
    let variables = environment.map { strdup("\($0.key)=\($0.value)") }
    defer { (arguments + variables).forEach { free($0) } }
    var started: pid_t = 0
    let problem = posix_spawnp(
      &started, command[0], &actions, nil, arguments + [nil], variables + [nil])
    guard problem == 0 else { throw CannotStart(name: command[0], number: problem) }
    identifier = started
    name = command[3]
  }

  deinit {
    guard isRunning else { return }
    send(SIGKILL)
    var status: Int32 = 0
    waitpid(identifier, &status, 0)
  }

  package var isRunning: Bool {
    guard ended == nil else { return false }
    var status: Int32 = 0
    if waitpid(identifier, &status, WNOHANG) == identifier { ended = status }
    return ended == nil
  }

  package func send(_ signal: Int32) {
    if isRunning { kill(identifier, signal) }
  }

  /// How a process has ended.
  package enum Ending: Equatable {
    case exit(Int32)
    case signal(Int32)
  }

  /// Waits for the end.
  @discardableResult
  package func ending() throws -> Ending {
    try wait(for: "the end of \(name)") { !isRunning }
    let status = ended ?? 0
    return status & 0x7f == 0 ? .exit(status >> 8 & 0xff) : .signal(status & 0x7f)
  }

  private struct CannotStart: Error {
    let name: String
    let number: Int32
  }
}
